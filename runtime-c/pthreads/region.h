/* Parallel regions: a function applied to the numbers of chunks. The calling thread and those of the
 * pool take chunks, each thread with a context of its own for memory and errors. A thread takes the
 * same chunks first in every region, since it has their data in its caches from the region before. */
#ifndef NOVA_REGION_H
#define NOVA_REGION_H

#include "../common/call.h"
#include "pool.h"

/* The body of a parallel loop: does one chunk of the work that the environment describes. It counts
 * references only of blocks that it has made itself. When it ends it has released them or given them
 * away; after an error that is not necessary. */
typedef void (*nova_chunk)(nova_context *context, int64_t chunk, void *environment);

/* How the threads of a region append nodes to the tables of the call (shared_nodes.h). */
typedef void *nova_see_appender(nova_context *context, void *appender, size_t size);
typedef struct nova_sharing {
    size_t size; /* of struct nova_tables */
    void (*each)(nova_context *context, nova_see_appender *see); /* calls it for each such table */
    void (*begin)(nova_context *caller); /* before threads join the region */
    void (*enter)(nova_context *thread, const nova_context *caller);
    void (*leave)(nova_context *thread);
    void (*end)(nova_context *caller); /* when all have left */
} nova_sharing;

/* Chunks are taken in batches if there are more than this many. The number of a batch has 16 bits. */
#define NOVA_MOST_CLAIMS 4096

/* The largest number of queues of a region. With more threads some have a queue in common. */
#define NOVA_MOST_QUEUES 64

/* The largest number of regions that may enclose an operation of unknown cost that becomes a region. */
#define NOVA_DEEPEST 16

/* The batches that one thread takes first. The word is the first one left in its upper half, and the
 * one after the last in its lower half. */
typedef struct nova_queue {
    nova_shared left;
    char apart[NOVA_APART - sizeof(nova_shared)];
} nova_queue;

/* A running region, on the stack of its caller. */
typedef struct nova_region {
    nova_chunk function;
    void *environment;
    nova_context *context; /* of the caller */
    nova_pool *pool;
    int64_t chunks;
    int64_t batch; /* chunks that are taken together */
    uint32_t claims; /* batches */
    uint32_t queue_count;
    size_t stack; /* bytes of stack that a chunk may use */
    char settings_apart[NOVA_APART];
    nova_queue queues[NOVA_MOST_QUEUES];
    NOVA_ATOMIC(size_t) ordered; /* the chunk whose ordered region may run */
    char ordered_apart[NOVA_APART];
    NOVA_ATOMIC(size_t) failed; /* the lowest chunk that has failed; SIZE_MAX if none has */
    nova_shared locked;         /* 1 while a thread writes the fields below */
    int code;
    char message[NOVA_MESSAGE_SIZE];
} nova_region;

/* The work of one thread in a region. */
typedef struct nova_worker {
    nova_region *region;
    nova_shared *leave; /* not 0 when the thread must leave; may be null */
    int64_t chunk;      /* the current one */
    bool finished;      /* nothing is left to begin */
} nova_worker;

/* Divides the batches of a region evenly among its queues. */
static void nova_fill_queues(nova_region *region)
{
    for (uint32_t i = 0; i < region->queue_count; i++) {
        uint32_t begin = region->claims * i / region->queue_count;
        uint32_t end = region->claims * (i + 1) / region->queue_count;
        NOVA_STORE(&region->queues[i].left, begin << 16 | end, NOVA_RELAXED);
    }
}

/* The queue of a thread: the first one for the caller, and for threads of the pool the others. */
static uint32_t nova_own_queue(const nova_region *region, uint32_t thread)
{
    return region->queue_count < 2 || thread == 0 ? 0 : 1 + (thread - 1) % (region->queue_count - 1);
}

/* Takes the first batch that is left in the queue of the thread, else the last one of another queue, of
 * which its own thread has the data of the first ones. Returns false if none is left. */
