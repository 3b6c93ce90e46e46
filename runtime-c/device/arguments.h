/* Arguments of kernels, and the number of threads and the memory of a launch, on any device. */
#ifndef NOVA_KERNEL_ARGUMENTS_H
#define NOVA_KERNEL_ARGUMENTS_H

#include "nodes.h"
#include "result_buffers.h"

/* The bytes of memory that a thread gets first in kernels that take memory, and the largest number of
 * work-groups of such kernels. */
#ifndef NOVA_FIRST_SLICE
#define NOVA_FIRST_SLICE 1024
#endif
#ifndef NOVA_MAX_HEAP_BLOCKS
#define NOVA_MAX_HEAP_BLOCKS 64
#endif

/* The kinds of arguments of kernels. */
typedef enum nova_kind_of_argument {
    NOVA_VALUE,          /* size bytes */
    NOVA_ARRAY,          /* elements in memory of the device */
    NOVA_LOCAL_ARRAY,    /* an array of size bytes that the threads of a work-group share */
    NOVA_RESULT_BUFFERS, /* the result buffers of a loop */
    NOVA_GROWING_NODES   /* a node table that the kernel appends to */
} nova_kind_of_argument;

/* An argument of a kernel. */
typedef struct nova_argument {
    nova_kind_of_argument kind;
    size_t size;               /* of a value, of an element, or of an array of a work-group */
    const void *value;
    nova_device_memory memory; /* of an array, whose first element comes after offset others */
    int64_t offset;
    nova_buffer_pair *changed; /* an array that the kernel writes and that had elements before */
    nova_result_buffers *buffers;
    nova_sent_nodes *nodes;
    size_t bytes;              /* of an array: from its first element to the end of its memory */
    bool writes;               /* true if the kernel writes the array */
} nova_argument;

/* An argument that is a value. */
static inline nova_argument nova_value(const void *value, size_t size)
{
    nova_argument argument = {NOVA_VALUE, size, value, NULL, 0, NULL, NULL, NULL, 0, false};
    return argument;
}

/* An array of count elements for each work-group; the next one begins at a multiple of 16 bytes. */
static inline nova_argument nova_local_array(nova_context *context, int64_t count, size_t size)
{
    nova_argument argument = {NOVA_LOCAL_ARRAY, 16, NULL, NULL, 0, NULL, NULL, NULL, 0, false};
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / size)
        nova_fail(context, NOVA_ERROR_MEMORY,
                  "out of memory: an array of a work-group is too large");
    if (count > 0)
        argument.size = ((size_t)count * size + 15) / 16 * 16;
    return argument;
}

/* The result buffers of a loop, which the kernel fills or reads. */
static nova_argument nova_result_buffers_of(nova_context *context, nova_block *block)
{
    nova_result_buffers *buffers = (nova_result_buffers *)block->data;
    nova_argument argument = {NOVA_RESULT_BUFFERS, 0, NULL, NULL, 0, NULL, buffers, NULL, 0, false};
    nova_on_device(context, buffers->table, false);
    nova_on_device(context, buffers->words, false);
    return argument;
}

/* A table of nodes of this size that the kernel appends to: its block, and the number of its nodes. */
static inline nova_argument nova_growing_table(nova_sent_nodes *sent, nova_block **block,
                                               int64_t *count, size_t size)
{
    nova_argument argument = {NOVA_GROWING_NODES, size, NULL, NULL, 0, NULL, NULL, sent, 0, false};
    sent->block = block;
    sent->table_count = count;
    sent->size = size;
    return argument;
}

/* A pointer to elements of this size, which the kernel reads, and also writes if `writes` is true. */
static nova_argument nova_array(nova_context *context, const void *pointer, size_t size,
                                bool writes)
{
    nova_argument argument = {NOVA_ARRAY, size, NULL, NULL, 0, NULL, NULL, NULL, 0, false};
    nova_buffer_pair *before = nova_find_buffer_pair(context->session, pointer);
    if (writes && before != NULL && (before->on_host || before->on_device))
        argument.changed = before;
    nova_buffer_pair *pair = nova_on_device(context, pointer, writes);
    if (pair != NULL) {
        argument.memory = pair->memory;
        argument.offset = (int64_t)(((uintptr_t)pointer - pair->start) / size);
        argument.bytes = pair->bytes - ((uintptr_t)pointer - pair->start);
        argument.writes = writes;
    }
    return argument;
}

/* The bytes of the arrays that a kernel writes, or of those that it only reads. Memory that several
 * arguments share counts once. */
static uint64_t nova_bytes_of(const nova_argument *arguments, int argument_count, bool written)
{
    uint64_t sum = 0;
    for (int k = 0; k < argument_count; k++) {
        const nova_argument *argument = &arguments[k];
        bool counted = argument->bytes == 0 || argument->writes != written;
        for (int j = 0; j < argument_count && !counted; j++) {
            const nova_argument *other = &arguments[j];
            counted = other->memory == argument->memory && other->writes == written
                      && (other->bytes > argument->bytes
                          || (other->bytes == argument->bytes && j < k));
        }
        sum += counted ? 0 : argument->bytes;
    }
    return sum;
}

/* The threads of a launch, and their memory. */
typedef struct nova_threads {
    size_t count, block; /* in all, and of a work-group */
    int64_t slice;       /* bytes for each; 0: the kernel takes no memory */
} nova_threads;

/* Threads for count iterations. */
static nova_threads nova_threads_for(int64_t count, int64_t slice)
{
    int64_t blocks = (count - 1) / NOVA_BLOCK_SIZE + 1;
    int64_t most = slice > 0 ? NOVA_MAX_HEAP_BLOCKS : NOVA_MAX_BLOCKS;
    nova_threads threads = {(size_t)(blocks < most ? blocks : most) * NOVA_BLOCK_SIZE,
                            NOVA_BLOCK_SIZE, slice};
    return threads;
}

#endif
