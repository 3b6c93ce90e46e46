/* The pool: threads that assist the callers of published tasks. A caller publishes a task in a slot and
 * works on it at once; idle threads join it. So no thread waits for work that has not begun. All
 * programs of a process share one pool. docs/pthreads.md argues why this is right. */
#ifndef NOVA_POOL_H
#define NOVA_POOL_H

#include "../common/platform.h"
#include "processors.h"
#include "waiting.h"
#include <limits.h>
#include <sched.h>
#include <signal.h>

/* The number of tasks that may be published at once; a caller that finds no slot works alone. */
#define NOVA_SLOTS 32

/* The size of the stack of a thread of the pool. If there is no room for the largest size, half of it
 * is tried, and so on down to the smallest. Only the used part occupies memory. */
#define NOVA_POOL_STACK_LARGEST ((size_t)1 << (sizeof(void *) > 4 ? 28 : 22))
#define NOVA_POOL_STACK_SMALLEST ((size_t)1 << 18)

/* The distance in bytes between data that different threads write. */
#define NOVA_APART 64

/* A function that works on the task of a slot, in the thread of this number. Returns true when nothing
 * of the task is left to begin, and false if it stops since *leave is not 0. */
typedef bool (*nova_assist)(void *task, void *slot, uint32_t thread, nova_shared *leave);

/* The state of a slot: whether threads may join the task, whether its caller sleeps until all have
 * left, and the number of threads that have joined. It is 0 if there is no task, or if no thread may
 * join and all have left. */
#define NOVA_OPEN ((uint32_t)1 << 31)
#define NOVA_AWAITED ((uint32_t)1 << 30)
#define NOVA_JOINED (NOVA_AWAITED - 1)

/* A slot for one published task. The task and its function are read only by threads that have joined,
 * until they leave: the task lies on its caller's stack. */
typedef struct nova_slot {
    nova_shared state; /* on a cache line of its own, which threads without work read */
    char state_apart[NOVA_APART - sizeof(nova_shared)];
    nova_shared taken; /* 1 while a caller has the slot */
    nova_assist assist;
    void *task;
    NOVA_ATOMIC(uintptr_t) outer; /* the slot of the enclosing task; 0 if none */
    nova_bed bed;                 /* of the caller, asleep on the state */
    char slot_apart[NOVA_APART];
} nova_slot;

/* The phases of a pool. */
#define NOVA_POOL_NONE ((uint32_t)0)     /* there are no threads; the first caller creates them */
#define NOVA_POOL_STARTING ((uint32_t)1) /* a caller creates them */
#define NOVA_POOL_RUNNING ((uint32_t)2)
#define NOVA_POOL_ALONE ((uint32_t)3)    /* no threads are wanted, or none could be created */
#define NOVA_POOL_STOPPING ((uint32_t)4) /* the threads leave */

/* The state of a pool. With all bytes 0 it has no threads. */
typedef struct nova_pool {
    nova_shared phase;
    nova_shared generation;         /* counts forks: a child has a pool of its own */
    nova_shared high;               /* slots from this one on have never been taken */
    nova_shared stopping;           /* 1 when threads must leave the task they assist */
    nova_shared threads;            /* the number that work together, including the caller */
    nova_shared waits_awake;        /* 1 if there are no more threads than processors */
    nova_shared arrivals;           /* threads that have begun, ever */
    NOVA_ATOMIC(size_t) stack;      /* of each thread; fixed once it is known; 0 before */
    NOVA_ATOMIC(uintptr_t) owner;   /* the program that created the threads, whose code they run */
    bool knows_forks;               /* the handler of forks is registered */
    bool has_beds;                  /* all beds have been made */
    char settings_apart[NOVA_APART];
    nova_shared epoch;    /* threads without work sleep on it; changes when some are woken */
    nova_shared sleepers; /* the number that sleep, or are about to */
    nova_shared busy;     /* the number that assist a caller, less the callers that wait idly */
    nova_bed bed;
    char sleepers_apart[NOVA_APART];
    nova_slot slots[NOVA_SLOTS];
    pthread_t members[NOVA_MOST_THREADS];
} nova_pool;

