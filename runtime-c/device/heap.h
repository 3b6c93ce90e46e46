/* Memory in kernels. Each thread has a slice of one block of the device's memory. In this slice its
 * arrays are counted blocks, as on the host, and it is empty again when an iteration ends. A slice that
 * is too small fails the kernel, and the host runs it again with larger ones. Arrays that outlive their
 * iteration are copied to a table that all threads share. */
#ifndef NOVA_HEAP_H
#define NOVA_HEAP_H

/* The header of an array in a slice. */
typedef struct nova_device_block {
    int64_t bytes;      /* of the array, a multiple of 16 */
    int64_t references; /* of a free block: the offset of the next free one, or -1 */
} nova_device_block;

/* The result buffers of a loop: table[0] is the number of words of 8 bytes taken so far, and table[1 +
 * i] is the first word of the array of iteration i. */
typedef struct nova_device_result_buffers {
    NOVA_GLOBAL int64_t *table;
    NOVA_GLOBAL int64_t *words;
    int64_t capacity; /* in words */
    int64_t number;   /* among the tables of a kernel */
} nova_device_result_buffers;

/* The start of the slice of a thread. */
NOVA_IN_KERNELS NOVA_GLOBAL uint8_t *nova_slice(NOVA_GLOBAL uint8_t *heap, int64_t size)
{
    return heap + size * NOVA_THREAD;
}

/* Empties the slice of a thread. */
NOVA_IN_KERNELS void nova_empty_heap(nova_context *context)
{
    context->used = 0;
    context->free = -1;
}

/* The block at an offset in the slice. */
NOVA_IN_KERNELS NOVA_GLOBAL nova_device_block *nova_block_at(nova_context *context, int64_t at)
{
    return (NOVA_GLOBAL nova_device_block *)(context->heap + at);
}

/* The end of a block. */
NOVA_IN_KERNELS int64_t nova_block_end(nova_context *context, int64_t at)
{
    return at + (int64_t)sizeof(nova_device_block) + nova_block_at(context, at)->bytes;
}

/* Makes a block, or none (-1), the next free one after another block, or the first free one (if that is
 * -1). */
NOVA_IN_KERNELS void nova_link_free(nova_context *context, int64_t before, int64_t at)
{
    if (before < 0)
        context->free = at;
    else
        nova_block_at(context, before)->references = at;
}

/* The first free block that has room for this many bytes; the rest of it stays free. Null if there is
 * none. */
NOVA_IN_KERNELS NOVA_GLOBAL nova_device_block *nova_reuse_block(nova_context *context, int64_t bytes)
{
    const int64_t header = (int64_t)sizeof(nova_device_block);
    int64_t before = -1, at = context->free;
    while (at >= 0) {
        NOVA_GLOBAL nova_device_block *block = nova_block_at(context, at);
        int64_t next = block->references, left = block->bytes - bytes;
        if (left >= header) {
            int64_t rest = at + header + bytes;
            nova_block_at(context, rest)->bytes = left - header;
            nova_block_at(context, rest)->references = next;
            block->bytes = bytes;
            next = rest;
        }
        if (left >= 0) {
            nova_link_free(context, before, next);
            return block;
        }
        before = at;
        at = next;
    }
    return 0;
}

/* Memory for count elements of this size in a new block with one reference. Fails the kernel if the
 * slice has no room. */
NOVA_IN_KERNELS NOVA_GLOBAL void *nova_allocate_on_device(
    nova_context *context, NOVA_GLOBAL nova_device_block **block, int64_t count, int64_t size)
{
    const int64_t header = (int64_t)sizeof(nova_device_block);
    *block = 0;
    if (count < 0 || count > INT64_MAX / 4 / size) {
        nova_fail_at(context, NOVA_HEAP_IS_FULL, INT64_MAX, 0);
        return 0;
    }
    int64_t bytes = (count * size + 15) / 16 * 16;
    NOVA_GLOBAL nova_device_block *found = nova_reuse_block(context, bytes);
    if (found == 0) {
        if (context->size - context->used < header + bytes) {
            nova_fail_at(context, NOVA_HEAP_IS_FULL, context->used + header + bytes, 0);
            return 0;
        }
        found = nova_block_at(context, context->used);
        found->bytes = bytes;
        context->used += header + bytes;
    }
    found->references = 1;
    *block = found;
    return found + 1;
}

/* Adds a reference. */
NOVA_IN_KERNELS void nova_retain_on_device(NOVA_GLOBAL nova_device_block *block)
{
    if (block != 0)
        block->references++;
}

/* Frees a block, and merges it with adjacent free blocks. A free block at the end of the used memory is
 * given back. Free blocks are linked in the order of their addresses. */
NOVA_IN_KERNELS void nova_free_block(nova_context *context, int64_t at)
{
    int64_t earlier = -1, before = -1, next = context->free;
    while (next >= 0 && next < at) {
        earlier = before;
        before = next;
        next = nova_block_at(context, next)->references;
    }
    nova_block_at(context, at)->references = next;
    nova_link_free(context, before, at);
    if (next >= 0 && nova_block_end(context, at) == next) {
        nova_block_at(context, at)->references = nova_block_at(context, next)->references;
        nova_block_at(context, at)->bytes = nova_block_end(context, next) - at
                                            - (int64_t)sizeof(nova_device_block);
    }
    if (before >= 0 && nova_block_end(context, before) == at) {
        nova_block_at(context, before)->references = nova_block_at(context, at)->references;
        nova_block_at(context, before)->bytes = nova_block_end(context, at) - before
                                                - (int64_t)sizeof(nova_device_block);
        at = before;
        before = earlier;
    }
    if (nova_block_end(context, at) == context->used) {
        context->used = at;
        nova_link_free(context, before, -1);
    }
}

