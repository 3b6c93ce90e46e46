/* The FFI boundary: checks of arguments, and the transfer of results to the caller. Results are copied
 * only where their memory does not belong to the call. */
#ifndef NOVA_ARGUMENTS_H
#define NOVA_ARGUMENTS_H

#include "blocks.h"

/* The largest number of elements of an array, and its largest extent; no memory holds more. */
#define NOVA_LONGEST ((int64_t)1 << 48)

/* Checks an array argument: its length is not negative, and its pointer is not null if it has elements. */
static void nova_check_array(nova_context *context, const char *name, int64_t length,
                             const void *data, size_t size)
{
    if (length < 0)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: a negative length: %" PRId64, name, length);
    if (length > NOVA_LONGEST || (uint64_t)length > (uint64_t)PTRDIFF_MAX / size)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: too large a length: %" PRId64, name, length);
    if (length > 0 && data == NULL)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: a null pointer for length %" PRId64, name,
                  length);
}

/* Checks the length of an array whose elements take no memory. */
static void nova_check_length(nova_context *context, const char *name, int64_t length)
{
    if (length < 0)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: a negative length: %" PRId64, name, length);
    if (length > NOVA_LONGEST)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: too large a length: %" PRId64, name, length);
}

/* True if all offsets are at least 0, and at least the offset before. Sign bits tell: where no offset
 * is negative, no difference overflows. */
static bool nova_offsets_rise(const int64_t *offsets, int64_t length)
{
    const uint64_t *at = (const uint64_t *)offsets;
    uint64_t signs = at[0];
    int64_t i = 0;
    for (; i + 32 <= length; i += 32) {
        for (int64_t line = 0; line < 32; line += 8)
            nova_prefetch_linear(offsets, i + line + 1024, sizeof *offsets);
        for (int64_t k = i; k < i + 32; k++)
            signs |= at[k + 1] | (at[k + 1] - at[k]);
    }
    for (; i < length; i++)
        signs |= at[i + 1] | (at[i + 1] - at[i]);
    return signs >> 63 == 0;
}

/* Checks length + 1 offsets that rise from 0, and returns the last of them. The first offset that does
 * not rise is searched for only if there is one. */
static int64_t nova_check_segments(nova_context *context, const char *name, int64_t length,
                                   const int64_t *offsets)
{
    if (length == 0 && offsets == NULL)
        return 0;
    nova_check_array(context, name, length, offsets, sizeof(int64_t));
    if (offsets[0] != 0)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: the first offset is %" PRId64 ", not 0", name,
                  offsets[0]);
    bool falls = !nova_offsets_rise(offsets, length);
    for (int64_t i = 0; falls && i < length; i++)
        if (offsets[i + 1] < offsets[i])
            nova_fail(context, NOVA_ERROR_ARGUMENT,
                      "%s: offset %" PRId64 " after %" PRId64 " does not rise", name,
                      offsets[i + 1], offsets[i]);
    return offsets[length];
}

/* Multiplies extents, and checks each. A product that is too large becomes INT64_MAX until an extent of
 * 0 follows; the check of the array refuses it. */
static int64_t nova_times_extent(nova_context *context, const char *name, int64_t product,
                                 int64_t extent)
{
    if (extent < 0)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: a negative extent: %" PRId64, name, extent);
    if (extent > NOVA_LONGEST)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: too large an extent: %" PRId64, name, extent);
    return product > 0 && extent > INT64_MAX / product ? INT64_MAX : product * extent;
}

/* Adds the length of one inner array of an argument to the total of all. */
static int64_t nova_add_length(nova_context *context, const char *name, int64_t total,
                               int64_t length)
{
    if (length > INT64_MAX - total)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: too large a length: %" PRId64, name, length);
    return total + length;
}

/* Checks that the pointer for a result is not null. */
static void nova_check_result(nova_context *context, const char *name, const void *result)
{
    if (result == NULL)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: a null pointer", name);
}

