/* Kernels whose threads take memory, on a device that is host memory apart: a kernel that has too little
 * runs again with more, and finds all that it changes as it was before. */
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

#include "../device/mirrors.h"
#include "../common/blocks.h"
#include "../common/call.h"
#include "../device/arguments.h"

enum { COUNT = 10 };

/* How often the kernel has run, and what its threads and pieces need. */
static int runs;
static int64_t needs_slice, needs_words;
static nova_threads last;

static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    nova_fail(context, NOVA_ERROR_PROGRAM, "site %d: %d, %d", (int)site, (int)first, (int)second);
}

typedef int nova_kernel;

/* The kernel: x[i] += 1 in place, y[i] = x[i], and 3 at the start of the pieces, but it fails half-way
 * without memory. */
static void nova_enqueue(nova_context *context, nova_kernel number, int64_t count,
                         nova_threads threads, const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    nova_failure failure = {1, number, 0, 0};
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
        } else if (i == COUNT / 2 && arguments[2].pieces->capacity < needs_words) {
            failure.site = NOVA_PIECES_ARE_FULL;
            failure.second = needs_words;
        } else if (i != COUNT / 2 || number < 0) {
            x[i] += 1;
            y[i] = x[i];
            continue;
        }
        memcpy(session->failure, &failure, sizeof failure);
        session->may_have_failed = true;
        return;
    }
    nova_mirror *words = nova_find_mirror(session, arguments[2].pieces->words);
    ((int64_t *)words->memory)[0] = 3;
}

#include "../device/kernels.h"

static int64_t number_of_kernel;

static void body(nova_context *context, void *argument)
{
    nova_block *x_block, *y_block, *pieces;
    int *x = (int *)nova_allocate(context, &x_block, COUNT, sizeof(int), NULL);
    int *y = (int *)nova_allocate(context, &y_block, COUNT, sizeof(int), NULL);
    nova_fresh(context, y);
    (void)argument;
    for (int i = 0; i < COUNT; i++)
        x[i] = 10 * i;
    pieces = nova_expect_kept(context, COUNT, NULL);
    nova_argument arguments[] = {
        nova_array(context, x, sizeof(int), true),
        nova_array(context, y, sizeof(int), true),
        nova_pieces_of(context, pieces),
    };
    CHECK(arguments[0].changed != NULL && arguments[1].changed == NULL);
    runs = 0;
    nova_launch_with_memory(context, (int)number_of_kernel, COUNT, arguments, 3);
    nova_on_host(context, x, false);
    nova_on_host(context, y, false);
    for (int i = 0; i < COUNT; i++)
        CHECK(x[i] == 10 * i + 1 && y[i] == x[i]);
    const int64_t *words = ((nova_pieces *)pieces->data)->words;
    nova_on_host(context, words, false);
    CHECK(words[0] == 3);
    nova_drop_kept(context, pieces);
    nova_release(context, x_block);
    nova_release(context, y_block);
}

/* What a call gives, with a device of so much memory. */
static int call(uint64_t most, char *message)
{
    nova_device device = {most};
    nova_device_call call = {&device, body, NULL};
    nova_context context;
    message[0] = '\0';
    nova_open(&context, message);
    nova_try(&context, nova_with_device, &call);
    nova_close_blocks(&context);
    CHECK(allocated == 0);
    return context.code;
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
    /* Where memory is short, fewer threads have it. */
    needs_words = 0;
    CHECK(call(300000, message) == 0 && runs == 2 && last.count == 1);
    CHECK(call(1 << 16, message) == NOVA_ERROR_MEMORY);
    /* A check of the program fails, once memory is there. */
    number_of_kernel = 5;
    CHECK(call(1 << 22, message) == NOVA_ERROR_PROGRAM && strcmp(message, "site 5: 0, 0") == 0);
    CHECK(runs == 2);
    return 0;
}
