/* Host and device buffers. Each array of a call has a buffer in host memory, whose address is the
 * array's name. Once a kernel uses it, it also has a buffer on the device. Either buffer holds the
 * current elements, or both do; elements are copied before the other side uses them. Host memory that
 * nothing is written to occupies addresses only. */
#ifndef NOVA_BUFFER_PAIRS_H
#define NOVA_BUFFER_PAIRS_H

/* Included instead of common/one_memory.h. */
#define NOVA_ONE_MEMORY_H

#include "../common/errors.h"
#include "../common/memory.h"
#include <string.h>

/* The host and the device buffer of an array. */
typedef struct nova_buffer_pair {
    struct nova_buffer_pair *left, *right; /* lower and higher addresses */
    uint64_t priority;                     /* at least that of the nodes below */
    uintptr_t start;                       /* its address on the host */
    size_t bytes;
    nova_device_memory memory;             /* on the device; null if there is none yet */
    bool on_host;                          /* the elements on the host are current */
    bool on_device;                        /* those on the device are; if neither, none are written */
    uint32_t elements_moved;               /* single copies since a kernel wrote elements */
    bool lent;                             /* the memory on the device is the caller's */
    bool rises;                            /* the elements are offsets, checked on the device, */
    int64_t last_offset;                   /* and the last of them */
} nova_buffer_pair;

/* The buffer pair of the array that contains an address; null if no array of the call does. */
static nova_buffer_pair *nova_find_buffer_pair(nova_session *session, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    nova_buffer_pair *pair = session->buffer_pairs;
    while (pair != NULL && (at < pair->start || at - pair->start >= pair->bytes))
        pair = at < pair->start ? pair->left : pair->right;
    return pair;
}

/* Inserts a buffer pair into a tree. It is a search tree over addresses and a heap over random
 * priorities, so that it is balanced for any order of insertions. */
static nova_buffer_pair *nova_insert_buffer_pair(nova_buffer_pair *tree, nova_buffer_pair *pair)
{
    nova_buffer_pair **place = &tree, *rest;
    while (*place != NULL && (*place)->priority >= pair->priority)
        place = pair->start < (*place)->start ? &(*place)->left : &(*place)->right;
    rest = *place;
    *place = pair;
    /* The subtree at this place is split into lower and higher addresses. */
    nova_buffer_pair **low = &pair->left, **high = &pair->right;
    while (rest != NULL) {
        if (rest->start < pair->start) {
            *low = rest;
            low = &rest->right;
            rest = rest->right;
        } else {
            *high = rest;
            high = &rest->left;
            rest = rest->left;
        }
    }
    *low = NULL;
    *high = NULL;
    return tree;
}

/* Removes the buffer pair of the array that starts at an address from the tree. */
static nova_buffer_pair *nova_take_buffer_pair(nova_session *session, uintptr_t start)
{
    nova_buffer_pair **place = &session->buffer_pairs;
    while (*place != NULL && (*place)->start != start)
        place = start < (*place)->start ? &(*place)->left : &(*place)->right;
    nova_buffer_pair *taken = *place;
    if (taken == NULL)
        return NULL;
    nova_buffer_pair *left = taken->left, *right = taken->right;
    while (left != NULL || right != NULL) {
        bool first = right == NULL || (left != NULL && left->priority >= right->priority);
        nova_buffer_pair *above = first ? left : right;
        *place = above;
        if (first) {
            place = &above->right;
            left = above->right;
        } else {
            place = &above->left;
            right = above->left;
        }
    }
    *place = NULL;
    return taken;
}

/* Adds an array of the call, whose elements are on the host; false if there is no memory for that. */
static bool nova_add_buffer_pair(nova_session *session, const void *data, size_t bytes)
{
    nova_buffer_pair *pair = (nova_buffer_pair *)calloc(1, sizeof *pair);
    if (pair == NULL)
        return false;
    session->random ^= session->random << 13;
    session->random ^= session->random >> 7;
    session->random ^= session->random << 17;
    pair->priority = session->random;
    pair->start = (uintptr_t)data;
    pair->bytes = bytes;
    pair->on_host = true;
    session->buffer_pairs = nova_insert_buffer_pair(session->buffer_pairs, pair);
    return true;
}

/* Removes and frees the buffer pair of the array that starts at an address. */
static void nova_drop_buffer_pair(nova_session *session, const void *data)
{
    nova_buffer_pair *pair = nova_take_buffer_pair(session, (uintptr_t)data);
    if (pair == NULL)
        return;
    if (pair->lent)
        free((void *)pair->start); /* It is only a name. */
    else if (pair->memory != NULL)
        nova_device_free(session, pair->memory, pair->bytes);
    free(pair);
}

