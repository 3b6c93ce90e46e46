/* Arrays that the threads of a kernel keep, as the host sees them: a table and memory for all of them,
 * which the host makes larger where a kernel finds it too small. */
#ifndef NOVA_PIECES_H
#define NOVA_PIECES_H

#include "mirrors.h"

/* Words of 8 bytes that a table has first, and for each iteration, and at most: a kernel counts them
 * in 32 bits. */
#define NOVA_PIECE_WORDS 8192
#define NOVA_PIECE_WORDS_EACH 8
#define NOVA_MOST_PIECE_WORDS ((int64_t)1 << 31)

/* The pieces of a loop. */
typedef struct nova_pieces {
    nova_block *table_block, *words_block;
    int64_t *table; /* the words taken, and where the array of each iteration begins */
    int64_t *words;
    int64_t capacity; /* in words */
} nova_pieces;

/* Room for the arrays that the count iterations of a kernel keep. */
static nova_block *nova_expect_kept(nova_context *context, int64_t count, const char *place)
{
    nova_block *block;
    nova_pieces *pieces =
        (nova_pieces *)nova_allocate(context, &block, 1, sizeof(nova_pieces), place);
    pieces->capacity = count < (NOVA_MOST_PIECE_WORDS - NOVA_PIECE_WORDS) / NOVA_PIECE_WORDS_EACH
                           ? NOVA_PIECE_WORDS + count * NOVA_PIECE_WORDS_EACH
                           : NOVA_MOST_PIECE_WORDS;
    size_t size = sizeof(int64_t);
    int64_t entries = count < 0 ? 1 : count < INT64_MAX ? count + 1 : count;
    pieces->table = (int64_t *)nova_allocate(context, &pieces->table_block, entries, size, place);
    pieces->words =
        (int64_t *)nova_allocate(context, &pieces->words_block, pieces->capacity, size, place);
    nova_fresh(context, pieces->table);
    nova_fresh(context, pieces->words);
    return block;
}

/* Makes room for more words; nothing that has been kept is left. */
static void nova_expect_more(nova_context *context, nova_pieces *pieces, int64_t words)
{
    int64_t most = NOVA_MOST_PIECE_WORDS;
    int64_t wanted = words < most / 4 ? words * 4 : most;
    if (words > most)
        nova_fail_memory(context, NULL);
    nova_release(context, pieces->words_block);
    pieces->capacity = wanted;
    pieces->words = (int64_t *)nova_allocate(context, &pieces->words_block, wanted,
                                             sizeof(int64_t), NULL);
    nova_fresh(context, pieces->words);
}

/* Prepares the table for a kernel whose iterations keep arrays. */
static void nova_forget_pieces(nova_context *context, nova_pieces *pieces)
{
    int64_t none = 0;
    nova_mirror *table = nova_on_device(context, pieces->table, true);
    nova_device_write(context, table->memory, 0, &none, sizeof none);
    nova_on_device(context, pieces->words, true);
}

/* The first element of the array that an iteration has kept, for the host. */
static const void *nova_kept_piece(nova_context *context, nova_block *block, int64_t index)
{
    nova_pieces *pieces = (nova_pieces *)block->data;
    nova_on_host(context, pieces->table, false);
    return pieces->words + pieces->table[1 + index];
}

/* Frees the pieces. */
static void nova_drop_kept(nova_context *context, nova_block *block)
{
    nova_pieces *pieces = (nova_pieces *)block->data;
    nova_release(context, pieces->table_block);
    nova_release(context, pieces->words_block);
    nova_release(context, block);
}

#endif