static bool nova_take_batch(nova_region *region, uint32_t thread, uint32_t *claim)
{
    uint32_t own = nova_own_queue(region, thread);
    for (uint32_t i = 0; i < region->queue_count; i++) {
        nova_shared *queue = &region->queues[(own + i) % region->queue_count].left;
        uint32_t left = NOVA_LOAD(queue, NOVA_RELAXED);
        while (left >> 16 < (left & 0xffff)) {
            uint32_t after = i == 0 ? left + 0x10000 : left - 1;
            if (NOVA_SWAP_IF(queue, &left, after)) {
                *claim = i == 0 ? left >> 16 : after & 0xffff;
                return true;
            }
        }
    }
    return false;
}

/* True if several batches are left. */
static bool nova_has_batches(nova_region *region)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < region->queue_count && count < 2; i++) {
        uint32_t left = NOVA_LOAD(&region->queues[i].left, NOVA_RELAXED);
        count += (left & 0xffff) - (left >> 16);
    }
    return count > 1;
}

/* Takes batches and does their chunks. All are taken, and a chunk is left out only if a lower one has
 * failed. So every chunk below the lowest that fails is done. */
static void nova_do_chunks(nova_context *context, void *argument)
{
    nova_worker *worker = (nova_worker *)argument;
    nova_region *region = worker->region;
    const nova_sharing *sharing = (const nova_sharing *)region->context->sharing;
    if (sharing != NULL)
        sharing->enter(context, region->context);
    while (worker->leave == NULL || NOVA_LOAD(worker->leave, NOVA_RELAXED) == 0) {
        uint32_t claim;
        if (!nova_take_batch(region, context->thread, &claim)) {
            worker->finished = true;
            return;
        }
        worker->chunk = (int64_t)claim * region->batch;
        int64_t rest = region->chunks - worker->chunk;
        int64_t end = worker->chunk + (rest < region->batch ? rest : region->batch);
        for (; worker->chunk < end; worker->chunk++) {
            if (NOVA_LOAD(&region->failed, NOVA_RELAXED) < (size_t)worker->chunk)
                break;
            region->function(context, worker->chunk, region->environment);
        }
    }
}

/* Records the error of a chunk, unless a lower one has failed. */
static void nova_note(nova_region *region, int64_t chunk, int code, const char *message)
{
    while (NOVA_SWAP(&region->locked, 1, NOVA_ACQUIRE) != 0)
        sched_yield();
    if ((size_t)chunk < NOVA_LOAD(&region->failed, NOVA_RELAXED)) {
        NOVA_STORE(&region->failed, (size_t)chunk, NOVA_RELAXED);
        region->code = code;
        memcpy(region->message, message, NOVA_MESSAGE_SIZE);
    }
    NOVA_STORE(&region->locked, 0, NOVA_RELEASE);
}

/* Works on a region until no batch is left, a chunk fails, or *leave is not 0. Returns false in the
 * last case only. */
static bool nova_work_until_error(nova_worker *worker, void *slot, uint32_t thread)
{
    nova_region *region = worker->region;
    char message[NOVA_MESSAGE_SIZE] = "";
    nova_context context;
    nova_open(&context, message);
    context.thread = thread;
    context.result = region->context->result;
    context.tables = region->context->tables;
    context.regions = region->context->regions + 1;
    context.region = region;
    context.slot = slot;
    context.stack_limit = NOVA_FRAME > region->stack ? NOVA_FRAME - region->stack : 0;
    nova_try(&context, nova_do_chunks, worker);
    if (context.code != 0)
        nova_note(region, worker->chunk, context.code, message);
    else if (context.sharing != NULL)
        ((const nova_sharing *)context.sharing)->leave(&context);
    nova_close_blocks(&context);
    return worker->finished || context.code != 0;
}

/* Works on a region until no batch is left, or *leave is not 0. Returns true in the first case. After
 * an error it goes on, since the chunks below the one that has failed are still to be done. */
