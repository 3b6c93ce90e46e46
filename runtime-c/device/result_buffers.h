/* Per-iteration result buffers of a kernel, as the host sees them: a table, and memory for all arrays
 * that the threads store. The host enlarges the memory if a kernel finds it too small. */
#ifndef NOVA_RESULT_BUFFERS_H
#define NOVA_RESULT_BUFFERS_H

#include "buffer_pairs.h"

/* The number of words of 8 bytes of a table at first, in addition for each iteration, and at most: a
 * kernel counts them in 32 bits. */
#define NOVA_RESULT_WORDS 8192
#define NOVA_RESULT_WORDS_EACH 8
#define NOVA_MOST_RESULT_WORDS ((int64_t)1 << 31)

/* The result buffers of a loop. */
typedef struct nova_result_buffers {
    nova_block *table_block, *words_block;
    int64_t *table; /* the number of words taken, and the start of the array of each iteration */
    int64_t *words;
    int64_t capacity; /* in words */
} nova_result_buffers;

/* Makes room for the arrays that count iterations of a kernel store. */
static nova_block *nova_make_kernel_result_buffers(nova_context *context, int64_t count,
                                                   const char *place)
{
    nova_block *block;
    nova_result_buffers *buffers =
        (nova_result_buffers *)nova_allocate(context, &block, 1, sizeof(nova_result_buffers), place);
    buffers->capacity = count < (NOVA_MOST_RESULT_WORDS - NOVA_RESULT_WORDS) / NOVA_RESULT_WORDS_EACH
                            ? NOVA_RESULT_WORDS + count * NOVA_RESULT_WORDS_EACH
                            : NOVA_MOST_RESULT_WORDS;
    size_t size = sizeof(int64_t);
    int64_t entries = count < 0 ? 1 : count < INT64_MAX ? count + 1 : count;
    buffers->table = (int64_t *)nova_allocate(context, &buffers->table_block, entries, size, place);
    buffers->words =
        (int64_t *)nova_allocate(context, &buffers->words_block, buffers->capacity, size, place);
    nova_fresh(context, buffers->table);
    nova_fresh(context, buffers->words);
    return block;
}

/* Makes room for more words; what has been stored is lost. */
static void nova_expect_more(nova_context *context, nova_result_buffers *buffers, int64_t words)
{
    int64_t most = NOVA_MOST_RESULT_WORDS;
    int64_t wanted = words < most / 4 ? words * 4 : most;
    if (words > most)
        nova_fail_memory(context, NULL);
    nova_release(context, buffers->words_block);
    buffers->capacity = wanted;
    buffers->words = (int64_t *)nova_allocate(context, &buffers->words_block, wanted,
                                              sizeof(int64_t), NULL);
    nova_fresh(context, buffers->words);
}

/* Prepares the table for a kernel whose iterations store arrays. */
static void nova_clear_result_buffers(nova_context *context, nova_result_buffers *buffers)
{
    int64_t none = 0;
    nova_buffer_pair *table = nova_on_device(context, buffers->table, true);
    nova_device_write(context, table->memory, 0, &none, sizeof none);
    nova_on_device(context, buffers->words, true);
}

/* The first element of the result buffer of an iteration, for the host. */
static const void *nova_kernel_result_buffer(nova_context *context, nova_block *block, int64_t index)
{
    nova_result_buffers *buffers = (nova_result_buffers *)block->data;
    nova_on_host(context, buffers->table, false);
    return buffers->words + buffers->table[1 + index];
}

/* Frees the result buffers. */
static void nova_drop_kernel_result_buffers(nova_context *context, nova_block *block)
{
    nova_result_buffers *buffers = (nova_result_buffers *)block->data;
    nova_release(context, buffers->table_block);
    nova_release(context, buffers->words_block);
    nova_release(context, block);
}

#endif