/* The pool of the process. Its name has the version of the structures of this file and of the protocol
 * on them. Programs that agree in both share it if the linker can see them together. */
#if NOVA_FUTEX
#define NOVA_POOL nova_pool_4
#else
#define NOVA_POOL nova_pool_4_portable
#endif
#if defined(__cplusplus) && defined(__GNUC__)
extern "C" {
__attribute__((weak, aligned(NOVA_APART))) nova_pool NOVA_POOL;
}
#elif defined(__GNUC__)
__attribute__((weak, aligned(NOVA_APART))) nova_pool NOVA_POOL;
#else
static nova_pool NOVA_POOL;
#endif

/* Wakes this many of the sleeping threads. Their work has been made visible before by a sequentially
 * consistent operation. They look for work once more after they have counted themselves as sleepers. So
 * either they see the work, or they are counted here. */
static void nova_rouse(nova_pool *pool, int count)
{
    if (NOVA_LOAD(&pool->sleepers, NOVA_ORDERED) > 0) {
        NOVA_ADD(&pool->epoch, 1, NOVA_ORDERED);
        nova_wake(&pool->bed, &pool->epoch, count);
    }
}

/* Joins the task of a slot; false if there is none to join. */
static bool nova_join(nova_slot *slot)
{
    uint32_t state = NOVA_LOAD(&slot->state, NOVA_ORDERED);
    while ((state & NOVA_OPEN) != 0)
        if (NOVA_SWAP_IF(&slot->state, &state, state + 1))
            return true;
    return false;
}

/* Leaves the task of a slot, and closes the slot if nothing is left to do. The last thread wakes the
 * caller. */
static void nova_leave(nova_slot *slot, bool finished)
{
    uint32_t state = NOVA_LOAD(&slot->state, NOVA_RELAXED), left;
    do
        left = (finished ? state & ~NOVA_OPEN : state) - 1;
    while (!NOVA_SWAP_IF(&slot->state, &state, left));
    /* The caller may have returned, and another may use the slot: then a thread wakes up for nothing. */
    if ((left & NOVA_AWAITED) != 0 && (left & NOVA_JOINED) == 0)
        nova_wake(&slot->bed, &slot->state, INT_MAX);
}

/* Assists every open task once, beginning with a slot of the thread's own, so that several tasks find
 * help at once. Returns true if there was one. */
static bool nova_help(nova_pool *pool, uint32_t thread)
{
    bool helped = false;
    uint32_t high = NOVA_LOAD(&pool->high, NOVA_ORDERED);
    for (uint32_t i = 0; i < high; i++) {
        nova_slot *slot = &pool->slots[(thread + i) % high];
        if (nova_join(slot)) {
            NOVA_ADD(&pool->busy, 1, NOVA_RELAXED);
            bool finished = slot->assist(slot->task, slot, thread, &pool->stopping);
            NOVA_ADD(&pool->busy, (uint32_t)-1, NOVA_RELAXED);
            nova_leave(slot, finished);
            helped = true;
        }
    }
    return helped;
}

/* The slot of the enclosing task of a slot; null if there is none. */
static inline nova_slot *nova_outer(nova_slot *slot)
{
    return (nova_slot *)NOVA_LOAD(&slot->outer, NOVA_RELAXED);
}

/* True if the task of a slot lies inside that of another, at any depth. The answer is certain for a
 * task that the thread has joined, since all enclosing tasks then go on. */
static bool nova_is_inside(nova_slot *slot, const nova_slot *other)
{
    for (int depth = 0; depth < NOVA_SLOTS && slot != NULL; depth++) {
        slot = nova_outer(slot);
        if (slot == other)
            return true;
    }
    return false;
}

/* Assists the open tasks inside that of a slot, whose caller waits for them anyway. Returns true if
 * there was one. */
