/* Definitions that the tests of the pool share. */
#ifndef NOVA_POOL_TEST_H
#define NOVA_POOL_TEST_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "../pthreads/region.h"
#include "test.h"

/* True under ThreadSanitizer or AddressSanitizer. */
#if !defined(__has_feature)
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define WATCHED_THREADS true
#else
#define WATCHED_THREADS false
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define WATCHED_ADDRESSES true
#else
#define WATCHED_ADDRESSES false
#endif

/* Ends the pool, if there is one; the next region creates one with this many threads. */
static void use_threads(int count)
{
    char text[16];
    snprintf(text, sizeof text, "%d", count);
    setenv("NOVA_NUM_THREADS", text, 1);
    nova_stop();
    NOVA_STORE(&NOVA_POOL.phase, NOVA_POOL_NONE, NOVA_ORDERED);
}

/* A region as the body of a call. */
typedef struct job {
    int64_t chunks;
    nova_chunk function;
    void *environment;
} job;

static void run_job(nova_context *context, void *call)
{
    job *j = (job *)call;
    nova_parallel(context, j->chunks, j->function, j->environment);
}

/* Runs a region in a call of its own; returns the code of its error. */
static int run(int64_t chunks, nova_chunk function, void *environment, char *message)
{
    job j = {chunks, function, environment};
    return nova_call(run_job, &j, message);
}

/* The same as run, for regions that cannot fail. */
static void run_well(int64_t chunks, nova_chunk function, void *environment)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    CHECK(run(chunks, function, environment, message) == 0);
}

#endif