/* Memory for a block of a call; null if there is none. */
static void *nova_memory(nova_context *context, size_t bytes)
{
    void *data = nova_host_memory(bytes);
    if (data != NULL && context->session != NULL
        && !nova_add_buffer_pair(context->session, data, bytes > 0 ? bytes : 1)) {
        free(data);
        return NULL;
    }
    return data;
}

/* Frees memory of a block of a call. */
static void nova_free_memory(nova_context *context, void *data)
{
    if (data != NULL && context->session != NULL)
        nova_drop_buffer_pair(context->session, data);
    free(data);
}

/* Makes memory of a block that was released like new memory: on the host, as code there takes it to be. */
static inline void nova_renew_memory(nova_context *context, void *data)
{
    if (context->session == NULL)
        return;
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, data);
    if (pair != NULL) {
        pair->on_host = true;
        pair->on_device = false;
    }
}

/* Lets kernels read count elements that the caller has lent. Arguments that overlap become one array.
 * Those that a caller has on the device have a name already. */
static void nova_lend(nova_context *context, const void *data, int64_t count, size_t size)
{
    nova_session *session = context->session;
    if (data == NULL || count <= 0)
        return;
    uintptr_t start = (uintptr_t)data, end = start + (size_t)count * size;
    nova_buffer_pair *pair = nova_find_buffer_pair(session, data);
    if (pair != NULL && end - pair->start <= pair->bytes)
        return;
    pair = session->buffer_pairs;
    while (pair != NULL) {
        if (start < pair->start + pair->bytes && pair->start < end) {
            start = pair->start < start ? pair->start : start;
            end = pair->start + pair->bytes > end ? pair->start + pair->bytes : end;
            nova_drop_buffer_pair(session, (const void *)pair->start);
            pair = session->buffer_pairs;
        } else {
            pair = start < pair->start ? pair->left : pair->right;
        }
    }
    if (!nova_add_buffer_pair(session, (const void *)start, end - start))
        nova_fail_memory(context, NULL);
}

/* Constant text of count bytes, which kernels may read from now on. */
static inline const void *nova_constant(nova_context *context, const char *text, int64_t count)
{
    nova_lend(context, text, count, 1);
    return text;
}

/* Marks a new array as not written yet. */
static inline void *nova_fresh(nova_context *context, void *data)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, data);
    if (pair != NULL)
        pair->on_host = pair->on_device = false;
    return data;
}

/* Reports the failure of a kernel. Each program has its own function, which knows the places in its
 * source text. */
static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second);

/* The record of the first failure of a kernel. Later kernels do nothing. */
typedef struct nova_failure {
    int32_t taken; /* 1 after a failure */
    int32_t site;  /* the number of the check in the program */
    int64_t first, second;
} nova_failure;

/* Failures that are not checks of the program: a thread needs `first` bytes of memory, the result
 * buffers numbered `first` need `second` words, or the growing node table numbered `first` needs room
 * for `second` nodes. The text of kernels has the same definitions. */
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_RESULT_BUFFERS_ARE_FULL (-2)
#define NOVA_NODES_ARE_FULL (-3)

/* Ends the call if a kernel has failed. */
static void nova_check_kernels(nova_context *context)
{
    nova_session *session = context->session;
    nova_failure failure;
    if (!session->may_have_failed)
        return;
    nova_device_read(context, &failure, session->failure, 0, sizeof failure);
    session->may_have_failed = false;
    if (failure.taken != 0)
        nova_report(context, failure.site, failure.first, failure.second);
}

/* Brings the array that contains an address to the host, which is about to read it, and also to write
 * it if `writes` is true. */
static void nova_on_host(nova_context *context, const void *address, bool writes)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, address);
    if (pair == NULL)
        return;
    if (!pair->on_host && pair->on_device) {
        nova_check_kernels(context);
        nova_device_read(context, (void *)pair->start, pair->memory, 0, pair->bytes);
    }
    pair->on_host = true;
    pair->on_device = pair->on_device && !writes;
}

/* The number of bytes that are copied in about the time of one wait for the device. */
#ifndef NOVA_BYTES_OF_A_WAIT
#define NOVA_BYTES_OF_A_WAIT ((size_t)64 << 10)
#endif

/* Brings one element of the array that contains an address to the host, which is about to read it; none
 * if the index is INT64_MIN. The whole array is copied once single elements have cost as much. */
static inline void nova_element_on_host(nova_context *context, const void *address, int64_t index,
                                        size_t size)
{
    uintptr_t at = (uintptr_t)address + (uintptr_t)index * size;
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, address);
    if (pair == NULL || pair->on_host || !pair->on_device || index == INT64_MIN)
        return;
    if (pair->bytes / NOVA_BYTES_OF_A_WAIT <= pair->elements_moved) {
        nova_on_host(context, address, false);
    } else if (at >= pair->start && at - pair->start < pair->bytes) {
        size_t offset = at - pair->start;
        pair->elements_moved++;
        nova_check_kernels(context);
        nova_device_read(context, (char *)pair->start + offset, pair->memory, offset, size);
    }
}

