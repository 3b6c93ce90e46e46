/* A device for tests. Its memory is host memory, separate from the arrays of the call, like that of a
 * real device. */
#ifndef NOVA_FAKE_DEVICE_H
#define NOVA_FAKE_DEVICE_H

#include "../common/errors.h"
#include "test.h"

typedef char *nova_device_memory;

typedef struct nova_device_session {
    struct nova_buffer_pair *buffer_pairs;
    uint64_t random;
    nova_device_memory failure;
    bool may_have_failed;
    bool lent;
    struct nova_device *device;
    nova_device_memory heap;
    size_t heap_bytes;
    int64_t slice;
} nova_session;

static inline bool nova_memory_overlaps(nova_device_memory a, size_t a_bytes, nova_device_memory b,
                                        size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + b_bytes && second < first + a_bytes;
}

static int allocated, reads, written;

static nova_device_memory nova_device_allocate(nova_context *context, size_t bytes)
{
    char *memory = (char *)malloc(bytes);
    (void)context;
    CHECK(memory != NULL);
    memset(memory, 0x5a, bytes);
    allocated++;
    return memory;
}

static void nova_device_free(nova_session *session, nova_device_memory memory, size_t bytes)
{
    (void)session;
    (void)bytes;
    free(memory);
    allocated--;
}

static void nova_device_write(nova_context *context, nova_device_memory to, size_t offset,
                              const void *from, size_t bytes)
{
    (void)context;
    memcpy(to + offset, from, bytes);
    written++;
}

static void nova_device_read(nova_context *context, void *to, nova_device_memory from,
                             size_t offset, size_t bytes)
{
    (void)context;
    memcpy(to, from + offset, bytes);
    reads++;
}

static void nova_device_copy(nova_context *context, nova_device_memory to, size_t to_offset,
                             nova_device_memory from, size_t from_offset, size_t bytes)
{
    (void)context;
    memcpy(to + to_offset, from + from_offset, bytes);
}

#endif