/* Removes a reference. */
NOVA_IN_KERNELS void nova_release_on_device(nova_context *context,
                                            NOVA_GLOBAL nova_device_block *block)
{
    if (block != 0 && --block->references == 0)
        nova_free_block(context, (NOVA_GLOBAL uint8_t *)block - context->heap);
}

/* Elements of 16, 32 and 64 bits, of any type. */
typedef uint16_t NOVA_ANY_TYPE nova_any_16;
typedef uint32_t NOVA_ANY_TYPE nova_any_32;
typedef uint64_t NOVA_ANY_TYPE nova_any_64;

/* Copies count elements of 1, 2, 4 or 8 bytes between arrays that do not overlap. */
NOVA_IN_KERNELS void nova_copy_on_device(NOVA_GLOBAL void *to, NOVA_GLOBAL const void *from,
                                         int64_t count, int64_t size)
{
    for (int64_t i = 0; i < count; i++) {
        switch (size) {
        case 1:
            ((NOVA_GLOBAL uint8_t *)to)[i] = ((NOVA_GLOBAL const uint8_t *)from)[i];
            break;
        case 2:
            ((NOVA_GLOBAL nova_any_16 *)to)[i] = ((NOVA_GLOBAL const nova_any_16 *)from)[i];
            break;
        case 4:
            ((NOVA_GLOBAL nova_any_32 *)to)[i] = ((NOVA_GLOBAL const nova_any_32 *)from)[i];
            break;
        default:
            ((NOVA_GLOBAL nova_any_64 *)to)[i] = ((NOVA_GLOBAL const nova_any_64 *)from)[i];
        }
    }
}

/* Makes room for count elements in a block with only this reference, or in a new block. It grows by at
 * least half, and keeps the first used elements. Returns the data. */
NOVA_IN_KERNELS NOVA_GLOBAL void *nova_reserve_on_device(
    nova_context *context, NOVA_GLOBAL nova_device_block **block, int64_t used, int64_t count,
    int64_t size)
{
    NOVA_GLOBAL nova_device_block *before = *block;
    if (before == 0)
        return nova_allocate_on_device(context, block, count, size);
    if (count <= before->bytes / size)
        return before + 1;
    int64_t grown = before->bytes / size + before->bytes / size / 2;
    NOVA_GLOBAL void *data =
        nova_allocate_on_device(context, block, count < grown ? grown : count, size);
    if (context->failed)
        return 0;
    nova_copy_on_device(data, before + 1, used, size);
    nova_release_on_device(context, before);
    return data;
}

/* Returns count elements that may be changed: the elements themselves if this is the only reference of
 * their block, else a copy, whose block replaces this reference. */
NOVA_IN_KERNELS NOVA_GLOBAL void *nova_unique_on_device(
    nova_context *context, NOVA_GLOBAL nova_device_block **block, NOVA_GLOBAL void *data,
    int64_t count, int64_t size)
{
    NOVA_GLOBAL nova_device_block *shared = *block;
    if (shared != 0 && shared->references == 1)
        return data;
    NOVA_GLOBAL void *copy = nova_allocate_on_device(context, block, count, size);
    if (context->failed)
        return 0;
    nova_copy_on_device(copy, data, count, size);
    nova_release_on_device(context, shared);
    return copy;
}

/* Stores count elements as the result buffer of an iteration. Fails the kernel if the table has no
 * room. */
NOVA_IN_KERNELS void nova_store_on_device(nova_context *context, const nova_device_result_buffers *buffers,
                                          int64_t index, NOVA_GLOBAL const void *data,
                                          int64_t count, int64_t size)
{
    if (count <= 0) {
        buffers->table[1 + index] = 0;
        return;
    }
    NOVA_GLOBAL uint32_t *used = (NOVA_GLOBAL uint32_t *)buffers->table;
    int64_t words = (count * size + 7) / 8;
    uint32_t first = (uint32_t)NOVA_READ_GLOBAL(used);
    for (;;) {
        if (words > buffers->capacity - (int64_t)first) {
            nova_fail_at(context, NOVA_RESULT_BUFFERS_ARE_FULL, buffers->number, (int64_t)first + words);
            return;
        }
        uint32_t seen = NOVA_COMPARE_AND_SWAP(used, first, first + (uint32_t)words);
        if (seen == first)
            break;
        first = seen;
    }
    buffers->table[1 + index] = first;
    nova_copy_on_device(buffers->words + first, data, count, size);
}

/* The first element of the result buffer of an iteration. */
NOVA_IN_KERNELS NOVA_GLOBAL void *nova_result_buffer_on_device(const nova_device_result_buffers *buffers,
                                                               int64_t index)
{
    return buffers->words + buffers->table[1 + index];
}

#endif
