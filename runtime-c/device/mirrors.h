/* Two memories: each array of a call has a place in host memory, whose address is the array's name,
 * and, once a kernel uses it, memory on the device. Either holds the current elements, or both do;
 * whoever needs them at the other side has them copied first. Host memory that nothing is written to
 * costs addresses only. */
#ifndef NOVA_MIRRORS_H
#define NOVA_MIRRORS_H

/* It stands in place of common/one_memory.h. */
#define NOVA_ONE_MEMORY_H

#include "../common/errors.h"
#include "../common/memory.h"
#include <string.h>

/* The two places of an array. */
typedef struct nova_mirror {
    struct nova_mirror *left, *right; /* lower and higher addresses */
    uint64_t priority;                /* higher than that of those below */
    uintptr_t start;                  /* where it begins on the host */
    size_t bytes;
    nova_device_memory memory;        /* on the device; null: none yet */
    bool on_host;                     /* whether the elements on the host are current, */
    bool on_device;                   /* those on the device are; neither: none has been written */
    uint32_t elements_moved;          /* for the host, one at a time, since a kernel wrote some */
    bool lent;                        /* the memory on the device is the caller's */
    bool rises;                       /* these are offsets that have been checked there, */
    int64_t last_offset;              /* and the last of them */
} nova_mirror;

/* The array that an address lies in; null if it is none of the call's. */
static nova_mirror *nova_find_mirror(nova_session *session, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    nova_mirror *mirror = session->mirrors;
    while (mirror != NULL && (at < mirror->start || at - mirror->start >= mirror->bytes))
        mirror = at < mirror->start ? mirror->left : mirror->right;
    return mirror;
}

/* Puts an array into a tree: a search tree over addresses, a heap over random priorities, so that it
 * is balanced whatever the order in which arrays come. */
