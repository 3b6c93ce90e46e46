/* Waiting for another thread: awake for a short while, then asleep, on a futex where there is one, else
 * on a condition variable. NOVA_PORTABLE selects the latter. */
#ifndef NOVA_WAITING_H
#define NOVA_WAITING_H

#include "atomics.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* The time that a thread without work waits awake, in nanoseconds: several times the cost of falling asleep and
 * waking up, so that it is awake after a short part of a program for one thread. */
#ifndef NOVA_AWAKE_NS
#define NOVA_AWAKE_NS 200000
#endif

/* The time that a caller waits awake for the last chunks: about the cost of falling asleep and waking up. The thread
 * that does them may need its processor. */
#ifndef NOVA_AWAIT_NS
#define NOVA_AWAIT_NS 30000
#endif

/* The time, in nanoseconds since some moment. */
static inline int64_t nova_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The state of a wait awake. */
typedef struct nova_vigil {
    int64_t end; /* the time at which it ends; 0 before the clock was read */
    uint32_t spins;
} nova_vigil;

/* Waits awake for one more moment; false when it has been so many nanoseconds. */
static inline bool nova_stay_awake(nova_vigil *vigil, int64_t most)
{
    nova_pause();
    if (++vigil->spins % 16 != 0)
        return true;
    int64_t now = nova_now();
    if (vigil->end == 0)
        vigil->end = now + most;
    return now < vigil->end;
}

#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if defined(__linux__) && !defined(NOVA_PORTABLE)
#define NOVA_FUTEX 1
#else
#define NOVA_FUTEX 0
#endif
/* The data for sleep in addition to the words; empty with futexes. */
typedef struct nova_bed {
#if NOVA_FUTEX
    char none;
#else
    pthread_mutex_t lock;
    pthread_cond_t changed;
#endif
} nova_bed;

/* Prepares a bed. Returns 0, or the error. */
static int nova_make_bed(nova_bed *bed)
{
#if NOVA_FUTEX
    (void)bed;
    return 0;
#else
    int failed = pthread_mutex_init(&bed->lock, NULL);
    return failed != 0 ? failed : pthread_cond_init(&bed->changed, NULL);
#endif
}

/* Sleeps while the word has this value; may also wake up for no reason. All threads that sleep on a
 * word share a bed. */
static void nova_sleep(nova_bed *bed, nova_shared *word, uint32_t value)
{
#if NOVA_FUTEX
#if !defined(SYS_futex)
#define SYS_futex SYS_futex_time64
#endif
    (void)bed;
    syscall(SYS_futex, word, 128 /* FUTEX_WAIT_PRIVATE */, value, NULL, NULL, 0);
#else
    pthread_mutex_lock(&bed->lock);
    while (NOVA_LOAD(word, NOVA_ORDERED) == value)
        pthread_cond_wait(&bed->changed, &bed->lock);
    pthread_mutex_unlock(&bed->lock);
#endif
}

/* Wakes this many of the threads that sleep on a word, which has been changed before. */
static void nova_wake(nova_bed *bed, nova_shared *word, int count)
{
#if NOVA_FUTEX
    (void)bed;
    syscall(SYS_futex, word, 129 /* FUTEX_WAKE_PRIVATE */, count, NULL, NULL, 0);
#else
    (void)word;
    (void)count;
    pthread_mutex_lock(&bed->lock);
    pthread_cond_broadcast(&bed->changed);
    pthread_mutex_unlock(&bed->lock);
#endif
}

#endif
