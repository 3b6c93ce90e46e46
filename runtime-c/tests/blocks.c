/* Tests of blocks: counted, reused, freed after an error, given after success. */
#include "../common/arguments.h"
#include "../common/call.h"
#include "test.h"

typedef struct call {
    int64_t count;
    bool fails;
    float *result;
} call;

/* Makes many blocks, releases some, gives one. */
static void body(nova_context *context, void *argument)
{
    call *c = (call *)argument;
    nova_block *kept = NULL;
    float *data = (float *)nova_allocate(context, &kept, c->count, sizeof(float), "a.nova:1:1");
    CHECK(c->count < 1024 || (uintptr_t)data % 64 == 0);
    for (int64_t i = 0; i < c->count; i++)
        data[i] = (float)i;
    for (int i = 0; i < 300; i++) {
        nova_block *block;
        void *p = nova_allocate(context, &block, i, 3, NULL);
        CHECK(p != NULL && block->references == 1);
        nova_retain(block);
        nova_release(context, block);
        if (i % 3 != 0)
            nova_release(context, block);
    }
    nova_release(context, NULL);
    nova_retain(NULL);

    nova_block *grown = NULL;
    int64_t *numbers = NULL;
    for (int64_t i = 0; i < 1000; i++) {
        numbers = (int64_t *)nova_reserve(context, &grown, i, i + 1, sizeof(int64_t), NULL);
        numbers[i] = i * i;
    }
    for (int64_t i = 0; i < 1000; i++)
        CHECK(numbers[i] == i * i);

    nova_block *sole = NULL;
    int64_t *own = (int64_t *)nova_unique(context, &sole, numbers, 10, sizeof(int64_t), NULL);
    CHECK(own != numbers && sole->references == 1 && own[9] == 81);
    CHECK(nova_unique(context, &sole, own, 10, sizeof(int64_t), NULL) == own);
    nova_block *other = sole;
    nova_retain(other);
    int64_t *last = (int64_t *)nova_unique(context, &sole, own + 9, 1, sizeof(int64_t), NULL);
    CHECK(sole != other && other->references == 1 && *last == 81);
    nova_release(context, other);

    nova_retain(kept);
    float *copy = (float *)nova_give(context, data, kept, c->count, sizeof(float));
    CHECK(copy != data && (c->count == 0 || copy[c->count - 1] == data[c->count - 1]));
    float *same = (float *)nova_give(context, data, kept, c->count, sizeof(float));
    CHECK(same == data);
    if (c->fails)
        nova_fail(context, NOVA_ERROR_PROGRAM, "%s: no", "a.nova:1:1");
    free(copy);
    for (nova_slab *slab = context->slabs; slab != NULL; slab = slab->next)
        for (int i = 0; i < slab->used; i++)
            if (slab->blocks[i].data == copy)
                slab->blocks[i].data = NULL;
    c->result = same;
}

/* A large block that is released is the next one of its size, and does not disturb blocks of other
 * sizes. */
static void alternate(nova_context *context, void *argument)
{
    (void)argument;
    nova_block *state = NULL;
    char *data = (char *)nova_allocate(context, &state, NOVA_SPARE_FROM, 1, NULL);
    char *first = data, *second = NULL;
    for (int iteration = 0; iteration < 100; iteration++) {
        nova_block *next = NULL;
        char *made = (char *)nova_allocate(context, &next, NOVA_SPARE_FROM, 1, NULL);
        made[NOVA_SPARE_FROM - 1] = data[0] = (char)iteration;
        second = iteration == 0 ? made : second;
        CHECK(made == (iteration % 2 == 0 ? second : first) && next->references == 1);
        CHECK(context->spare_count == 0);
        nova_release(context, state);
        CHECK(context->spare_count == 1);
        state = next;
        data = made;
    }
    nova_block *small = NULL, *other = NULL;
    nova_allocate(context, &small, NOVA_SPARE_FROM - 1, 1, NULL);
    CHECK(context->spare_count == 1);
    nova_allocate(context, &other, NOVA_SPARE_FROM + 1, 1, NULL);
    CHECK(context->spare_count == 0);
    nova_release(context, small);
    CHECK(context->spare_count == 0);
    nova_release(context, other);
    nova_release(context, state);
    CHECK(context->spare_count == 2);
    nova_block *many[2 * NOVA_SPARES];
    for (int i = 0; i < 2 * NOVA_SPARES; i++)
        nova_allocate(context, &many[i], NOVA_SPARE_FROM / 8 + i, 8, NULL);
    for (int i = 0; i < 2 * NOVA_SPARES; i++)
        nova_release(context, many[i]);
    CHECK(context->spare_count == NOVA_SPARES);
}

