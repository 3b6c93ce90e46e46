/* Tests of the memory of a thread in a kernel. Arrays come and go in random order, none overlaps
 * another one or leaves the slice, and a request that does not fit fails with the size that it needs.
 * The same holds for result buffers and nodes. */
#include <stdbool.h>
#include <stdint.h>

#define NOVA_GLOBAL
#define NOVA_IN_KERNELS static
#define NOVA_ANY_TYPE __attribute__((may_alias))
#define NOVA_THREAD 0
#define NOVA_READ_GLOBAL(at) (*(volatile uint32_t *)(at))
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_RESULT_BUFFERS_ARE_FULL (-2)
#define NOVA_NODES_ARE_FULL (-3)

typedef struct nova_context {
    bool failed;
    uint8_t *heap;
    int64_t size, used, free;
    int32_t site;
    int64_t first, second;
} nova_context;

static void nova_fail_at(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    context->failed = true;
    context->site = site;
    context->first = first;
    context->second = second;
}

/* What atomic operations of a device change may have been written as another type. */
typedef uint32_t NOVA_ANY_TYPE atomic_word;

static uint32_t nova_swap(volatile atomic_word *at, uint32_t old, uint32_t value)
{
    uint32_t seen = *at;
    if (seen == old)
        *at = value;
    return seen;
}
#define NOVA_COMPARE_AND_SWAP(at, old, value) nova_swap(at, old, value)

static uint32_t nova_add(volatile atomic_word *at, uint32_t value)
{
    uint32_t seen = *at;
    *at = seen + value;
    return seen;
}
#define NOVA_ADD_GLOBAL(at, value) nova_add(at, value)

#include "../device/heap.h"
#include "../device/new_nodes.h"
#include "test.h"

enum { SIZE = 1 << 16, ARRAYS = 24 };

static uint64_t random_state = 88172645463325252u;

static int64_t below(int64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % (uint64_t)limit);
}

typedef struct array {
    nova_device_block *block;
    int32_t *data;
    int64_t count, references;
    int32_t value;
} array;

static void check_array(const array *one, const nova_context *context)
{
    const uint8_t *begin = (const uint8_t *)one->data;
    CHECK(begin >= context->heap && begin + 4 * one->count <= context->heap + context->used);
    CHECK(((uintptr_t)begin - (uintptr_t)context->heap) % 16 == 0);
    for (int64_t i = 0; i < one->count; i++)
        CHECK(one->data[i] == one->value);
}

static void fill(array *one, int64_t from)
{
    for (int64_t i = from; i < one->count; i++)
        one->data[i] = one->value;
}

/* A random operation on one of several arrays. */
static void step(nova_context *context, array *one, int32_t value)
{
    int64_t kind = below(4);
    if (one->references == 0) {
        one->count = below(300);
        one->value = value;
        one->data = (int32_t *)nova_allocate_on_device(context, &one->block, one->count, 4);
        one->references = context->failed ? 0 : 1;
        if (!context->failed)
            fill(one, 0);
    } else if (kind == 0) {
        nova_retain_on_device(one->block);
        one->references++;
    } else if (kind == 1 && one->references == 1) {
        int64_t before = one->count, count = before + below(200);
        int32_t *data = (int32_t *)nova_reserve_on_device(context, &one->block, before, count, 4);
        if (context->failed) {
            one->references = 0;
            return;
        }
        one->data = data;
        one->count = count;
        fill(one, before);
    } else {
        nova_release_on_device(context, one->block);
        one->references--;
    }
}

static void come_and_go(void)
{
    static uint8_t heap[SIZE];
    nova_context context = {false, heap, SIZE, 0, -1, 0, 0, 0};
    for (int iteration = 0; iteration < 200; iteration++) {
        array arrays[ARRAYS];
        memset(arrays, 0, sizeof arrays);
        context.failed = false;
        nova_empty_heap(&context);
        for (int32_t k = 0; k < 400 && !context.failed; k++) {
            step(&context, &arrays[below(ARRAYS)], k);
            for (int a = 0; a < ARRAYS && !context.failed; a++)
                if (arrays[a].references > 0)
                    check_array(&arrays[a], &context);
        }
        CHECK(nova_slice(heap, SIZE) == heap && context.used >= 0 && context.used <= SIZE);
        if (context.failed)
            CHECK(context.site == NOVA_HEAP_IS_FULL && context.first > SIZE);
    }
}

