/* Counted blocks of memory. */
#ifndef NOVA_BLOCKS_H
#define NOVA_BLOCKS_H

#include "errors.h"
#include "one_memory.h"
#include <stdlib.h>
#include <string.h>

/* The size of count elements in bytes. Does not return if no object can be so large. */
static size_t nova_bytes(nova_context *context, int64_t count, size_t size, const char *place)
{
    if (count < 0 || (uint64_t)count > (uint64_t)PTRDIFF_MAX / size)
        nova_fail_memory(context, place);
    return (size_t)count * size;
}

/* A header for data, with one reference; null if there is no memory for it. */
static nova_block *nova_new_header(nova_context *context, void *data, size_t bytes)
{
    nova_block *block = context->free_headers;
    if (block != NULL) {
        context->free_headers = block->next;
    } else {
        nova_slab *slab = context->slabs;
        if (slab->used == NOVA_SLAB_SIZE) {
            slab = (nova_slab *)malloc(sizeof(nova_slab));
            if (slab == NULL)
                return NULL;
            slab->used = 0;
            slab->next = context->slabs;
            context->slabs = slab;
        }
        block = &slab->blocks[slab->used++];
    }
    block->data = data;
    block->bytes = bytes;
    block->references = 1;
    block->given = false;
    block->next = NULL;
    return block;
}

/* Takes over memory that free() releases. */
static nova_block *nova_adopt(nova_context *context, void *data, size_t bytes, const char *place)
{
    nova_block *block = nova_new_header(context, data, bytes);
    if (block == NULL) {
        free(data);
        nova_fail_memory(context, place);
    }
    return block;
}

/* Frees the data of a block, and puts its header on the free list. */
static void nova_drop(nova_context *context, nova_block *block)
{
    nova_free_memory(context, block->data);
    block->data = NULL;
    block->next = context->free_headers;
    context->free_headers = block;
}

/* Takes a spare block, and leaves the others in their order. */
static nova_block *nova_remove_spare(nova_context *context, int at)
{
    nova_block *block = context->spares[at];
    context->spare_count--;
    for (int i = at; i < context->spare_count; i++)
        context->spares[i] = context->spares[i + 1];
    context->spare_bytes -= block->bytes;
    return block;
}

/* Counts bytes of a large block as used. */
static void nova_use(nova_context *context, size_t bytes)
{
    if (bytes < NOVA_SPARE_FROM)
        return;
    context->used_bytes += bytes;
    if (context->most_bytes < context->used_bytes)
        context->most_bytes = context->used_bytes;
}

/* A spare block as if it were new, with one reference. */
static nova_block *nova_renew(nova_context *context, nova_block *block)
{
    nova_renew_memory(context, block->data);
    block->references = 1;
    return block;
}

/* A small spare block of exactly this many bytes, with one reference; null if there is none. */
static nova_block *nova_take_small_spare(nova_context *context, size_t bytes)
{
    for (int i = 0; i < NOVA_SMALL_SPARES; i++) {
        nova_block *block = context->small_spares[i];
        if (block != NULL && block->bytes == bytes) {
            context->small_spares[i] = NULL;
            context->small_spare = i;
            return nova_renew(context, block);
        }
    }
    return NULL;
}

/* A spare block of exactly this many bytes, with one reference; null if there is none. */
static nova_block *nova_take_spare(nova_context *context, size_t bytes)
{
    if (bytes <= NOVA_SMALL_BYTES)
        return nova_take_small_spare(context, bytes);
    for (int i = context->spare_count - 1; i >= 0; i--) {
        if (context->spares[i]->bytes == bytes) {
            nova_use(context, bytes);
            return nova_renew(context, nova_remove_spare(context, i));
        }
    }
    return NULL;
}

/* Frees spare blocks, the oldest first, until they and a new block of this size are no more memory than was
 * used at a time. So they never prevent its allocation, and the peak memory stays the same. */
static void nova_make_way(nova_context *context, size_t bytes)
{
    size_t used = context->used_bytes + bytes;
    size_t most = used < context->most_bytes ? context->most_bytes : used;
    while (bytes >= NOVA_SPARE_FROM && context->spare_count > 0
           && context->spare_bytes > most - used)
        nova_drop(context, nova_remove_spare(context, 0));
}

/* Frees all spare blocks. Returns false if there were none. */
static bool nova_drop_spares(nova_context *context)
{
    if (context->spare_count == 0)
        return false;
    while (context->spare_count > 0)
        nova_drop(context, nova_remove_spare(context, context->spare_count - 1));
    return true;
}

/* Memory of this size; null if there is none. */
static void *nova_new_memory(nova_context *context, size_t bytes)
{
    nova_make_way(context, bytes);
    void *data = nova_memory(context, bytes);
    return data == NULL && nova_drop_spares(context) ? nova_memory(context, bytes) : data;
}