/* Brings one element, a scalar that the host has written, to the device if the other elements are
 * there. The whole array is copied to the host once single elements have cost as much. */
static inline void nova_element_written(nova_context *context, void *address, int64_t index, size_t size)
{
    unsigned char element[sizeof(int64_t)];
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, address);
    if (pair == NULL)
        return;
    if (!pair->on_device) {
        pair->on_host = true;
        return;
    }
    uintptr_t at = (uintptr_t)address + (uintptr_t)index * size;
    if (at < pair->start || at - pair->start >= pair->bytes || size > sizeof element)
        return;
    size_t offset = at - pair->start;
    void *place = (char *)pair->start + offset;
    if (pair->bytes / NOVA_BYTES_OF_A_WAIT <= pair->elements_moved) {
        memcpy(element, place, size);
        nova_on_host(context, address, true);
        memcpy(place, element, size);
    } else {
        pair->elements_moved++;
        nova_device_write(context, pair->memory, offset, place, size);
    }
}

/* Brings an array of the result to the side where the caller wants it. */
static inline void nova_bring_result(nova_context *context, const void *address)
{
    if (!context->session->lent)
        nova_on_host(context, address, false);
}

/* Brings the array that contains an address to the device, where a kernel is about to read it, and also
 * to write it if `writes` is true. Null if the address is not in an array. */
static nova_buffer_pair *nova_on_device(nova_context *context, const void *address, bool writes)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, address);
    if (pair == NULL)
        return NULL;
    if (pair->memory == NULL)
        pair->memory = nova_device_allocate(context, pair->bytes);
    if (pair->on_host && !pair->on_device)
        nova_device_write(context, pair->memory, 0, (const void *)pair->start, pair->bytes);
    pair->on_device = pair->on_device || pair->on_host || writes;
    pair->on_host = pair->on_host && !writes;
    pair->elements_moved = writes ? 0 : pair->elements_moved;
    return pair;
}

/* Copies bytes between arrays of the call that do not overlap, on the side where the elements are.
 * Elements that are current on the host stay there; those that only the device has stay on the device. */
static void nova_move_elements(nova_context *context, void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    nova_buffer_pair *target = nova_find_buffer_pair(context->session, to);
    nova_buffer_pair *source = nova_find_buffer_pair(context->session, from);
    size_t to_offset = target == NULL ? 0 : (uintptr_t)to - target->start;
    size_t from_offset = source == NULL ? 0 : (uintptr_t)from - source->start;
    bool from_host = source == NULL || source->on_host || !source->on_device;
    bool to_host = target == NULL || target->on_host || (!target->on_device && from_host);
    if (to_host && from_host) {
        memcpy(to, from, bytes);
    } else if (to_host) {
        nova_check_kernels(context);
        nova_device_read(context, to, source->memory, from_offset, bytes);
    } else if (target->memory == NULL || source == NULL || !source->on_device) {
        if (target->memory == NULL)
            target->memory = nova_device_allocate(context, target->bytes);
        if (source != NULL && source->on_device)
            nova_device_copy(context, target->memory, to_offset, source->memory, from_offset,
                             bytes);
        else
            nova_device_write(context, target->memory, to_offset, from, bytes);
    } else {
        nova_device_copy(context, target->memory, to_offset, source->memory, from_offset, bytes);
    }
    if (target != NULL) {
        target->on_host = to_host;
        target->on_device = !to_host;
    }
}

/* Replaces memory of a block by memory of more bytes that starts with the same `used` ones. Returns false
 * if there is none. */
static bool nova_more_memory(nova_context *context, void **data, size_t used, size_t bytes)
{
    void *more = nova_memory(context, bytes);
    if (more == NULL)
        return false;
    nova_move_elements(context, more, *data, used);
    nova_free_memory(context, *data);
    *data = more;
    return true;
}

/* Copies bytes of a result to the side where the caller wants it. A buffer on the host may also be an
 * argument. */
static inline void nova_move_result(nova_context *context, void *to, const void *from, size_t bytes)
{
    if (bytes > 0 && context->session->lent)
        nova_move_elements(context, to, from, bytes);
    else if (bytes > 0)
        memmove(to, from, bytes);
}

/* Copies count elements between arrays of the call that do not overlap. */
static inline void nova_copy_arrays(nova_context *context, void *to, const void *from,
                                    int64_t count, size_t size)
{
    if (count > 0)
        nova_move_elements(context, to, from, (size_t)count * size);
}

#endif