static bool nova_work_on_region(void *task, void *slot, uint32_t thread, nova_shared *leave)
{
    nova_region *region = (nova_region *)task;
    nova_worker worker = {region, leave, 0, false};
    /* A thread that has been woken wakes two more, as long as there is work for them. */
    if (leave != NULL && nova_has_batches(region))
        nova_rouse(region->pool, 2);
    while (nova_work_until_error(&worker, slot, thread) && !worker.finished)
        ;
    return worker.finished;
}

/* The bytes of stack that a chunk may use in any thread. Threads of the pool have this much: their
 * stack, less an eighth for what lies above the chunk's frame and for functions that do not check. It
 * is never more than what is left to the caller. */
static size_t nova_chunk_stack(nova_context *context, nova_pool *pool)
{
    uintptr_t frame = NOVA_FRAME;
    size_t left = frame > context->stack_limit ? frame - context->stack_limit : 0;
    size_t stack = NOVA_LOAD(&pool->stack, NOVA_RELAXED);
    stack = stack > 0 ? stack - stack / 8 : NOVA_POOL_STACK_LARGEST / 8 * 7;
    return left < stack ? left : stack;
}

/* Does all chunks in the calling thread. */
static void nova_do_alone(nova_context *context, int64_t chunks, nova_chunk function,
                          void *environment)
{
    uintptr_t limit = context->stack_limit;
    void *enclosing = context->region;
    context->region = NULL;
    context->regions++;
    context->stack_limit = NOVA_FRAME - nova_chunk_stack(context, &NOVA_POOL);
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        function(context, chunk, environment);
    context->regions--;
    context->region = enclosing;
    context->stack_limit = limit;
}

/* The same as nova_parallel, with at most this many queues. */
static void nova_share_chunks(nova_context *context, int64_t chunks, nova_chunk function,
                              void *environment, uint32_t queues)
{
    nova_pool *pool = &NOVA_POOL;
    bool shared = nova_has_pool(pool) && chunks > 1;
    uint32_t generation = NOVA_LOAD(&pool->generation, NOVA_RELAXED);
    nova_region region;
    nova_slot *slot = NULL;
    const nova_sharing *sharing = (const nova_sharing *)context->sharing;
    if (shared) {
        if (sharing != NULL)
            sharing->begin(context);
        region.function = function;
        region.environment = environment;
        region.context = context;
        region.pool = pool;
        region.chunks = chunks;
        region.batch = (chunks - 1) / NOVA_MOST_CLAIMS + 1;
        region.claims = (uint32_t)((chunks - 1) / region.batch + 1);
        uint32_t threads = NOVA_LOAD(&pool->threads, NOVA_RELAXED);
        region.queue_count = region.claims < queues ? region.claims : queues;
        region.queue_count = threads < region.queue_count ? threads : region.queue_count;
        region.stack = nova_chunk_stack(context, pool);
        nova_fill_queues(&region);
        NOVA_STORE(&region.ordered, 0, NOVA_RELAXED);
        NOVA_STORE(&region.failed, SIZE_MAX, NOVA_RELAXED);
        NOVA_STORE(&region.locked, 0, NOVA_RELAXED);
        slot = nova_publish(pool, nova_work_on_region, &region, (nova_slot *)context->slot,
                            region.claims > 2 ? 2 : 1);
    }
    if (slot == NULL) {
        nova_do_alone(context, chunks, function, environment);
        return;
    }
    nova_work_on_region(&region, slot, context->thread, NULL);
    nova_retract(pool, slot, context->thread);
    if (NOVA_LOAD(&pool->generation, NOVA_RELAXED) != generation)
        nova_fail(context, NOVA_ERROR_DEVICE, "the process was forked inside a parallel operation");
    if (NOVA_LOAD(&region.failed, NOVA_RELAXED) != SIZE_MAX)
        nova_fail(context, region.code, "%s", region.message);
    if (sharing != NULL)
        sharing->end(context);
}

/* Does the chunks 0 to chunks - 1 of a function, in parallel where there are threads, and returns when
 * all are done and visible. If some fail, the call ends with the error of the lowest of them, with
 * which a loop over all chunks would also end. */