/* Blocks of several sizes that each iteration makes and releases are used again in the next one. */
static void several_sizes(nova_context *context, void *argument)
{
    (void)argument;
    size_t most = 0;
    for (int iteration = 0; iteration < 3; iteration++) {
        nova_block *blocks[6];
        int spares = context->spare_count;
        CHECK(spares == (iteration == 0 ? 0 : 6));
        for (int i = 0; i < 6; i++) {
            nova_allocate(context, &blocks[i], NOVA_SPARE_FROM * (1 + i % 2), 1, NULL);
            CHECK(context->spare_count == (iteration == 0 ? 0 : 5 - i));
        }
        for (int i = 0; i < 6; i++)
            nova_release(context, blocks[i]);
        most = iteration == 0 ? context->most_bytes : most;
        CHECK(context->most_bytes == most && context->used_bytes == 0);
        CHECK(context->spare_bytes == most);
    }
    nova_block *large = NULL;
    nova_allocate(context, &large, 2 * (int64_t)most, 1, NULL);
    CHECK(context->spare_count == 0 && context->spare_bytes == 0);
    nova_release(context, large);
}

/* Small blocks are used again for exactly their size, the oldest is given up, and blocks of no known size never. */
static void small_sizes(nova_context *context, void *argument)
{
    (void)argument;
    nova_block *blocks[NOVA_SMALL_SPARES + 1];
    for (int i = 0; i <= NOVA_SMALL_SPARES; i++)
        nova_allocate(context, &blocks[i], 8 + i, 1, NULL);
    void *second = blocks[1]->data;
    for (int i = 0; i <= NOVA_SMALL_SPARES; i++)
        nova_release(context, blocks[i]);
    CHECK(nova_take_small_spare(context, 8) == NULL);
    nova_block *again = NULL;
    CHECK(nova_allocate(context, &again, 9, 1, NULL) == second && again->references == 1);
    nova_release(context, again);
    nova_release(context, nova_adopt(context, malloc(100), 0, NULL));
    nova_release(context, nova_adopt(context, NULL, 0, NULL));
    CHECK(nova_take_small_spare(context, 0) == NULL);
    CHECK(nova_allocate(context, &again, 0, 1, NULL) != NULL);
    nova_release(context, again);
}

/* The rows of a vector of vectors: small ones without headers, and large ones. */
typedef struct given {
    int64_t count;
    bool fails;
    void *rows[2 * NOVA_ROWS_SIZE + 1];
} given;

static void give_rows(nova_context *context, void *argument)
{
    given *g = (given *)argument;
    const char text[] = "row";
    for (int64_t i = 0; i < g->count; i++) {
        int64_t length = i % 100 == 99 ? NOVA_ALIGN_FROM + i : i % 7;
        char *row = (char *)nova_allocate_result(context, length, 1);
        if (length > 0)
            row[length - 1] = (char)i;
        char *copy = (char *)nova_give_copy(context, text, (int64_t)sizeof text, 1);
        CHECK(strcmp(copy, text) == 0);
        g->rows[i] = i % 2 == 0 ? row : copy;
        if (!g->fails)
            free(i % 2 == 0 ? copy : row);
    }
    if (g->fails)
        nova_fail(context, NOVA_ERROR_PROGRAM, "%s: no", "a.nova:1:1");
}

static void rows(int64_t count)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    given g;
    g.count = count;
    g.fails = false;
    CHECK(nova_call(give_rows, &g, message) == 0);
    for (int64_t i = 0; i < count; i++)
        free(g.rows[i]);
    g.fails = true;
    CHECK(nova_call(give_rows, &g, message) == NOVA_ERROR_PROGRAM);
}

int main(void)
{
    rows(0);
    rows(1);
    rows(NOVA_ROWS_SIZE / 2);
    rows(2 * NOVA_ROWS_SIZE + 1);
    char message[NOVA_MESSAGE_SIZE] = "";
    CHECK(nova_call(alternate, NULL, message) == 0);
    CHECK(nova_call(several_sizes, NULL, message) == 0);
    CHECK(nova_call(small_sizes, NULL, message) == 0);
    for (int64_t count = 0; count <= 4096; count = 4 * count + 1) {
        call c = {count, false, NULL};
        CHECK(nova_call(body, &c, message) == 0 && c.result != NULL);
        free(c.result);
        c.fails = true;
        CHECK(nova_call(body, &c, message) == NOVA_ERROR_PROGRAM);
        CHECK(strcmp(message, "a.nova:1:1: no") == 0);
        CHECK(nova_call_deep(body, &c, message) == NOVA_ERROR_PROGRAM);
    }
    call huge = {INT64_MAX / 2, false, NULL};
    CHECK(nova_call(body, &huge, message) == NOVA_ERROR_MEMORY);
    CHECK(strcmp(message, "a.nova:1:1: out of memory") == 0);
    huge.count = -1;
    CHECK(nova_call(body, &huge, message) == NOVA_ERROR_MEMORY);
    return 0;
}
