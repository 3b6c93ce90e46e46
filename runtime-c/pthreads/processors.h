/* The number of threads of a process: the number in NOVA_NUM_THREADS, else the number of processors
 * that it may use, by its affinity mask and by the quotas of its control groups. */
#ifndef NOVA_PROCESSORS_H
#define NOVA_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest number of threads that work together, including the caller. */
#define NOVA_MOST_THREADS 256

#if defined(__linux__)
#include <sys/syscall.h>
#endif
/* A set of processors, a bit for each. */
typedef struct nova_processors {
    unsigned long bits[128];
} nova_processors;

/* The processors that the process was given: those of its first thread, since the calling thread may
 * have been bound to one of them. Returns their number, or 0 if it is unknown. */
static int nova_find_processors(nova_processors *processors)
{
    int count = 0;
#if defined(__linux__)
    memset(processors, 0, sizeof *processors);
    if (syscall(SYS_sched_getaffinity, (long)getpid(), sizeof *processors, processors) <= 0)
        return 0;
    for (size_t i = 0; i < sizeof processors->bits / sizeof processors->bits[0]; i++)
        for (unsigned long left = processors->bits[i]; left != 0; left &= left - 1)
            count++;
#else
    (void)processors;
#endif
    return count;
}

/* Lets the calling thread run on all processors of the process, even if its creator was bound to one. */
static void nova_unbind(void)
{
#if defined(__linux__)
    nova_processors processors;
    if (nova_find_processors(&processors) > 0)
        syscall(SYS_sched_setaffinity, 0L, sizeof processors, &processors);
#endif
}

/* The first line of a file in folder/group; false if there is none. */
static bool nova_read_line(const char *folder, const char *group, const char *file, char *line,
                           int size)
{
    char path[4200];
    int length = snprintf(path, sizeof path, "%s%s/%s", folder, group, file);
    FILE *stream = length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
    bool found = stream != NULL && fgets(line, size, stream) != NULL;
    if (stream != NULL)
        fclose(stream);
    return found;
}

/* The processor time that one control group allows, as a number of processors, rounded up; 0 if it sets
 * no limit. Version 2 has both numbers in one file, version 1 a file for each. */
static int nova_group_quota(const char *folder, const char *group, bool version_2)
{
    char line[64], second[64];
    char *rest = line;
    long long quota, period;
    if (version_2) {
        if (!nova_read_line(folder, group, "cpu.max", line, sizeof line))
            return 0;
        quota = strtoll(line, &rest, 10); /* 0 for "max" */
        period = strtoll(rest, NULL, 10);
    } else {
        if (!nova_read_line(folder, group, "cpu.cfs_quota_us", line, sizeof line) ||
            !nova_read_line(folder, group, "cpu.cfs_period_us", second, sizeof second))
            return 0;
        quota = strtoll(line, NULL, 10); /* -1 for no limit */
        period = strtoll(second, NULL, 10);
    }
    if (quota <= 0 || period <= 0 || quota / period >= NOVA_MOST_THREADS)
        return 0;
    return (int)((quota + period - 1) / period);
}

/* True if a list of names, separated by commas, contains this one. */
static bool nova_lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The least limit that a line of /proc/self/cgroup, ID:CONTROLLERS:GROUP, leads to; 0 if none.
 * Enclosing groups limit too. Inside a container the group may have another name than the file says:
 * then it is the mounted one. */
static int nova_line_quota(char *line, const char *mounted)
{
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return 0;
    *controllers++ = '\0';
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    bool version_2 = *controllers == '\0';
    char folder[512];
    if (!version_2 && !nova_lists(controllers, "cpu"))
        return 0;
    snprintf(folder, sizeof folder, "%s%s%s", mounted, version_2 ? "" : "/", controllers);
    int least = 0;
    for (;;) {
        char *slash = strrchr(group, '/');
        if (slash != NULL && slash[1] == '\0')
            *slash = '\0'; /* the root of all groups, or a slash at the end */
        int quota = nova_group_quota(folder, group, version_2);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
        slash = strrchr(group, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

/* The least limit of the control groups that a file lists, below the folder where they are mounted; 0
 * if there is none. */
static int nova_quota(const char *list, const char *mounted)
{
    int least = 0;
    char line[4200];
    FILE *stream = fopen(list, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        int quota = nova_line_quota(line, mounted);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
    }
    if (stream != NULL)
        fclose(stream);
    return least;
}

/* The number of processors that this process may keep busy; at least 1. */
static int nova_count_processors(void)
{
    nova_processors processors;
    int count = nova_find_processors(&processors);
    if (count == 0)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
#if defined(__linux__)
    int quota = nova_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    if (quota > 0 && quota < count)
        count = quota;
#endif
    return count < 1 ? 1 : count;
}

/* The number of threads that a text asks for: a whole number from 1 on, with blanks before or after it.
 * Larger numbers become the largest possible. Any other text asks for nothing, which is 0. */
static int nova_asked_threads(const char *text)
{
    if (text == NULL)
        return 0;
    char *end;
    long asked = strtol(text, &end, 10); /* LONG_MAX if it is larger */
    end += strspn(end, " \t\r\n");
    if (*end != '\0' || asked < 1)
        return 0;
    return asked < NOVA_MOST_THREADS ? (int)asked : NOVA_MOST_THREADS;
}

#endif