/* Checks that the caller passes no buffer for a result whose size it cannot know. */
static void nova_check_no_buffer(nova_context *context, const char *name, const void *buffer)
{
    if (buffer != NULL)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: the pointer must be null on entry", name);
}

/* Checks that a value of a sum has one of its constructors. */
static void nova_check_tag(nova_context *context, const char *name, int32_t tag, int32_t count)
{
    if (tag < 0 || tag >= count)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: tag %d is not one of 0 to %d", name, (int)tag,
                  (int)count - 1);
}

/* Fails since the caller's buffer is too small for the length. */
NOVA_NEVER_RETURNS static void nova_fail_buffer(nova_context *context, const char *name,
                                                int64_t capacity, int64_t length)
{
    nova_fail(context, NOVA_ERROR_BUFFER,
              "%s: a buffer of %" PRId64 " elements for a result of %" PRId64, name, capacity,
              length);
}

/* The elements at a pointer, which is null only if there are none. */
static inline void *nova_elements(const void *data)
{
    return data != NULL ? (void *)data : (void *)nova_empty;
}

/* A place for a pointer to a small array of a result. */
static void **nova_next_row(nova_context *context)
{
    nova_rows *rows = context->rows;
    if (rows == NULL || rows->used == NOVA_ROWS_SIZE) {
        rows = (nova_rows *)malloc(sizeof(nova_rows));
        if (rows == NULL)
            nova_fail_memory(context, NULL);
        rows->next = context->rows;
        rows->used = 0;
        context->rows = rows;
    }
    return &rows->data[rows->used];
}

/* Allocates a small array that belongs to the caller after success. */
static inline void *nova_allocate_row(nova_context *context, size_t bytes)
{
    void **row = nova_next_row(context);
    void *data = nova_host_memory(bytes);
    if (data == NULL && nova_drop_spares(context))
        data = nova_host_memory(bytes);
    if (data == NULL)
        nova_fail_memory(context, NULL);
    *row = data;
    context->rows->used++;
    return data;
}

/* Allocates count elements that belong to the caller after success. With a device, all memory of the call is
 * known to it. */
static void *nova_allocate_result(nova_context *context, int64_t count, size_t size)
{
    size_t bytes = nova_bytes(context, count, size, NULL);
    if (bytes < NOVA_ALIGN_FROM && context->session == NULL)
        return nova_allocate_row(context, bytes);
    nova_block *block;
    void *data = nova_allocate(context, &block, count, size, NULL);
    block->given = true;
    return data;
}

/* A copy of count elements that belongs to the caller after success. */
static void *nova_give_copy(nova_context *context, const void *data, int64_t count, size_t size)
{
    void *copy = nova_allocate_result(context, count, size);
    nova_move_result(context, copy, data, (size_t)count * size);
    return copy;
}

/* Transfers count elements, with their reference, to the caller: the memory itself if it is a block
 * that nothing else holds, a copy otherwise. */
static void *nova_give(nova_context *context, void *data, nova_block *block, int64_t count,
                       size_t size)
{
    size_t bytes = nova_bytes(context, count, size, NULL);
    /* A block much larger than the result would take up the caller's memory. */
    if (block != NULL && block->references == 1 && block->data == data
        && block->bytes / 2 <= bytes + NOVA_ALIGN_FROM) {
        block->given = true;
        return data;
    }
    void *copy = nova_give_copy(context, data, count, size);
    nova_release(context, block);
    return copy;
}

/* Puts count elements, with their reference, into the caller's buffer, whose size has been checked, or
 * into memory of their own if there is no buffer. */
static void *nova_put(nova_context *context, void *buffer, void *data, nova_block *block,
                      int64_t count, size_t size)
{
    if (buffer == NULL)
        return nova_give(context, data, block, count, size);
    nova_move_result(context, buffer, data, (size_t)count * size);
    return buffer;
}

