/* Loads and unloads libraries with live pools; the arguments are two libraries. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "test.h"
#include <dirent.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct library {
    void *handle;
    int (*work)(void);
    int (*threads)(void);
    const void *(*pool)(void);
} library;

static library load(const char *path, int mode)
{
    library l;
    l.handle = dlopen(path, RTLD_NOW | mode);
    if (l.handle == NULL)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(l.handle != NULL);
    *(void **)&l.work = dlsym(l.handle, "library_work");
    *(void **)&l.threads = dlsym(l.handle, "library_threads");
    *(void **)&l.pool = dlsym(l.handle, "library_pool");
    CHECK(l.work != NULL && l.threads != NULL && l.pool != NULL);
    return l;
}

/* The number of threads of this process; 0 if it is unknown. */
static int count_tasks(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    if (folder == NULL)
        return 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* A thread that has been joined may be listed a moment longer. */
static void expect_tasks(int most)
{
    for (int i = 0; i < 1000 && count_tasks() > most; i++)
        usleep(1000);
    CHECK(count_tasks() <= most);
}

static void fork_works(library l)
{
    pid_t pid = fork();
    int end;
    if (pid == 0)
        _exit(l.work == NULL ? 0 : l.work());
    CHECK(waitpid(pid, &end, 0) == pid && WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

/* Two libraries, the second unloaded last. */
static void unload(char **paths, int mode, int tasks)
{
    library none = {NULL, NULL, NULL, NULL};
    library first = load(paths[0], mode), second = load(paths[1], mode);
    /* If the linker sees both, they have one pool. */
    CHECK((first.pool() == second.pool()) == (mode == RTLD_GLOBAL));
    CHECK(first.work() == 0 && second.work() == 0 && second.threads() == 4);
    CHECK(count_tasks() <= tasks + (mode == RTLD_GLOBAL ? 3 : 6));
    CHECK(dlclose(first.handle) == 0);
    expect_tasks(tasks + 3);
    CHECK(second.work() == 0 && second.threads() == 4);
    fork_works(second);
    CHECK(dlclose(second.handle) == 0);
    expect_tasks(tasks);
    fork_works(none);
}

int main(int count, char **arguments)
{
    CHECK(count == 3);
    setenv("NOVA_NUM_THREADS", "4", 1);
    int tasks = count_tasks(); /* sanitizers have some of their own */
    for (int i = 0; i < 20; i++) {
        unload(arguments + 1, RTLD_LOCAL, tasks);
        unload(arguments + 1, RTLD_GLOBAL, tasks);
    }
    library last = load(arguments[1], RTLD_LOCAL);
    CHECK(last.work() == 0);
    return 0; /* with a pool that lives */
}