static void released_memory_is_used_again(void)
{
    static uint8_t heap[4096];
    nova_context context = {false, heap, 4096, 0, -1, 0, 0, 0};
    nova_device_block *below_it, *block;
    CHECK(nova_allocate_on_device(&context, &below_it, 10, 8) != NULL);
    for (int iteration = 0; iteration < 1000; iteration++) {
        /* Another block above it stays, so that this one is not the last when it is released. */
        nova_device_block *above;
        CHECK(nova_allocate_on_device(&context, &block, 100 + iteration % 20, 8) != NULL);
        CHECK(nova_allocate_on_device(&context, &above, 2, 8) != NULL);
        nova_release_on_device(&context, block);
        nova_release_on_device(&context, above);
        nova_release_on_device(&context, NULL);
    }
    CHECK(!context.failed);
}

static void only_holders_write_in_place(void)
{
    static uint8_t heap[4096];
    nova_context context = {false, heap, 4096, 0, -1, 0, 0, 0};
    nova_device_block *first, *second;
    int64_t *data = (int64_t *)nova_allocate_on_device(&context, &first, 3, 8);
    data[0] = data[1] = data[2] = 7;
    second = first;
    nova_retain_on_device(second);
    int64_t *copy = (int64_t *)nova_unique_on_device(&context, &second, data, 3, 8);
    CHECK(copy != data && copy[2] == 7 && first != second && first->references == 1);
    CHECK(nova_unique_on_device(&context, &first, data, 3, 8) == data);
    /* Memory from outside the kernel has no counted block. */
    int64_t outside[2] = {4, 5};
    nova_device_block *none = NULL;
    copy = (int64_t *)nova_unique_on_device(&context, &none, outside, 2, 8);
    CHECK(copy != outside && copy[1] == 5 && none->references == 1);
}

static void failures_report_the_needed_size(void)
{
    static uint8_t heap[256];
    nova_context context = {false, heap, 256, 0, -1, 0, 0, 0};
    nova_device_block *block;
    CHECK(nova_allocate_on_device(&context, &block, 100, 8) == NULL && block == NULL);
    CHECK(context.failed && context.site == NOVA_HEAP_IS_FULL && context.first == 16 + 800);
    CHECK(nova_allocate_on_device(&context, &block, -1, 8) == NULL);
    CHECK(context.first == INT64_MAX);
    CHECK(nova_allocate_on_device(&context, &block, INT64_MAX / 8, 8) == NULL);
    CHECK(context.first == INT64_MAX);
}

static void result_buffers_lie_apart(void)
{
    int64_t table[5], words[8];
    nova_device_result_buffers buffers = {table, words, 8, 3};
    nova_context context = {false, NULL, 0, 0, -1, 0, 0, 0};
    uint8_t bytes[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    int64_t longs[6] = {10, 11, 12, 13, 14, 15};
    table[0] = 0;
    nova_store_on_device(&context, &buffers, 2, bytes, 9, 1);
    nova_store_on_device(&context, &buffers, 0, longs, 5, 8);
    nova_store_on_device(&context, &buffers, 1, bytes, 0, 1);
    CHECK(!context.failed && table[0] == 7);
    CHECK(memcmp(nova_result_buffer_on_device(&buffers, 2), bytes, 9) == 0);
    CHECK(memcmp(nova_result_buffer_on_device(&buffers, 0), longs, 40) == 0);
    CHECK(nova_result_buffer_on_device(&buffers, 1) == words);
    nova_store_on_device(&context, &buffers, 3, longs, 2, 8);
    CHECK(context.failed && context.site == NOVA_RESULT_BUFFERS_ARE_FULL);
    CHECK(context.first == 3 && context.second == 9 && table[0] == 7);
}

static void nodes_come_after_existing_ones(void)
{
    int64_t next = 2;
    int nodes[4];
    nova_device_nodes table = {nodes, &next, 4, 3};
    nova_context context = {false, NULL, 0, 0, -1, 0, 0, 0};
    CHECK(nova_new_node_on_device(&context, &table) == 2);
    CHECK(nova_new_node_on_device(&context, &table) == 3);
    CHECK(!context.failed && next == 4);
    nova_new_node_on_device(&context, &table);
    CHECK(context.failed && context.site == NOVA_NODES_ARE_FULL);
    CHECK(context.first == 3 && context.second == 5);
}

int main(void)
{
    come_and_go();
    released_memory_is_used_again();
    only_holders_write_in_place();
    failures_report_the_needed_size();
    result_buffers_lie_apart();
    nodes_come_after_existing_ones();
    return 0;
}
