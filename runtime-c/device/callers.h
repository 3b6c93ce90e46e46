/* Calls of applications that keep their data on the device (prog_device): arrays that they lend there,
 * and results that go there. Such an array has a name, as every array of a call: the address of host
 * memory, which nothing is written to unless the host needs the elements. */
#ifndef NOVA_DEVICE_CALLERS_H
#define NOVA_DEVICE_CALLERS_H

#include "mirrors.h"
#include "../common/arguments.h"

/* A name for memory of the caller on the device. */
static nova_mirror *nova_name_memory(nova_context *context, const void *memory, size_t bytes)
{
    void *name = nova_host_memory(bytes);
    if (name == NULL || !nova_add_mirror(context->session, name, bytes)) {
        free(name);
        nova_fail_memory(context, NULL);
    }
    nova_mirror *mirror = nova_find_mirror(context->session, name);
    mirror->memory = (nova_device_memory)(uintptr_t)memory;
    mirror->lent = true;
    mirror->on_host = false;
    return mirror;
}

/* The name of count elements on the device that the call may read; those that the host reads without
 * asking are copied there. */
static const void *nova_lend_on_device(nova_context *context, const char *parameter,
                                       const void *memory, int64_t count, size_t size,
                                       bool host_reads)
{
    nova_check_array(context, parameter, count, memory, size);
    if (count == 0)
        return memory;
    nova_mirror *mirror = nova_name_memory(context, memory, (size_t)count * size);
    mirror->on_device = true;
    if (host_reads)
        nova_on_host(context, (const void *)mirror->start, false);
    return (const void *)mirror->start;
}

/* How many offsets there are for so many rows: none where there are no rows and no offsets. */
static inline int64_t nova_offset_count(const void *offsets, int64_t rows)
{
    return rows == INT64_MAX || (rows == 0 && offsets == NULL) ? rows : rows + 1;
}

/* The name of the caller's buffer for a result of at most capacity elements, none of which are
 * current; the host writes them without saying so where it makes structures. Null if there is no
 * buffer. */
static void *nova_room_on_device(nova_context *context, void *memory, int64_t capacity, size_t size,
                                 bool host_writes)
{
    if (memory == NULL || capacity <= 0)
        return memory;
    size_t bytes = nova_bytes(context, capacity, size, NULL);
    nova_mirror *mirror = nova_name_memory(context, memory, bytes);
    mirror->on_host = host_writes;
    return (void *)mirror->start;
}

/* Whether an array of the tree lies in the memory of a buffer on the device, which is not its own. */
static bool nova_lies_in(const nova_mirror *tree, const nova_mirror *buffer)
{
    if (tree == NULL)
        return false;
    return (tree != buffer && tree->lent
            && nova_memory_overlaps(tree->memory, tree->bytes, buffer->memory, buffer->bytes))
           || nova_lies_in(tree->left, buffer) || nova_lies_in(tree->right, buffer);
}

/* Whether kernels may write the result into the caller's buffer at once: it is on the device, and no
 * argument lies there. */
static inline bool nova_may_fill(nova_context *context)
{
    nova_mirror *buffer = nova_find_mirror(context->session, context->result->buffer);
    return buffer != NULL && buffer->lent && !nova_lies_in(context->session->mirrors, buffer);
}

/* Sees to it that the device has the elements of a result: so many of the caller's buffer, behind which
 * that stays as it was, or all of the call's own memory. */
static void nova_settle_result(nova_context *context, const void *name, int64_t count, size_t size)
{
    nova_mirror *mirror = nova_find_mirror(context->session, name);
    if (mirror == NULL || !mirror->lent)
        nova_on_device(context, name, false);
    else if (mirror->on_host && !mirror->on_device && count > 0)
        nova_device_write(context, mirror->memory, 0, name, (size_t)count * size);
}

/* What the caller gets for a result that the device has: the buffer that was given, or the memory that
 * the call has made, which is then the caller's. Nothing may fail behind it. */
static void *nova_hand_over(nova_context *context, void *name, void *given)
{
    if (given != NULL)
        return given;
    nova_mirror *mirror = nova_take_mirror(context->session, (uintptr_t)name);
    if (mirror == NULL)
        return NULL;
    nova_device_memory memory = mirror->memory;
    free(mirror);
    free(name);
    return (void *)memory;
}

#endif
