/* Calls of applications that keep their data on the device (prog_device): they lend arrays there, and
 * results go there. Such an array has a name, like every array of a call: an address of host memory.
 * Nothing is written to that memory unless the host needs the elements. */
#ifndef NOVA_DEVICE_CALLERS_H
#define NOVA_DEVICE_CALLERS_H

#include "buffer_pairs.h"
#include "../common/arguments.h"

/* Makes the buffer pair of memory of the caller on the device, with a new name. */
static nova_buffer_pair *nova_name_memory(nova_context *context, const void *memory, size_t bytes)
{
    void *name = nova_host_memory(bytes);
    if (name == NULL || !nova_add_buffer_pair(context->session, name, bytes)) {
        free(name);
        nova_fail_memory(context, NULL);
    }
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, name);
    pair->memory = (nova_device_memory)(uintptr_t)memory;
    pair->lent = true;
    pair->on_host = false;
    return pair;
}

/* The name of count elements on the device that the call may read. If the host reads them without
 * asking for them, they are copied to the host. */
static const void *nova_lend_on_device(nova_context *context, const char *parameter,
                                       const void *memory, int64_t count, size_t size,
                                       bool host_reads)
{
    nova_check_array(context, parameter, count, memory, size);
    if (count == 0)
        return memory;
    nova_buffer_pair *pair = nova_name_memory(context, memory, (size_t)count * size);
    pair->on_device = true;
    if (host_reads)
        nova_on_host(context, (const void *)pair->start, false);
    return (const void *)pair->start;
}

/* The number of offsets for this number of rows: none where there are no rows and no offsets. */
static inline int64_t nova_offset_count(const void *offsets, int64_t rows)
{
    return rows == INT64_MAX || (rows == 0 && offsets == NULL) ? rows : rows + 1;
}

/* The name of the caller's buffer for a result of at most capacity elements, none of which are current.
 * Where the host makes structures, it writes them without notice. Null if there is no buffer. */
static void *nova_room_on_device(nova_context *context, void *memory, int64_t capacity, size_t size,
                                 bool host_writes)
{
    if (memory == NULL || capacity <= 0)
        return memory;
    size_t bytes = nova_bytes(context, capacity, size, NULL);
    nova_buffer_pair *pair = nova_name_memory(context, memory, bytes);
    pair->on_host = host_writes;
    return (void *)pair->start;
}

/* True if another lent array of the tree overlaps the memory of a buffer on the device. */
static bool nova_lies_in(const nova_buffer_pair *tree, const nova_buffer_pair *buffer)
{
    if (tree == NULL)
        return false;
    return (tree != buffer && tree->lent
            && nova_memory_overlaps(tree->memory, tree->bytes, buffer->memory, buffer->bytes))
           || nova_lies_in(tree->left, buffer) || nova_lies_in(tree->right, buffer);
}

/* True if kernels may write the result into the caller's buffer at once: it is on the device, and no
 * argument overlaps it. */
static inline bool nova_may_fill(nova_context *context)
{
    nova_buffer_pair *buffer = nova_find_buffer_pair(context->session, context->result->buffer);
    return buffer != NULL && buffer->lent && !nova_lies_in(context->session->buffer_pairs, buffer);
}

/* Ensures that the device has the elements of a result: count elements of the caller's buffer, whose
 * rest stays unchanged, or all of the call's own memory. */
static void nova_settle_result(nova_context *context, const void *name, int64_t count, size_t size)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, name);
    if (pair == NULL || !pair->lent)
        nova_on_device(context, name, false);
    else if (pair->on_host && !pair->on_device && count > 0)
        nova_device_write(context, pair->memory, 0, name, (size_t)count * size);
}

/* The pointer that the caller gets for a result on the device: the buffer that was given, or the memory
 * that the call has made, which then belongs to the caller. Nothing may fail after this. */
static void *nova_hand_over(nova_context *context, void *name, void *given)
{
    if (given != NULL)
        return given;
    nova_buffer_pair *pair = nova_take_buffer_pair(context->session, (uintptr_t)name);
    if (pair == NULL)
        return NULL;
    nova_device_memory memory = pair->memory;
    free(pair);
    free(name);
    return (void *)memory;
}

#endif