/* Puts structures into the caller's buffer, if there is one. */
static void *nova_put_structures(void *buffer, void *data, int64_t count, size_t size)
{
    if (buffer == NULL)
        return data;
    nova_copy(buffer, data, count, size);
    return buffer;
}

/* Sets the place of the result: the caller's buffer of capacity elements, if there is one. */
static void nova_open_result(nova_context *context, nova_result *result, void *buffer,
                             int64_t capacity, size_t size)
{
    bool possible = capacity >= 0 && (uint64_t)capacity <= (uint64_t)PTRDIFF_MAX / size;
    result->buffer = possible ? buffer : NULL;
    result->capacity = capacity;
    result->data = NULL;
    result->block = NULL;
    context->result = result;
}

/* Makes the result avoid the caller's buffer where that overlaps an argument of count elements. */
static void nova_keep_apart(nova_context *context, size_t result_size, const void *data,
                            int64_t count, size_t size)
{
    nova_result *result = context->result;
    uintptr_t buffer = (uintptr_t)result->buffer, argument = (uintptr_t)data;
    if (result->buffer != NULL && buffer < argument + (size_t)count * size
        && argument < buffer + (size_t)result->capacity * result_size)
        result->buffer = NULL;
}

/* Memory for count elements of the result: the caller's buffer, if nothing can fail any more and it is
 * large enough. All components of the elements share this memory. */
static void *nova_make_result(nova_context *context, int64_t count, size_t size, bool at_once,
                              const char *place)
{
    nova_result *result = context->result;
    if (result->data != NULL)
        return result->data;
    if (at_once && result->buffer != NULL && count >= 0 && count <= result->capacity)
        result->data = result->buffer;
    else
        result->data = nova_allocate(context, &result->block, count, size, place);
    return result->data;
}

/* Transfers the result of count elements to the caller. The caller's buffer, if there is one, is large
 * enough. */
static void *nova_give_result(nova_context *context, void *buffer, int64_t count, size_t size)
{
    nova_result *result = context->result;
    if (result->data == buffer)
        return buffer;
    size_t bytes = (size_t)count * size;
    if (buffer == NULL) {
        nova_block *block = result->block;
        block->given = true;
        /* Room that a filter did not need would take up the caller's memory. */
        void *less = NULL;
        if (block->bytes / 2 > bytes + NOVA_ALIGN_FROM)
            less = realloc(block->data, bytes > 0 ? bytes : 1);
        if (less != NULL)
            block->data = less;
        return block->data;
    }
    nova_move_result(context, buffer, result->data, bytes);
    return buffer;
}

/* Takes over an array that a foreign function allocated. */
static nova_block *nova_adopt_array(nova_context *context, void *data)
{
    return data == NULL ? NULL : nova_adopt(context, data, 0, NULL);
}

/* The number of elements to free in an array; 0 if it cannot have as many elements as its length says. */
static inline int64_t nova_held(const void *data, int64_t count, size_t size)
{
    return data == NULL || count < 0 || (uint64_t)count > (uint64_t)PTRDIFF_MAX / size ? 0 : count;
}

/* Marks a block to be freed after the next call of a foreign function. */
static void nova_make_temporary(nova_context *context, nova_block *block)
{
    if (block != NULL) {
        block->next = context->temporaries;
        context->temporaries = block;
    }
}

/* Allocates count elements for an argument of a foreign function. */
static void *nova_allocate_temporary(nova_context *context, int64_t count, size_t size)
{
    nova_block *block;
    void *data = nova_allocate(context, &block, count, size, NULL);
    nova_make_temporary(context, block);
    return data;
}

/* Frees the arguments of a foreign function. */
static void nova_free_temporaries(nova_context *context)
{
    while (context->temporaries != NULL) {
        nova_block *block = context->temporaries;
        context->temporaries = block->next;
        nova_release(context, block);
    }
}

#endif