static nova_mirror *nova_insert_mirror(nova_mirror *tree, nova_mirror *mirror)
{
    nova_mirror **place = &tree, *rest;
    while (*place != NULL && (*place)->priority >= mirror->priority)
        place = mirror->start < (*place)->start ? &(*place)->left : &(*place)->right;
    rest = *place;
    *place = mirror;
    /* What stood there is split into lower and higher addresses. */
    nova_mirror **low = &mirror->left, **high = &mirror->right;
    while (rest != NULL) {
        if (rest->start < mirror->start) {
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

/* Takes the array that starts at an address out of a tree. */
static nova_mirror *nova_take_mirror(nova_session *session, uintptr_t start)
{
    nova_mirror **place = &session->mirrors;
    while (*place != NULL && (*place)->start != start)
        place = start < (*place)->start ? &(*place)->left : &(*place)->right;
    nova_mirror *taken = *place;
    if (taken == NULL)
        return NULL;
    nova_mirror *left = taken->left, *right = taken->right;
    while (left != NULL || right != NULL) {
        bool first = right == NULL || (left != NULL && left->priority >= right->priority);
        nova_mirror *above = first ? left : right;
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

/* Adds an array of the call, whose elements the host has; false if there is no memory for that. */
static bool nova_add_mirror(nova_session *session, const void *data, size_t bytes)
{
    nova_mirror *mirror = (nova_mirror *)calloc(1, sizeof *mirror);
    if (mirror == NULL)
        return false;
    session->random ^= session->random << 13;
    session->random ^= session->random >> 7;
    session->random ^= session->random << 17;
    mirror->priority = session->random;
    mirror->start = (uintptr_t)data;
    mirror->bytes = bytes;
    mirror->on_host = true;
    session->mirrors = nova_insert_mirror(session->mirrors, mirror);
    return true;
}

/* Forgets the array that starts at an address. */
static void nova_drop_mirror(nova_session *session, const void *data)
{
    nova_mirror *mirror = nova_take_mirror(session, (uintptr_t)data);
    if (mirror == NULL)
        return;
    if (mirror->lent)
        free((void *)mirror->start); /* It is only a name. */
    else if (mirror->memory != NULL)
        nova_device_free(session, mirror->memory, mirror->bytes);
    free(mirror);
}

/* Memory for a block of a call; null when there is none. */
static void *nova_memory(nova_context *context, size_t bytes)
{
    void *data = nova_host_memory(bytes);
    if (data != NULL && context->session != NULL
        && !nova_add_mirror(context->session, data, bytes > 0 ? bytes : 1)) {
        free(data);
        return NULL;
    }
    return data;
}

/* Frees memory of a block of a call. */
static void nova_free_memory(nova_context *context, void *data)
{
    if (data != NULL && context->session != NULL)
        nova_drop_mirror(context->session, data);
    free(data);
}

/* Lets kernels read count elements that the caller has lent. Arguments may overlap: these are then
 * one array, and those that a caller has on the device have a name already. */
static void nova_lend(nova_context *context, const void *data, int64_t count, size_t size)
{
    nova_session *session = context->session;
    if (data == NULL || count <= 0)
        return;
    uintptr_t start = (uintptr_t)data, end = start + (size_t)count * size;
    nova_mirror *mirror = nova_find_mirror(session, data);
    if (mirror != NULL && end - mirror->start <= mirror->bytes)
        return;
    mirror = session->mirrors;
    while (mirror != NULL) {
        if (start < mirror->start + mirror->bytes && mirror->start < end) {
            start = mirror->start < start ? mirror->start : start;
            end = mirror->start + mirror->bytes > end ? mirror->start + mirror->bytes : end;
            nova_drop_mirror(session, (const void *)mirror->start);
            mirror = session->mirrors;
        } else {
            mirror = start < mirror->start ? mirror->left : mirror->right;
        }
    }
    if (!nova_add_mirror(session, (const void *)start, end - start))
        nova_fail_memory(context, NULL);
}

/* Constant text of so many bytes, which kernels may read from now on. */
static inline const void *nova_constant(nova_context *context, const char *text, int64_t count)
{
    nova_lend(context, text, count, 1);
    return text;
}

/* Says that nothing has been written to a new array yet. */
static inline void *nova_fresh(nova_context *context, void *data)
{
    nova_mirror *mirror = nova_find_mirror(context->session, data);
    if (mirror != NULL)
        mirror->on_host = mirror->on_device = false;
    return data;
}

/* Reports the failure of a kernel; each program has its own, which knows the places. */
static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second);

/* What a kernel writes that fails: the first one to do so. Later kernels do nothing. */
typedef struct nova_failure {
    int32_t taken; /* 1 after a failure */
    int32_t site;  /* which check of the program */
    int64_t first, second;
} nova_failure;

/* In place of a check: a thread needs `first` bytes of memory, the pieces numbered `first` need
 * `second` words, or the growing node table numbered `first` room for `second` nodes. The same stands in
 * the text of kernels. */
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_PIECES_ARE_FULL (-2)
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

/* Brings the elements of the array that an address lies in to the host, who is about to read them
 * and, where that is said, to write them. */
static void nova_on_host(nova_context *context, const void *address, bool writes)
{
    nova_mirror *mirror = nova_find_mirror(context->session, address);
    if (mirror == NULL)
        return;
    if (!mirror->on_host && mirror->on_device) {
        nova_check_kernels(context);
        nova_device_read(context, (void *)mirror->start, mirror->memory, 0, mirror->bytes);
    }
    mirror->on_host = true;
    mirror->on_device = mirror->on_device && !writes;
}

/* Bytes that are copied in the time that a wait for the device takes, about. */
#ifndef NOVA_BYTES_OF_A_WAIT
#define NOVA_BYTES_OF_A_WAIT ((size_t)64 << 10)
#endif

/* Brings an element of the array that an address lies in to the host, who is about to read it; none where
 * the index is INT64_MIN. The whole array comes once its elements, one at a time, have cost as much. */
static inline void nova_element_on_host(nova_context *context, const void *address, int64_t index,
                                        size_t size)
{
    uintptr_t at = (uintptr_t)address + (uintptr_t)index * size;
    nova_mirror *mirror = nova_find_mirror(context->session, address);
    if (mirror == NULL || mirror->on_host || !mirror->on_device || index == INT64_MIN)
        return;
    if (mirror->bytes / NOVA_BYTES_OF_A_WAIT <= mirror->elements_moved) {
        nova_on_host(context, address, false);
    } else if (at >= mirror->start && at - mirror->start < mirror->bytes) {
        size_t offset = at - mirror->start;
        mirror->elements_moved++;
        nova_check_kernels(context);
        nova_device_read(context, (char *)mirror->start + offset, mirror->memory, offset, size);
    }
}

/* Brings an element of the array that an address lies in to the device, where the others are, since the
 * host has written it: a scalar. The whole array comes to the host once elements, one at a time, have cost
 * as much. */
static inline void nova_element_written(nova_context *context, void *address, int64_t index, size_t size)
{
    unsigned char element[sizeof(int64_t)];
    nova_mirror *mirror = nova_find_mirror(context->session, address);
    if (mirror == NULL)
        return;
    if (!mirror->on_device) {
        mirror->on_host = true;
        return;
    }
    uintptr_t at = (uintptr_t)address + (uintptr_t)index * size;
    if (at < mirror->start || at - mirror->start >= mirror->bytes || size > sizeof element)
        return;
    size_t offset = at - mirror->start;
    void *place = (char *)mirror->start + offset;
    if (mirror->bytes / NOVA_BYTES_OF_A_WAIT <= mirror->elements_moved) {
        memcpy(element, place, size);
        nova_on_host(context, address, true);
        memcpy(place, element, size);
    } else {
        mirror->elements_moved++;
        nova_device_write(context, mirror->memory, offset, place, size);
    }
}

/* Brings an array of the result to where the caller wants it. */
static inline void nova_bring_result(nova_context *context, const void *address)
{
    if (!context->session->lent)
        nova_on_host(context, address, false);
}

/* The memory on the device of the array that an address lies in, with its elements; a kernel is about
 * to read them and, where that is said, to write them. The address must be that of an array. */
static nova_mirror *nova_on_device(nova_context *context, const void *address, bool writes)
{
    nova_mirror *mirror = nova_find_mirror(context->session, address);
    if (mirror == NULL)
        return NULL;
    if (mirror->memory == NULL)
        mirror->memory = nova_device_allocate(context, mirror->bytes);
    if (mirror->on_host && !mirror->on_device)
        nova_device_write(context, mirror->memory, 0, (const void *)mirror->start, mirror->bytes);
    mirror->on_device = mirror->on_device || mirror->on_host || writes;
    mirror->on_host = mirror->on_host && !writes;
    mirror->elements_moved = writes ? 0 : mirror->elements_moved;
    return mirror;
}

/* Copies bytes between arrays of the call that do not overlap, where they are: what is current on
 * the host stays so, and what only the device has stays there. */
static void nova_move_elements(nova_context *context, void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    nova_mirror *target = nova_find_mirror(context->session, to);
    nova_mirror *source = nova_find_mirror(context->session, from);
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

/* Copies bytes of a result to where the caller wants it. A buffer on the host may also be an argument. */
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