/* Allocates count elements of this size, uninitialised, in a new block with one reference. */
static void *nova_allocate(nova_context *context, nova_block **block, int64_t count, size_t size,
                           const char *place)
{
    size_t bytes = nova_bytes(context, count, size, place);
    nova_block *spare = nova_take_spare(context, bytes);
    if (spare != NULL) {
        *block = spare;
        return spare->data;
    }
    void *data = nova_new_memory(context, bytes);
    if (data == NULL)
        nova_fail_memory(context, place);
    nova_use(context, bytes);
    *block = nova_adopt(context, data, bytes, place);
    return data;
}

/* Adds a reference. */
static inline void nova_retain(nova_block *block)
{
    if (block != NULL)
        block->references++;
}

/* Handles a block without references. A large one becomes spare: a loop that makes new states in each
 * iteration then takes the blocks of the one before, and allocates no memory. */
static void nova_retire(nova_context *context, nova_block *block)
{
    size_t bytes = block->bytes;
    /* A block of no bytes may be of more than is known, as one from a foreign function is. */
    if (bytes > 0 && bytes <= NOVA_SMALL_BYTES) {
        nova_block *other = context->small_spares[context->small_spare];
        context->small_spares[context->small_spare] = block;
        context->small_spare = (context->small_spare + 1) % NOVA_SMALL_SPARES;
        if (other != NULL)
            nova_drop(context, other);
        return;
    }
    if (bytes < NOVA_SPARE_FROM) {
        nova_drop(context, block);
        return;
    }
    /* A block may come from elsewhere. */
    context->used_bytes -= bytes < context->used_bytes ? bytes : context->used_bytes;
    if (context->spare_count == NOVA_SPARES)
        nova_drop(context, nova_remove_spare(context, 0));
    context->spares[context->spare_count++] = block;
    context->spare_bytes += bytes;
}

/* Removes a reference. */
static inline void nova_release(nova_context *context, nova_block *block)
{
    if (block != NULL && --block->references == 0)
        nova_retire(context, block);
}

/* Makes room for count elements in a block with only this reference, or in a new block. It grows by at
 * least half, and keeps the first used elements. Returns the data. */
static void *nova_reserve(nova_context *context, nova_block **block, int64_t used, int64_t count,
                          size_t size, const char *place)
{
    size_t needed = nova_bytes(context, count, size, place);
    if (*block != NULL && (*block)->bytes >= needed)
        return (*block)->data;
    if (*block == NULL)
        return nova_allocate(context, block, count, size, place);
    size_t bytes = (*block)->bytes + (*block)->bytes / 2;
    if (bytes < needed)
        bytes = needed;
    size_t kept = (size_t)used * size;
    nova_make_way(context, bytes);
    if (!nova_more_memory(context, &(*block)->data, kept, bytes)
        && !(nova_drop_spares(context) && nova_more_memory(context, &(*block)->data, kept, bytes)))
        nova_fail_memory(context, place);
    nova_use(context, bytes - (*block)->bytes);
    (*block)->bytes = bytes;
    return (*block)->data;
}

/* Copies count elements between arrays that do not overlap. */
static inline void nova_copy(void *to, const void *from, int64_t count, size_t size)
{
    if (count > 0)
        memcpy(to, from, (size_t)count * size);
}

/* Returns count elements that may be changed: the elements themselves if this is the only reference of
 * their block, else a copy, whose block replaces this reference. */
static inline void *nova_unique(nova_context *context, nova_block **block, void *data,
                                int64_t count, size_t size, const char *place)
{
    if (*block != NULL && (*block)->references == 1)
        return data;
    nova_block *shared = *block;
    void *copy = nova_allocate(context, block, count, size, place);
    if (count > 0)
        nova_move_elements(context, copy, data, (size_t)count * size);
    nova_release(context, shared);
    return copy;
}

/* Frees the small arrays of results, which are given to the caller after success. */
static void nova_close_rows(nova_context *context)
{
    nova_rows *rows = context->rows;
    while (rows != NULL) {
        nova_rows *next = rows->next;
        for (int64_t i = 0; i < rows->used && context->code != 0; i++)
            free(rows->data[i]);
        free(rows);
        rows = next;
    }
}

/* Frees all memory of the call, except blocks that are given to the caller after success. */
static void nova_close_blocks(nova_context *context)
{
    if (context->free_spaces != NULL)
        context->free_spaces(context);
    nova_close_rows(context);
    nova_slab *slab = context->slabs;
    while (slab != NULL) {
        nova_slab *next = slab->next;
        for (int i = 0; i < slab->used; i++) {
            nova_block *block = &slab->blocks[i];
            if (block->data != NULL && !(block->given && context->code == 0))
                free(block->data);
        }
        if (slab != &context->first_slab)
            free(slab);
        slab = next;
    }
}

#endif
