/* Tests of errors and memory of parallel regions. The error is that of the lowest chunk, whichever
 * thread meets it first. Memory that chunks hold is freed; memory that they give away stays. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <stdlib.h>

/* Memory that runs out: no object of a terabyte, and a limited number of requests. */
static void *try_malloc(size_t bytes);
static void *try_aligned_alloc(size_t alignment, size_t bytes);
#define malloc try_malloc
#define aligned_alloc try_aligned_alloc
#include "pool_test.h"
#undef malloc
#undef aligned_alloc

#define MANY ((uint32_t)1 << 30)
static nova_shared requests_left;

static bool is_refused(size_t bytes)
{
    uint32_t left = NOVA_ADD(&requests_left, (uint32_t)-1, NOVA_RELAXED);
    return bytes >= (size_t)1 << 40 || left == 0 || left > MANY;
}

static void *try_malloc(size_t bytes)
{
    return is_refused(bytes) ? NULL : malloc(bytes);
}

static void *try_aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused(bytes) ? NULL : aligned_alloc(alignment, bytes);
}

#define CHUNKS 200

/* The chunks that fail, and those that have been begun. */
typedef struct trial {
    uint8_t fails[CHUNKS];
    nova_shared begun[CHUNKS];
} trial;

static void work_a_little(int64_t iterations)
{
    for (volatile int64_t i = 0; i < iterations; i++)
        ;
}

/* Holds memory when it fails. */
static void try_chunk(nova_context *context, int64_t chunk, void *environment)
{
    trial *t = (trial *)environment;
    NOVA_STORE(&t->begun[chunk], 1, NOVA_RELAXED);
    nova_block *small, *large;
    memset(nova_allocate(context, &small, chunk + 1, 1, NULL), 1, (size_t)chunk + 1);
    memset(nova_allocate(context, &large, NOVA_SPARE_FROM + chunk, 1, NULL), 1, 100);
    work_a_little(chunk * 7919 % 1000);
    if (chunk % 2 == 0)
        nova_release(context, large);
    if (t->fails[chunk])
        nova_fail(context, NOVA_ERROR_PROGRAM, "a.nova:1:%d: no", (int)chunk);
    if (chunk % 3 == 0)
        nova_release(context, small);
}

static void expect_error(trial *t, int64_t lowest)
{
    char message[NOVA_MESSAGE_SIZE] = "", expected[64];
    for (int i = 0; i < CHUNKS; i++)
        NOVA_STORE(&t->begun[i], 0, NOVA_RELAXED);
    int code = run(CHUNKS, try_chunk, t, message);
    snprintf(expected, sizeof expected, "a.nova:1:%d: no", (int)lowest);
    CHECK(code == (lowest < CHUNKS ? NOVA_ERROR_PROGRAM : 0));
    CHECK(lowest == CHUNKS || strcmp(message, expected) == 0);
    for (int i = 0; i < CHUNKS && i <= lowest; i++)
        CHECK(NOVA_LOAD(&t->begun[i], NOVA_RELAXED) == 1);
}

static void the_lowest_error_wins(void)
{
    static trial t;
    memset(t.fails, 0, sizeof t.fails);
    expect_error(&t, CHUNKS);
    for (int iteration = 0; iteration < 60; iteration++) {
        memset(t.fails, 0, sizeof t.fails);
        int lowest = CHUNKS;
        for (int k = 0; k <= iteration % 10; k++) {
            int chunk = (iteration * 131 + k * 37) % CHUNKS;
            t.fails[chunk] = 1;
            lowest = chunk < lowest ? chunk : lowest;
        }
        expect_error(&t, lowest);
    }
    memset(t.fails, 1, sizeof t.fails);
    expect_error(&t, 0);
}

/* Two chunks that fail one after the other, in two threads; the lower or the higher one may fail first.
 * The batch of the lower one has more chunks, which are done all the same. */
typedef struct duel {
    int64_t lower, higher; /* the chunks that fail */
    int64_t first;         /* the one that fails first */
    nova_shared started;
    nova_shared failing;
} duel;

static void wait_for(nova_shared *flag, uint32_t value)
{
    while (NOVA_LOAD(flag, NOVA_ORDERED) < value)
        sched_yield();
}

