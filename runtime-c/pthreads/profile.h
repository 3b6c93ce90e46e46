/* The profile of parallel regions: which threads share a loop, and from when to when. The calling thread
 * takes the time of the loop (common/profile.h). */
#ifndef NOVA_REGION_PROFILE_H
#define NOVA_REGION_PROFILE_H

#include "../common/profile.h"
#include "region.h"

/* The number of shares of a region that a trace shows. */
#define NOVA_SHARES 256

/* The time in which a thread does chunks of a region, and of regions inside of it, without a chunk of
 * another. */
typedef struct nova_share {
    int thread;
    int64_t begin, end;
} nova_share;

/* A region that no other one encloses, on the stack of its caller. */
typedef struct nova_profiled_region {
    uint64_t number;
    pthread_mutex_t lock; /* for the fields below */
    int threads, count;
    nova_share shares[NOVA_SHARES];
} nova_profiled_region;

/* A region, and the outermost one around it. */
typedef struct nova_profiled_work {
    nova_profiled_region *region;
    nova_chunk function;
    void *environment;
} nova_profiled_work;

/* The share to which this thread adds, and the number of its region. */
static NOVA_THREAD_LOCAL uint64_t nova_shared_region_here;
static NOVA_THREAD_LOCAL int nova_share_here;

/* Adds a chunk to the share of this thread. */
static void nova_add_share(nova_profiled_region *region, int64_t begin, int64_t end)
{
    bool known = false;
    pthread_mutex_lock(&nova_loops_lock);
    int thread = nova_number_thread();
    pthread_mutex_unlock(&nova_loops_lock);
    pthread_mutex_lock(&region->lock);
    if (nova_shared_region_here == region->number) {
        nova_share *share = &region->shares[nova_share_here];
        share->begin = begin < share->begin ? begin : share->begin;
        share->end = end > share->end ? end : share->end;
    } else {
        for (int k = 0; k < region->count; k++)
            known = known || region->shares[k].thread == thread;
        if (!known)
            region->threads++;
        if (region->count < NOVA_SHARES) {
            nova_share share = {thread, begin, end};
            nova_share_here = region->count;
            nova_shared_region_here = region->number;
            region->shares[region->count++] = share;
        }
    }
    pthread_mutex_unlock(&region->lock);
}

/* Does a chunk. */
static void nova_profiled_chunk(nova_context *context, int64_t chunk, void *argument)
{
    const nova_profiled_work *work = (const nova_profiled_work *)argument;
    void *outer = nova_region_here;
    int64_t begin = nova_clock();
    nova_region_here = work->region;
    work->function(context, chunk, work->environment);
    nova_region_here = outer;
    nova_add_share(work->region, begin, nova_clock());
}

/* Adds the shares of a region to the loop that has just run it. */
static void nova_end_region(nova_profiled_region *region)
{
    nova_open_loops *open = nova_loops_here;
    pthread_mutex_destroy(&region->lock);
    if (open->depth == 0 || open->depth > NOVA_OPEN_LOOPS)
        return;
    nova_open_loop *loop = &open->list[open->depth - 1];
    loop->threads = region->threads > loop->threads ? region->threads : loop->threads;
    pthread_mutex_lock(&nova_loops_lock);
    for (int k = 0; k < region->count; k++) {
        const nova_share *share = &region->shares[k];
        nova_add_event(loop->row, true, share->thread, share->begin, share->end, 0);
    }
    pthread_mutex_unlock(&nova_loops_lock);
}

/* As nova_share_chunks, and notes which threads do chunks. A chunk always sets the region of its thread
 * before it begins, so that an error, which leaves it set, does no harm. */
static void nova_profiled_share_chunks(nova_context *context, int64_t chunks, nova_chunk function,
                                       void *environment, uint32_t queues)
{
    nova_profiled_work work = {NULL, function, environment};
    if (context->regions > 0 && nova_region_here != NULL) {
        work.region = (nova_profiled_region *)nova_region_here;
        nova_share_chunks(context, chunks, nova_profiled_chunk, &work, queues);
        return;
    }
    if (context->regions > 0 || nova_loops_here == NULL) {
        nova_share_chunks(context, chunks, function, environment, queues);
        return;
    }
    nova_profiled_region region;
    if (pthread_mutex_init(&region.lock, NULL) != 0) {
        nova_share_chunks(context, chunks, function, environment, queues);
        return;
    }
    region.threads = region.count = 0;
    pthread_mutex_lock(&nova_loops_lock);
    region.number = ++nova_loops.regions;
    pthread_mutex_unlock(&nova_loops_lock);
    work.region = &region;
    nova_share_chunks(context, chunks, nova_profiled_chunk, &work, queues);
    nova_end_region(&region);
}

static void nova_profiled_parallel(nova_context *context, int64_t chunks, nova_chunk function,
                                   void *environment)
{
    nova_profiled_share_chunks(context, chunks, function, environment, NOVA_MOST_QUEUES);
}

static void nova_profiled_parallel_ordered(nova_context *context, int64_t chunks,
                                           nova_chunk function, void *environment)
{
    nova_profiled_share_chunks(context, chunks, function, environment, 1);
}

#endif
