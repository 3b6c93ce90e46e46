/* Tests of kernels whose threads take memory or append nodes, on a device that is separate host memory.
 * A kernel that has too little runs again with more, and finds all that it changes restored. */
#include "fake_device.h"

#define NOVA_BLOCK_SIZE 4
#define NOVA_MAX_BLOCKS 8

typedef struct nova_device {
    uint64_t most;
} nova_device;

static void nova_open_queue(nova_context *context, nova_session *session)
{
    (void)context;
    (void)session;
}

static void nova_use_queue(nova_context *context, nova_session *session, void *stream)
{
    (void)stream;
    nova_open_queue(context, session);
}

static void nova_close_queue(nova_session *session)
{
    (void)session;
}

static size_t nova_most_local_memory(const nova_device *device)
{
    (void)device;
    return 0;
}

static uint64_t nova_most_memory(const nova_device *device)
{
    return device->most;
}

#include "../device/buffer_pairs.h"
#include "../common/blocks.h"
#include "../common/call.h"
#include "../device/arguments.h"

enum { COUNT = 10 };

/* The number of runs of the kernel, and the needs of its threads and result buffers. */
static int runs;
static int64_t needs_slice, needs_words;
static nova_threads last;

static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    nova_fail(context, NOVA_ERROR_PROGRAM, "site %d: %d, %d", (int)site, (int)first, (int)second);
}

typedef int nova_kernel;

/* Nodes that each iteration appends. */
static int64_t needs_nodes;

/* A kernel that appends nodes to two tables, each with the number of the table and its own index. It
 * does not stop for lack of room. */
static void append(nova_session *session, const nova_argument *arguments)
{
    nova_failure failure = {0, 0, 0, 0};
    for (int table = 0; table < 2; table++) {
        nova_sent_nodes *sent = arguments[table].nodes;
        int64_t *next = (int64_t *)nova_find_buffer_pair(session, sent->next)->memory;
        int *nodes = (int *)nova_find_buffer_pair(session, (*sent->block)->data)->memory;
        int64_t capacity = nova_capacity_of_nodes(sent);
        for (int64_t i = 0; i < COUNT * needs_nodes; i++) {
            int64_t link = (*next)++;
            if (link < capacity) {
                nodes[link] = (int)(link * 2) + table;
            } else if (failure.taken == 0) {
                failure.taken = 1;
                failure.site = NOVA_NODES_ARE_FULL;
                failure.first = table;
                failure.second = link + 1;
            }
        }
    }
    memcpy(session->failure, &failure, sizeof failure);
}

/* The kernel: x[i] += 1 in place, y[i] = x[i], and 3 at the start of the result buffers. It fails
 * half-way without memory. */
static void nova_enqueue(nova_context *context, nova_kernel number, int64_t count,
                         nova_threads threads, const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    nova_failure failure = {1, number, 0, 0};
    if (arguments[0].kind == NOVA_GROWING_NODES) {
        runs++;
        append(session, arguments);
        return;
    }
    int *x = (int *)arguments[0].memory + arguments[0].offset;
    int *y = (int *)arguments[1].memory + arguments[1].offset;
    CHECK(argument_count == 3 && count == COUNT);
    CHECK(threads.count * (size_t)threads.slice <= session->heap_bytes);
    CHECK(threads.count % threads.block == 0);
    last = threads;
    runs++;
    for (int i = 0; i < COUNT; i++) {
        if (i == COUNT / 2 && threads.slice < needs_slice) {
            failure.site = NOVA_HEAP_IS_FULL;
            failure.first = needs_slice;
        } else if (i == COUNT / 2 && arguments[2].buffers->capacity < needs_words) {
            failure.site = NOVA_RESULT_BUFFERS_ARE_FULL;
            failure.second = needs_words;
        } else if (i != COUNT / 2 || number < 0) {
            x[i] += 1;
            y[i] = x[i];
            continue;
        }
        memcpy(session->failure, &failure, sizeof failure);
        return;
    }
    nova_buffer_pair *words = nova_find_buffer_pair(session, arguments[2].buffers->words);
    ((int64_t *)words->memory)[0] = 3;
}

#include "../device/kernels.h"

static int64_t number_of_kernel;

static void body(nova_context *context, void *argument)
{
    nova_block *x_block, *y_block, *buffers;
    int *x = (int *)nova_allocate(context, &x_block, COUNT, sizeof(int), NULL);
    int *y = (int *)nova_allocate(context, &y_block, COUNT, sizeof(int), NULL);
    nova_fresh(context, y);
    (void)argument;
    for (int i = 0; i < COUNT; i++)
        x[i] = 10 * i;
    buffers = nova_make_kernel_result_buffers(context, COUNT, NULL);
    nova_argument arguments[] = {
        nova_array(context, x, sizeof(int), true),
        nova_array(context, y, sizeof(int), true),
        nova_result_buffers_of(context, buffers),
    };
    CHECK(arguments[0].changed != NULL && arguments[1].changed == NULL);
    runs = 0;
    nova_launch_with_memory(context, (int)number_of_kernel, COUNT, arguments, 3);
    nova_on_host(context, x, false);
    nova_on_host(context, y, false);
    for (int i = 0; i < COUNT; i++)
        CHECK(x[i] == 10 * i + 1 && y[i] == x[i]);
    const int64_t *words = ((nova_result_buffers *)buffers->data)->words;
    nova_on_host(context, words, false);
    CHECK(words[0] == 3);
    nova_drop_kernel_result_buffers(context, buffers);
    nova_release(context, x_block);
    nova_release(context, y_block);
}