static bool nova_help_inside(nova_pool *pool, nova_slot *own, uint32_t thread)
{
    bool helped = false;
    uint32_t high = NOVA_LOAD(&pool->high, NOVA_ORDERED);
    for (uint32_t i = 0; i < high && NOVA_LOAD(&pool->stopping, NOVA_RELAXED) == 0; i++) {
        nova_slot *slot = &pool->slots[i];
        if ((NOVA_LOAD(&slot->state, NOVA_ORDERED) & NOVA_OPEN) == 0 ||
            !nova_is_inside(slot, own) || !nova_join(slot))
            continue;
        bool finished = false;
        if (nova_is_inside(slot, own)) {
            NOVA_ADD(&pool->busy, 1, NOVA_RELAXED);
            finished = slot->assist(slot->task, slot, thread, &pool->stopping);
            NOVA_ADD(&pool->busy, (uint32_t)-1, NOVA_RELAXED);
            helped = true;
        }
        nova_leave(slot, finished);
    }
    return helped;
}

/* Wakes the sleeping callers of a task and of its enclosing tasks, since there is a task inside. */
static void nova_recall(nova_slot *slot)
{
    for (; slot != NULL; slot = nova_outer(slot))
        if ((NOVA_LOAD(&slot->state, NOVA_ORDERED) & NOVA_AWAITED) != 0) {
            NOVA_AND(&slot->state, ~NOVA_AWAITED, NOVA_ORDERED);
            nova_wake(&slot->bed, &slot->state, INT_MAX);
        }
}

/* True if a thread that is about to sleep must not: there is a task, or the thread is to end. */
static bool nova_is_needed(nova_pool *pool)
{
    uint32_t high = NOVA_LOAD(&pool->high, NOVA_ORDERED);
    for (uint32_t i = 0; i < high; i++)
        if ((NOVA_LOAD(&pool->slots[i].state, NOVA_ORDERED) & NOVA_OPEN) != 0)
            return true;
    return NOVA_LOAD(&pool->stopping, NOVA_ORDERED) != 0;
}

/* Sleeps until there may be a task. The epoch is read first, and compared again when the sleep begins. */
static void nova_rest(nova_pool *pool)
{
    uint32_t epoch = NOVA_LOAD(&pool->epoch, NOVA_ORDERED);
    NOVA_ADD(&pool->sleepers, 1, NOVA_ORDERED);
    if (!nova_is_needed(pool))
        nova_sleep(&pool->bed, &pool->epoch, epoch);
    NOVA_ADD(&pool->sleepers, (uint32_t)-1, NOVA_ORDERED);
}

/* The main function of a thread of the pool. */
static void *nova_serve(void *argument)
{
    nova_pool *pool = (nova_pool *)argument;
    uint32_t thread = NOVA_ADD(&pool->arrivals, 1, NOVA_RELAXED) + 1;
    bool awake = NOVA_LOAD(&pool->waits_awake, NOVA_RELAXED) != 0;
    nova_unbind();
    while (NOVA_LOAD(&pool->stopping, NOVA_ORDERED) == 0) {
        nova_vigil vigil = {0, 0};
        bool helped;
        do
            helped = nova_help(pool, thread);
        while (!helped && awake && nova_stay_awake(&vigil, NOVA_AWAKE_NS));
        if (!helped)
            nova_rest(pool);
    }
    return NULL;
}

/* Creates threads, and returns their number. Their stacks have one size, which is found for the first
 * of them. Signals go to the threads of the host, except those that an instruction raises. */