static void fight(nova_context *context, int64_t chunk, void *environment)
{
    duel *d = (duel *)environment;
    if (chunk == 0 || chunk == d->higher) {
        NOVA_ADD(&d->started, 1, NOVA_ORDERED);
        wait_for(&d->started, 2);
        if (chunk == 0 ? d->first == d->higher : d->first != d->higher) {
            wait_for(&d->failing, 1);
            struct timespec pause = {0, 1000000};
            nanosleep(&pause, NULL);
        }
    }
    if (chunk == d->lower || chunk == d->higher) {
        NOVA_STORE(&d->failing, 1, NOVA_ORDERED);
        nova_fail(context, NOVA_ERROR_PROGRAM, "%d", (int)chunk);
    }
}

static void the_order_of_failures_is_nothing(void)
{
    for (int64_t batch = 1; batch <= 3; batch++)
        for (int iteration = 0; iteration < 20; iteration++) {
            char message[NOVA_MESSAGE_SIZE] = "", expected[16];
            duel d;
            d.lower = batch - 1;
            d.higher = batch;
            d.first = iteration % 2 == 0 ? d.lower : d.higher;
            NOVA_STORE(&d.started, 0, NOVA_ORDERED);
            NOVA_STORE(&d.failing, 0, NOVA_ORDERED);
            snprintf(expected, sizeof expected, "%d", (int)d.lower);
            int64_t chunks = batch == 1 ? 2 : batch * NOVA_MOST_CLAIMS;
            CHECK(run(chunks, fight, &d, message) == NOVA_ERROR_PROGRAM);
            CHECK(strcmp(message, expected) == 0);
        }
}

/* Errors pass through nested regions. */
static void nest(nova_context *context, int64_t chunk, void *environment)
{
    trial *t = (trial *)environment;
    nova_block *block;
    nova_allocate(context, &block, 100, 1, NULL);
    nova_parallel(context, chunk % 2 == 0 ? CHUNKS / 10 : CHUNKS, try_chunk, t);
    nova_release(context, block);
}

static void errors_leave_nested_regions(void)
{
    static trial t;
    char message[NOVA_MESSAGE_SIZE] = "";
    memset(t.fails, 0, sizeof t.fails);
    CHECK(run(20, nest, &t, message) == 0);
    t.fails[CHUNKS - 1] = t.fails[CHUNKS - 3] = 1;
    for (int i = 0; i < 10; i++) {
        CHECK(run(20, nest, &t, message) == NOVA_ERROR_PROGRAM);
        CHECK(strcmp(message, "a.nova:1:197: no") == 0);
    }
}

/* More memory than there is, in one chunk. */
static void ask_for_too_much(nova_context *context, int64_t chunk, void *environment)
{
    (void)environment;
    nova_block *block;
    for (int i = 0; i < 100; i++)
        nova_allocate(context, &block, 10, 8, NULL);
    nova_allocate(context, &block, chunk == 77 ? INT64_MAX / 16 : 100, 8, "a.nova:7:7");
}

static void memory_runs_out(void)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    for (int i = 0; i < 20; i++) {
        CHECK(run(CHUNKS, ask_for_too_much, NULL, message) == NOVA_ERROR_MEMORY);
        CHECK(strcmp(message, "a.nova:7:7: out of memory") == 0);
    }
    /* Any request may fail, those for headers too. */
    for (uint32_t request = 0; request < 20000; request += 1 + request / 3) {
        NOVA_STORE(&requests_left, request, NOVA_RELAXED);
        trial t;
        memset(t.fails, 0, sizeof t.fails);
        int code = run(CHUNKS, try_chunk, &t, message);
        bool failed = NOVA_LOAD(&requests_left, NOVA_RELAXED) > MANY;
        CHECK(code == (failed ? NOVA_ERROR_MEMORY : 0));
    }
    NOVA_STORE(&requests_left, MANY, NOVA_RELAXED);
}

/* Chunks that each make an array that outlives them. */
typedef struct rows {
    nova_block *buffers;
    int64_t *data[CHUNKS];
    int64_t fails;
} rows;