/* A table of nodes, as programs have them. */
typedef struct table {
    int *nodes;
    nova_block *block;
    int64_t count;
    nova_sent_nodes sent;
} table;

/* The host appends a node. */
static void add(nova_context *context, table *t, int number)
{
    t->nodes = (int *)nova_reserve(context, &t->block, t->count, t->count + 1, sizeof(int), NULL);
    t->nodes[t->count] = (int)(t->count * 2) + number;
    t->count++;
}

/* Kernels and the host append to two tables alternately. */
static void grow(nova_context *context, void *argument)
{
    table tables[2];
    int64_t before = 0;
    (void)argument;
    memset(tables, 0, sizeof tables);
    add(context, &tables[1], 1);
    for (int iteration = 0; iteration < 4; iteration++) {
        nova_argument arguments[2];
        for (int k = 0; k < 2; k++)
            arguments[k] = nova_growing_table(&tables[k].sent, &tables[k].block,
                                              &tables[k].count, sizeof(int));
        nova_launch_with_nodes(context, 0, 0, false, arguments, 2);
        CHECK(tables[1].count == tables[0].count + 1);
        nova_launch_with_nodes(context, 0, COUNT, iteration % 2 == 1, arguments, 2);
        before += COUNT * needs_nodes;
        for (int k = 0; k < 2; k++) {
            tables[k].nodes = (int *)nova_nodes_of(tables[k].block);
            CHECK(tables[k].count == before + k);
            for (int64_t i = 0; i < tables[k].count; i++)
                CHECK(tables[k].nodes[i] == (int)(i * 2) + k);
            add(context, &tables[k], k);
        }
        before++;
        /* The device has all nodes but the last one. */
        written = 0;
        nova_send_nodes(context, &tables[1].sent, tables[1].nodes, tables[1].count, sizeof(int));
        nova_send_nodes(context, &tables[1].sent, tables[1].nodes, tables[1].count, sizeof(int));
        CHECK(written <= 1);
        const int *there = (const int *)nova_find_buffer_pair(context->session, tables[1].nodes)->memory;
        CHECK(there[0] == 1 && there[tables[1].count - 1] == (int)(tables[1].count * 2) - 1);
    }
    for (int k = 0; k < 2; k++) {
        nova_release(context, tables[k].block);
        nova_release(context, tables[k].sent.next_block);
    }
}

/* Runs a call on a device with this much memory; returns its code. */
static int run_call(nova_body run, uint64_t most, char *message)
{
    nova_device device = {most};
    nova_device_call call = {&device, run, NULL, true, false, NULL};
    nova_context context;
    message[0] = '\0';
    nova_open(&context, message);
    nova_try(&context, nova_with_device, &call);
    nova_close_blocks(&context);
    CHECK(allocated == 0);
    return context.code;
}

static int call(uint64_t most, char *message)
{
    return run_call(body, most, message);
}

int main(void)
{
    char message[NOVA_MESSAGE_SIZE];
    number_of_kernel = -3; /* no check fails */
    needs_slice = needs_words = 0;
    CHECK(call(1 << 20, message) == 0 && runs == 1);
    needs_slice = 100000;
    CHECK(call(1 << 22, message) == 0 && runs == 2 && last.slice >= 100000);
    needs_words = 1000000;
    CHECK(call(1 << 22, message) == 0 && runs == 3 && last.slice >= 100000);
    /* If memory is short, fewer threads have some. */
    needs_words = 0;
    CHECK(call(300000, message) == 0 && runs == 2 && last.count == 1);
    CHECK(call(1 << 16, message) == NOVA_ERROR_MEMORY);
    /* A check of the program fails after there is memory. */
    number_of_kernel = 5;
    CHECK(call(1 << 22, message) == NOVA_ERROR_PROGRAM && strcmp(message, "site 5: 0, 0") == 0);
    CHECK(runs == 2);
    /* Nodes: none, some, and so many that a kernel runs again, once or twice, for each table. */
    runs = 0;
    needs_nodes = 0;
    CHECK(run_call(grow, 1 << 22, message) == 0 && runs == 4);
    runs = 0;
    needs_nodes = 3;
    CHECK(run_call(grow, 1 << 22, message) == 0 && runs == 4);
    runs = 0;
    needs_nodes = 5000;
    CHECK(run_call(grow, 1 << 22, message) == 0 && runs > 6 && runs < 20);
    return 0;
}