static int nova_make_members(nova_pool *pool, int wanted)
{
    static const int raised[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    size_t known = NOVA_LOAD(&pool->stack, NOVA_RELAXED);
    size_t stack = known > 0 ? known : NOVA_POOL_STACK_LARGEST;
    sigset_t blocked, before;
    pthread_attr_t attributes;
    int made = 0;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof raised / sizeof raised[0]; i++)
        sigdelset(&blocked, raised[i]);
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (made < wanted && stack >= NOVA_POOL_STACK_SMALLEST) {
        if (pthread_attr_setstacksize(&attributes, stack) == 0 &&
            pthread_create(&pool->members[made], &attributes, nova_serve, pool) == 0)
            made++;
        else if (made == 0 && known == 0)
            stack /= 2;
        else
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (made > 0)
        NOVA_STORE(&pool->stack, stack, NOVA_RELAXED);
    return made;
}

/* Resets the pool in the child of a fork, which has only the thread that forked. */
static void nova_after_fork(void)
{
    nova_pool *pool = &NOVA_POOL;
    for (int i = 0; i < NOVA_SLOTS; i++) {
        NOVA_STORE(&pool->slots[i].state, 0, NOVA_RELAXED);
        NOVA_STORE(&pool->slots[i].taken, 0, NOVA_RELAXED);
    }
    NOVA_STORE(&pool->high, 0, NOVA_RELAXED);
    NOVA_STORE(&pool->sleepers, 0, NOVA_RELAXED);
    NOVA_STORE(&pool->busy, 0, NOVA_RELAXED);
    NOVA_STORE(&pool->stopping, 0, NOVA_RELAXED);
    NOVA_ADD(&pool->generation, 1, NOVA_RELAXED);
    pool->has_beds = false;
    pool->knows_forks = false; /* the program of the next pool may outlive the code of this one */
    NOVA_STORE(&pool->phase, NOVA_POOL_NONE, NOVA_ORDERED);
}

/* The address of this variable identifies this program. */
static char nova_owner;
/* Stops the threads and waits for them, if this program created them: its code may be unloaded next, or
 * the process ends. Tasks go on without them. If one of the threads itself ends the process, nothing
 * can wait for it, and no code is unloaded. */
#if defined(__GNUC__)
__attribute__((destructor))
#endif
static void nova_stop(void)
{
    nova_pool *pool = &NOVA_POOL;
    uint32_t running = NOVA_POOL_RUNNING;
    if (NOVA_LOAD(&pool->phase, NOVA_ACQUIRE) != NOVA_POOL_RUNNING ||
        NOVA_LOAD(&pool->owner, NOVA_RELAXED) != (uintptr_t)&nova_owner ||
        !NOVA_SWAP_IF(&pool->phase, &running, NOVA_POOL_STOPPING))
        return;
    NOVA_STORE(&pool->stopping, 1, NOVA_ORDERED);
    NOVA_ADD(&pool->epoch, 1, NOVA_ORDERED);
    nova_wake(&pool->bed, &pool->epoch, INT_MAX);
    int members = (int)NOVA_LOAD(&pool->threads, NOVA_RELAXED) - 1;
    for (int i = 0; i < members; i++)
        if (pthread_equal(pool->members[i], pthread_self()))
            return;
    for (int i = 0; i < members; i++)
        pthread_join(pool->members[i], NULL);
    pool->knows_forks = false; /* unloading the program takes its handler away */
    NOVA_STORE(&pool->stopping, 0, NOVA_RELAXED);
    NOVA_STORE(&pool->phase, NOVA_POOL_NONE, NOVA_ORDERED);
}

/* Prepares the beds, once in a process; false if one cannot be made. */
static bool nova_make_beds(nova_pool *pool)
{
    bool made = pool->has_beds || nova_make_bed(&pool->bed) == 0;
    for (int i = 0; made && !pool->has_beds && i < NOVA_SLOTS; i++)
        made = nova_make_bed(&pool->slots[i].bed) == 0;
    pool->has_beds = made;
    return made;
}

/* Creates the threads. Returns true if there are any. */
static bool nova_make_pool(nova_pool *pool)
{
    int processors = nova_count_processors();
    int asked = nova_asked_threads(getenv("NOVA_NUM_THREADS"));
    int threads = asked > 0 ? asked : processors;
    int made = 0;
    bool usable = threads > 1 && nova_make_beds(pool);
    if (usable && !pool->knows_forks)
        usable = pool->knows_forks = pthread_atfork(NULL, NULL, nova_after_fork) == 0;
    NOVA_STORE(&pool->waits_awake, threads <= processors, NOVA_RELAXED);
    if (usable)
        made = nova_make_members(pool, threads - 1);
    NOVA_STORE(&pool->owner, (uintptr_t)&nova_owner, NOVA_RELAXED);
    NOVA_STORE(&pool->threads, (uint32_t)made + 1, NOVA_RELAXED);
    return made > 0;
}

/* The same as nova_has_pool, for a pool that is not running yet. */
static bool nova_start(nova_pool *pool)
{
    for (;;) {
        uint32_t phase = NOVA_LOAD(&pool->phase, NOVA_ACQUIRE);
        if (phase == NOVA_POOL_NONE) {
            if (NOVA_SWAP_IF(&pool->phase, &phase, NOVA_POOL_STARTING))
                NOVA_STORE(&pool->phase,
                           nova_make_pool(pool) ? NOVA_POOL_RUNNING : NOVA_POOL_ALONE,
                           NOVA_ORDERED);
        } else if (phase == NOVA_POOL_STARTING) {
            sched_yield();
        } else {
            return phase == NOVA_POOL_RUNNING;
        }
    }
}

/* True if there are threads that may assist; the first call creates them. */
static inline bool nova_has_pool(nova_pool *pool)
{
    return NOVA_LOAD(&pool->phase, NOVA_ACQUIRE) == NOVA_POOL_RUNNING || nova_start(pool);
}

/* Publishes a task that is inside that of the slot `outer`, unless that is null, and wakes count
 * threads. Returns null if no slot is free. */
static nova_slot *nova_publish(nova_pool *pool, nova_assist assist, void *task, nova_slot *outer,
                               int count)
{
    for (uint32_t i = 0; i < NOVA_SLOTS; i++) {
        nova_slot *slot = &pool->slots[i];
        uint32_t taken = NOVA_LOAD(&slot->taken, NOVA_RELAXED);
        if (taken != 0 || !NOVA_SWAP_IF(&slot->taken, &taken, 1))
            continue;
        slot->assist = assist;
        slot->task = task;
        NOVA_STORE(&slot->outer, (uintptr_t)outer, NOVA_RELAXED);
        uint32_t high = NOVA_LOAD(&pool->high, NOVA_RELAXED);
        while (high < i + 1 && !NOVA_SWAP_IF(&pool->high, &high, i + 1))
            ;
        NOVA_STORE(&slot->state, NOVA_OPEN, NOVA_ORDERED);
        nova_rouse(pool, count);
        nova_recall(outer);
        return slot;
    }
    return NULL;
}

/* Takes a task back: no thread joins it any more, and all that have joined leave before this returns.
 * The caller meanwhile assists the tasks that they publish. It looks for these once more after it has
 * marked the state as awaited. A thread that publishes one clears the mark, which ends the sleep. */
static void nova_retract(nova_pool *pool, nova_slot *slot, uint32_t thread)
{
    nova_vigil vigil = {0, 0};
    bool awake = NOVA_LOAD(&pool->waits_awake, NOVA_RELAXED) != 0;
    uint32_t state = NOVA_AND(&slot->state, ~NOVA_OPEN, NOVA_BOTH) & ~NOVA_OPEN;
    bool waits = (state & NOVA_JOINED) != 0;
    if (waits)
        NOVA_ADD(&pool->busy, (uint32_t)-1, NOVA_RELAXED);
    while ((state & NOVA_JOINED) != 0) {
        if (nova_help_inside(pool, slot, thread)) {
            vigil.end = 0;
            vigil.spins = 0;
        } else if (!awake || !nova_stay_awake(&vigil, NOVA_AWAIT_NS)) {
            if ((state & NOVA_AWAITED) != 0)
                nova_sleep(&slot->bed, &slot->state, state);
            else
                (void)NOVA_SWAP_IF(&slot->state, &state, state | NOVA_AWAITED);
        }
        state = NOVA_LOAD(&slot->state, NOVA_ORDERED);
    }
    if (waits)
        NOVA_ADD(&pool->busy, 1, NOVA_RELAXED);
    NOVA_STORE(&slot->state, 0, NOVA_RELAXED);
    NOVA_STORE(&slot->taken, 0, NOVA_RELEASE);
}

#endif
