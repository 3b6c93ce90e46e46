/* Tests of host and device buffers, on a device that is separate host memory. For any order of
 * operations of the host, of kernels and of copies, each side sees what was written last. */
#include "fake_device.h"
/* For some arrays it pays to read single elements. */
#define NOVA_BYTES_OF_A_WAIT ((size_t)32)
#include "../device/buffer_pairs.h"
#include "../common/call.h"
#include "../device/callers.h"

static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    nova_fail(context, NOVA_ERROR_PROGRAM, "site %d: %d, %d", (int)site, (int)first, (int)second);
}

enum { ARRAYS = 40, MOST = 64 };

/* An array, and its expected elements. */
typedef struct array {
    int *data; /* null if there is none */
    int count;
    int expected[MOST];
} array;

static uint32_t state = 1;

static int below(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

/* The elements as a kernel sees them. */
static int *on_device(nova_context *context, array *a, bool writes)
{
    int at = below(a->count);
    nova_buffer_pair *pair = nova_on_device(context, a->data + at, writes);
    CHECK(pair != NULL && pair->start == (uintptr_t)a->data);
    return (int *)pair->memory;
}

/* Makes a new array that one side has filled. */
static void make(nova_context *context, array *a)
{
    a->count = 1 + below(MOST);
    a->data = (int *)nova_memory(context, (size_t)a->count * sizeof(int));
    CHECK(a->data != NULL);
    nova_fresh(context, a->data);
    int before = written;
    int *place = a->data;
    if (below(2) == 0)
        place = on_device(context, a, true);
    else
        nova_on_host(context, a->data, true);
    CHECK(written == before); /* there was nothing to copy */
    for (int i = 0; i < a->count; i++)
        place[i] = a->expected[i] = below(1000);
}

/* A random operation on an array. */
static void step(nova_context *context, array *arrays)
{
    array *a = &arrays[below(ARRAYS)], *b = &arrays[below(ARRAYS)];
    if (a->data == NULL) {
        make(context, a);
        return;
    }
    int i = below(a->count), j = below(a->count), value = below(1000);
    int *place = a->data;
    switch (below(9)) {
    case 0:
        nova_on_host(context, a->data + i, false);
        CHECK(memcmp(a->data, a->expected, (size_t)a->count * sizeof(int)) == 0);
        break;
    case 1:
        place = on_device(context, a, false);
        CHECK(memcmp(place, a->expected, (size_t)a->count * sizeof(int)) == 0);
        break;
    case 2:
        nova_on_host(context, a->data + i, true);
        a->data[i] = a->expected[i] = value;
        break;
    case 3:
        place = on_device(context, a, true);
        place[i] = a->expected[i] = value;
        break;
    case 4:
        nova_element_on_host(context, a->data + i, j - i, sizeof(int));
        CHECK(a->data[j] == a->expected[j]);
        break;
    case 5:
        a->data[j] = a->expected[j] = value;
        nova_element_written(context, a->data + i, j - i, sizeof(int));
        break;
    case 6:
    case 7:
        if (b->data != NULL && b != a) {
            int count = below((a->count < b->count ? a->count : b->count) + 1);
            int to = below(a->count - count + 1), from = below(b->count - count + 1);
            nova_copy_arrays(context, a->data + to, b->data + from, count, sizeof(int));
            memcpy(a->expected + to, b->expected + from, (size_t)count * sizeof(int));
        }
        break;
    default:
        nova_free_memory(context, a->data);
        a->data = NULL;
    }
}

static void random_steps(nova_context *context, void *argument)
{
    array *arrays = (array *)argument;
    for (int k = 0; k < 200000; k++)
        step(context, arrays);
    for (int k = 0; k < ARRAYS; k++)
        nova_free_memory(context, arrays[k].data);
    CHECK(context->session->buffer_pairs == NULL && allocated == 0);
}

/* An element that is read is copied once, and arguments that overlap are one array. */
static void lent(nova_context *context, void *argument)
{
    int *numbers = (int *)argument;
    nova_lend(context, numbers + 2, 4, sizeof(int));
    nova_lend(context, numbers + 10, 2, sizeof(int));
    nova_lend(context, numbers + 4, 4, sizeof(int));
    nova_lend(context, numbers + 4, 0, sizeof(int));
    nova_lend(context, NULL, 0, sizeof(int));
    nova_buffer_pair *first = nova_find_buffer_pair(context->session, numbers + 2);
    CHECK(first != NULL && first == nova_find_buffer_pair(context->session, numbers + 7));
    CHECK(first->bytes == 6 * sizeof(int));
    CHECK(nova_find_buffer_pair(context->session, numbers + 8) == NULL);
    CHECK(nova_find_buffer_pair(context->session, numbers + 1) == NULL);
    int before = written;
    nova_on_device(context, numbers + 3, false);
    nova_on_device(context, numbers + 6, false);
    nova_on_host(context, numbers + 3, false);
    nova_on_device(context, numbers + 3, false);
    CHECK(written == before + 1);
    CHECK(nova_on_device(context, &before, false) == NULL);
    nova_lend(context, numbers, 12, sizeof(int));
}

/* Arrays that a caller has on the device stay there: nothing is copied to the host or back. */
static void on_the_device(nova_context *context, void *argument)
{
    char *memory = (char *)argument, *buffer = memory + 16 * sizeof(int);
    int before_reads = reads, before_written = written, before_allocated = allocated;
    context->session->lent = true;
    const int *name = (const int *)nova_lend_on_device(context, "X", memory, 16, sizeof(int), false);
    nova_lend(context, name, 16, sizeof(int));
    nova_lend(context, name + 3, 4, sizeof(int));
    nova_buffer_pair *pair = nova_on_device(context, name + 5, false);
    CHECK(pair != NULL && pair->memory == memory && pair->bytes == 16 * sizeof(int));
    CHECK(nova_lend_on_device(context, "Y", NULL, 0, sizeof(int), true) == NULL);
    /* A kernel makes the result, which is copied into the buffer and transferred to the caller. */
    nova_block *block;
    int *made = (int *)nova_fresh(context, nova_allocate(context, &block, 8, sizeof(int), NULL));
    int *place = (int *)nova_on_device(context, made, true)->memory;
    for (int i = 0; i < 8; i++)
        place[i] = i;
    int *room = (int *)nova_room_on_device(context, buffer, 10, sizeof(int), false);
    nova_bring_result(context, made);
    CHECK(nova_put(context, room, made, block, 8, sizeof(int)) == room);
    nova_settle_result(context, room, 8, sizeof(int));
    CHECK(((int *)buffer)[7] == 7 && nova_hand_over(context, room, buffer) == buffer);
    CHECK(nova_give(context, made, block, 8, sizeof(int)) == made);
    nova_settle_result(context, made, 8, sizeof(int));
    CHECK(nova_hand_over(context, made, NULL) == place);
    free(place);
    allocated--;
    CHECK(nova_room_on_device(context, NULL, 10, sizeof(int), false) == NULL);
    CHECK(reads == before_reads && written == before_written && allocated == before_allocated);
    /* Elements for the host are copied: those that it reads, and those that it makes itself. */
    const int *taken =
        (const int *)nova_lend_on_device(context, "X", memory, 2, sizeof(int), true);
    CHECK(reads == before_reads + 1 && taken[1] == 1);
    int *structures = (int *)nova_room_on_device(context, buffer, 4, sizeof(int), true);
    structures[0] = 70;
    nova_settle_result(context, structures, 1, sizeof(int));
    CHECK(((int *)buffer)[0] == 70 && ((int *)buffer)[1] == 1 && written == before_written + 1);
}

/* A failure that a kernel has left is reported when its results are asked for, and once. */
static void failed(nova_context *context, void *argument)
{
    nova_failure *failure = (nova_failure *)argument;
    nova_check_kernels(context);
    context->session->failure = (char *)failure;
    nova_check_kernels(context);
    context->session->may_have_failed = true;
    nova_check_kernels(context);
    CHECK(!"it has failed");
}

/* Runs a body with a session; returns the code of its error. */
static int run(nova_body body, void *argument, char *message)
{
    nova_session session;
    nova_context context;
    memset(&session, 0, sizeof session);
    session.random = 88172645463325252u;
    nova_open(&context, message);
    context.session = &session;
    nova_try(&context, body, argument);
    while (session.buffer_pairs != NULL)
        nova_drop_buffer_pair(&session, (const void *)session.buffer_pairs->start);
    context.session = NULL;
    nova_close_blocks(&context);
    return context.code;
}

int main(void)
{
    static array arrays[ARRAYS];
    char message[NOVA_MESSAGE_SIZE] = "";
    int numbers[12] = {0};
    nova_failure failure = {1, 7, 3, 4};
    CHECK(run(random_steps, arrays, message) == 0);
    CHECK(run(lent, numbers, message) == 0 && allocated == 0);
    int memory[32] = {0, 1};
    CHECK(run(on_the_device, memory, message) == 0 && allocated == 0);
    CHECK(run(failed, &failure, message) == NOVA_ERROR_PROGRAM);
    CHECK(strcmp(message, "site 7: 3, 4") == 0);
    CHECK(reads > 0);
    return 0;
}