static void make_row(nova_context *context, int64_t chunk, void *environment)
{
    rows *r = (rows *)environment;
    nova_block *block, *other;
    int64_t *row = (int64_t *)nova_allocate(context, &block, chunk + 1, sizeof(int64_t), NULL);
    nova_allocate(context, &other, 5, 1, NULL);
    nova_release(context, other);
    for (int64_t i = 0; i <= chunk; i++)
        row[i] = chunk * i;
    r->data[chunk] = row;
    /* Every third array is copied, since there is another reference to it. */
    if (chunk % 3 == 0)
        nova_retain(block);
    nova_store_buffer(context, r->buffers, chunk, block, row, chunk + 1, sizeof(int64_t), NULL);
    nova_release(context, block);
    if (chunk % 3 == 0)
        nova_release(context, block);
    if (chunk == r->fails)
        nova_fail(context, NOVA_ERROR_PROGRAM, "no");
}

/* Many iterations in one call: headers are used again. */
static void make_rows(nova_context *context, void *call)
{
    rows *r = (rows *)call;
    for (int iteration = 0; iteration < 30; iteration++) {
        r->buffers = nova_make_result_buffers(context, CHUNKS, NULL);
        nova_parallel(context, CHUNKS, make_row, r);
        for (int64_t i = 0; i < CHUNKS; i++) {
            const int64_t *row = (const int64_t *)nova_result_buffer(r->buffers, i);
            CHECK(row[i] == i * i && (row == r->data[i]) == (i % 3 != 0));
        }
        nova_drop_result_buffers(context, r->buffers, CHUNKS);
    }
    int slabs = 0;
    for (nova_slab *slab = context->slabs; slab != NULL; slab = slab->next)
        slabs++;
    CHECK(slabs <= CHUNKS / NOVA_SLAB_SIZE + 1);
}

static void blocks_are_handed_over(void)
{
    static rows r;
    char message[NOVA_MESSAGE_SIZE] = "";
    r.fails = -1;
    CHECK(nova_call(make_rows, &r, message) == 0);
    r.fails = CHUNKS / 2;
    CHECK(nova_call(make_rows, &r, message) == NOVA_ERROR_PROGRAM);
}

/* Recursion is as deep in every thread. */
typedef struct depths {
    int64_t wanted;
    int64_t reached[CHUNKS];
} depths;

static int64_t down(nova_context *context, int64_t depth)
{
    volatile char space[200];
    space[depth % 200] = 1;
    if (!NOVA_STACK_LEFT(context))
        nova_fail(context, NOVA_ERROR_PROGRAM, "a.nova:2:3: recursion too deep");
    return depth == 0 ? 0 : down(context, depth - 1) + space[depth % 200];
}

static void recur(nova_context *context, int64_t chunk, void *environment)
{
    depths *d = (depths *)environment;
    d->reached[chunk] = down(context, chunk == CHUNKS - 1 ? d->wanted : 1000);
}

static void recur_everywhere(nova_context *context, void *call)
{
    nova_parallel(context, CHUNKS, recur, call);
}

static void recursion_is_bounded(void)
{
    static depths d;
    char message[NOVA_MESSAGE_SIZE] = "";
    d.wanted = 100000;
    CHECK(nova_call_deep(recur_everywhere, &d, message) == 0);
    CHECK(d.reached[0] == 1000 && d.reached[CHUNKS - 1] == 100000);
    d.wanted = INT64_MAX;
    CHECK(nova_call_deep(recur_everywhere, &d, message) == NOVA_ERROR_PROGRAM);
    CHECK(strcmp(message, "a.nova:2:3: recursion too deep") == 0);
}

int main(void)
{
    static const int threads[] = {1, 2, 3, 16};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        use_threads(threads[i]);
        NOVA_STORE(&requests_left, MANY, NOVA_RELAXED);
        the_lowest_error_wins();
        errors_leave_nested_regions();
        if (threads[i] > 1)
            the_order_of_failures_is_nothing();
        memory_runs_out();
        blocks_are_handed_over();
        if (!WATCHED_THREADS)
            recursion_is_bounded(); /* ThreadSanitizer has no room for so many calls */
    }
    return 0;
}