static void nova_parallel(nova_context *context, int64_t chunks, nova_chunk function,
                          void *environment)
{
    nova_share_chunks(context, chunks, function, environment, NOVA_MOST_QUEUES);
}

/* The same for chunks with ordered regions. Threads take them in ascending order, from one queue. */
static void nova_parallel_ordered(nova_context *context, int64_t chunks, nova_chunk function,
                                  void *environment)
{
    nova_share_chunks(context, chunks, function, environment, 1);
}

/* Begins the ordered region of this chunk: waits awake until that of the chunk before has ended. Chunks
 * are taken in ascending order. So the lowest chunk whose ordered region has not ended is running, and
 * waits for nothing. The system lets it go on if there are more threads than processors. */
static void nova_begin_ordered(nova_context *context, int64_t chunk)
{
    enum { AWAKE = 4096 };
    nova_region *region = (nova_region *)context->region;
    if (region == NULL)
        return;
    for (int spins = 0; NOVA_LOAD(&region->ordered, NOVA_ACQUIRE) != (size_t)chunk;) {
        if (spins == AWAKE) {
            sched_yield();
        } else {
            nova_pause();
            spins++;
        }
    }
}

/* Ends the ordered region of this chunk: the next chunk sees what has been written before. */
static void nova_end_ordered(nova_context *context, int64_t chunk)
{
    nova_region *region = (nova_region *)context->region;
    if (region != NULL)
        NOVA_STORE(&region->ordered, (size_t)chunk + 1, NOVA_RELEASE);
}

/* The number of threads that work together, for a choice between ways to the same result. */
static int nova_count_threads(void)
{
    return nova_has_pool(&NOVA_POOL) ? (int)NOVA_LOAD(&NOVA_POOL.threads, NOVA_RELAXED) : 1;
}

/* True if threads wait for work, so that an operation of unknown cost is worth a region. The depth of
 * nested regions is limited: such operations are those of recursive functions, and the innermost ones
 * are small. */
static bool nova_may_split(nova_context *context)
{
    nova_pool *pool = &NOVA_POOL;
    if (context->regions >= NOVA_DEEPEST || !nova_has_pool(pool))
        return false;
    uint32_t others = NOVA_LOAD(&pool->threads, NOVA_RELAXED) - 1;
    return NOVA_LOAD(&pool->busy, NOVA_RELAXED) < others;
}

/* A table of the result buffers of a region: arrays of its chunks, one each, which outlive the chunks.
 * It is a block of headers for their blocks. */
static nova_block *nova_make_result_buffers(nova_context *context, int64_t count, const char *place)
{
    nova_block *buffers;
    nova_block **blocks =
        (nova_block **)nova_allocate(context, &buffers, count, sizeof(nova_block *), place);
    for (int64_t i = 0; i < count; i++)
        blocks[i] = nova_adopt(context, NULL, 0, place);
    return buffers;
}

/* Stores count elements as a result buffer. They are taken out of their block if it has one reference
 * and begins with them, else copied. */
static void nova_store_buffer(nova_context *context, nova_block *buffers, int64_t index, nova_block *block,
                              const void *data, int64_t count, size_t size, const char *place)
{
    nova_block *expected = ((nova_block **)buffers->data)[index];
    nova_block *copy = NULL;
    if (count <= 0)
        return;
    if (block == NULL || block->references != 1 || block->data != data) {
        nova_copy(nova_allocate(context, &copy, count, size, place), data, count, size);
        block = copy;
    }
    expected->data = block->data;
    expected->bytes = block->bytes;
    block->data = NULL;
    block->bytes = 0;
    nova_release(context, copy);
}

/* The first element of a result buffer. */
static const void *nova_result_buffer(nova_block *buffers, int64_t index)
{
    return ((nova_block **)buffers->data)[index]->data;
}

/* Frees a table with its result buffers. */
static void nova_drop_result_buffers(nova_context *context, nova_block *buffers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        nova_release(context, ((nova_block **)buffers->data)[i]);
    nova_release(context, buffers);
}

#endif
