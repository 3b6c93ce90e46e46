/* Tests of the life of a pool: threads that cannot be created, forks, and processes that end, wherever
 * the threads are at that moment. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <pthread.h>

/* The same as pthread_create, except for threads that a test wants to fail. */
static int try_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument);
#define pthread_create try_create
#include "pool_test.h"
#undef pthread_create
#include <sys/wait.h>

static int threads_left = 1000;
static size_t largest_stack = (size_t)-1;

static int try_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument)
{
    size_t stack = 0;
    pthread_attr_getstacksize(attributes, &stack);
    if (threads_left == 0 || stack > largest_stack)
        return 11;
    threads_left--;
    return pthread_create(thread, attributes, start, argument);
}

#define CHUNKS 50

static void mark(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    ((int *)environment)[chunk]++;
}

static void regions_work(void)
{
    int marks[CHUNKS] = {0};
    for (int iteration = 0; iteration < 20; iteration++)
        run_well(CHUNKS, mark, marks);
    for (int i = 0; i < CHUNKS; i++)
        CHECK(marks[i] == 20);
}

static void threads_cannot_be_made(void)
{
    for (int most = 0; most < 5; most++) {
        use_threads(4);
        NOVA_STORE(&NOVA_POOL.stack, 0, NOVA_RELAXED);
        threads_left = most;
        CHECK(nova_count_threads() == (most < 3 ? most : 3) + 1);
        regions_work();
    }
    threads_left = 1000;
    NOVA_STORE(&NOVA_POOL.stack, 0, NOVA_RELAXED);
    largest_stack = NOVA_POOL_STACK_LARGEST / 8;
    use_threads(4);
    CHECK(nova_count_threads() == 4);
    CHECK(NOVA_LOAD(&NOVA_POOL.stack, NOVA_RELAXED) == largest_stack);
    largest_stack /= 2; /* the size stays, since regions may know it */
    use_threads(4);
    CHECK(nova_count_threads() == 1);
    regions_work();
    largest_stack = (size_t)-1;
    NOVA_STORE(&NOVA_POOL.stack, 0, NOVA_RELAXED);
}

/* A sanitizer of leaks searches for threads of the parent in a child of a fork. It may wait for ever
 * for a lock that one of them held, so it does not examine children. */
static int is_child = 0;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_child;
}

/* The work of a child; ends it with 0 if all is well. */
typedef void (*fate)(void);

/* Checks that a child of a fork ends with the status, within a minute. */
static void expect_end(fate child, int status)
{
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        is_child = 1;
        alarm(60);
        child();
        exit(0);
    }
    int end;
    CHECK(waitpid(pid, &end, 0) == pid);
    if (!WIFEXITED(end) || WEXITSTATUS(end) != status)
        fprintf(stderr, "a child ended with %x\n", (unsigned)end);
    CHECK(WIFEXITED(end) && WEXITSTATUS(end) == status);
}

static void call_again(void)
{
    regions_work();
    CHECK(nova_count_threads() == 4);
}

static void fork_again(void)
{
    regions_work();
    expect_end(call_again, 0);
    regions_work();
}

static nova_shared hosts_run;

static void *host(void *argument)
{
    (void)argument;
    while (NOVA_LOAD(&hosts_run, NOVA_RELAXED) != 0)
        regions_work();
    return NULL;
}

/* Children of a process with a pool, idle and at work. */
static void forks_are_safe(void)
{
    use_threads(4);
    regions_work();
    if (WATCHED_ADDRESSES)
        return; /* its allocator does not expect forks while others allocate, or end a region */
    expect_end(call_again, 0);
    expect_end(fork_again, 0);
    pthread_t hosts[3];
    NOVA_STORE(&hosts_run, 1, NOVA_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&hosts[i], NULL, host, NULL) == 0);
    for (int i = 0; i < 20; i++)
        expect_end(i % 2 == 0 ? call_again : fork_again, 0);
    NOVA_STORE(&hosts_run, 0, NOVA_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(hosts[i], NULL) == 0);
    regions_work();
}

static void fork_inside(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    int *child = (int *)environment;
    if (chunk == 0)
        *child = (int)fork();
}

/* A child that goes on inside a region has lost the threads that did the rest of it. */
static void forked_regions_fail(void)
{
    for (int i = 0; i < 10; i++) {
        char message[NOVA_MESSAGE_SIZE] = "";
        int child = -1;
        int code = run(CHUNKS, fork_inside, &child, message);
        if (child == 0)
            _exit(code == NOVA_ERROR_DEVICE ? 0 : 7); /* if the caller did chunk 0 */
        int end;
        CHECK(code == 0 && child > 0);
        struct timespec pause = {0, 5000000};
        pid_t ended = 0;
        for (int k = 0; k < 60 && (ended = waitpid(child, &end, WNOHANG)) == 0; k++)
            nanosleep(&pause, NULL);
        if (ended == 0) { /* a thread of the pool did: in the child it has no caller */
            kill(child, SIGKILL);
            CHECK(waitpid(child, &end, 0) == child);
        } else {
            CHECK(WIFEXITED(end) && WEXITSTATUS(end) == 0);
        }
    }
}

static void end_idle(void)
{
    regions_work();
}

static void end_in_chunk(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    (void)environment;
    if (chunk == CHUNKS / 2)
        exit(3);
}

/* A chunk, in any thread, ends the process. */
static void end_inside(void)
{
    run_well(CHUNKS, end_in_chunk, NULL);
}

static void end_during(void)
{
    pthread_t hosts[3];
    NOVA_STORE(&hosts_run, 1, NOVA_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&hosts[i], NULL, host, NULL) == 0);
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
    exit(4);
}

static void processes_end(void)
{
    for (int i = 0; i < 20; i++) {
        expect_end(end_idle, 0);
        expect_end(end_inside, 3);
        expect_end(end_during, 4);
    }
}

/* Stopped and used at once: callers go on alone, and the pool is started again. */
static void stops_are_safe(void)
{
    pthread_t hosts[3];
    NOVA_STORE(&hosts_run, 1, NOVA_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&hosts[i], NULL, host, NULL) == 0);
    for (int i = 0; i < 300; i++) {
        nova_stop();
        sched_yield();
    }
    NOVA_STORE(&hosts_run, 0, NOVA_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(hosts[i], NULL) == 0);
}

static pthread_t main_thread;
static nova_shared signals_seen, signals_elsewhere;

static void on_signal(int number)
{
    (void)number;
    NOVA_ADD(&signals_seen, 1, NOVA_RELAXED);
    if (!pthread_equal(pthread_self(), main_thread))
        NOVA_ADD(&signals_elsewhere, 1, NOVA_RELAXED);
}

/* Signals go to threads of the host. */
static void signals_stay_out(void)
{
    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 100; i++)
        kill(getpid(), SIGUSR1);
    regions_work();
    CHECK(NOVA_LOAD(&signals_seen, NOVA_RELAXED) == 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    CHECK(NOVA_LOAD(&signals_seen, NOVA_RELAXED) > 0);
    CHECK(NOVA_LOAD(&signals_elsewhere, NOVA_RELAXED) == 0);
}

int main(void)
{
    alarm(300);
    threads_cannot_be_made();
    use_threads(4);
    stops_are_safe();
    use_threads(4);
    signals_stay_out();
    if (!WATCHED_THREADS) { /* which does not expect threads in the child of a fork */
        forks_are_safe();
        forked_regions_fail();
        processes_end();
    }
    return 0; /* with a pool that lives */
}
