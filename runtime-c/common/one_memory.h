/* Memory of calls that use only the host's memory. device/buffer_pairs.h has the same functions for
 * calls whose arrays may lie on a device. */
#ifndef NOVA_ONE_MEMORY_H
#define NOVA_ONE_MEMORY_H

#include "context.h"
#include "memory.h"
#include <string.h>

/* Memory for a block of a call; null if there is none. */
static void *nova_memory(nova_context *context, size_t bytes)
{
    (void)context;
    return nova_host_memory(bytes);
}

/* Frees memory of a block of a call. */
static void nova_free_memory(nova_context *context, void *data)
{
    (void)context;
    free(data);
}

/* Makes memory of a block that was released like new memory. */
static inline void nova_renew_memory(nova_context *context, void *data)
{
    (void)context;
    (void)data;
}

/* Large memory grows without a copy where the system can give it other addresses. */
#define NOVA_REMAP_FROM ((size_t)1 << 20)

/* Replaces memory of a block by memory of more bytes that starts with the same `used` ones. Returns false
 * if there is none. */
static bool nova_more_memory(nova_context *context, void **data, size_t used, size_t bytes)
{
    (void)context;
    void *more = NULL;
    if (bytes >= NOVA_REMAP_FROM) {
        more = realloc(*data, bytes);
        if (more == NULL)
            return false;
        *data = more;
        if ((uintptr_t)more % NOVA_ALIGNMENT == 0)
            return true;
    }
    /* What aligned_alloc() gives still starts at a line when it has grown. */
    more = bytes >= NOVA_REMAP_FROM ? nova_aligned_memory(bytes) : nova_host_memory(bytes);
    if (more == NULL)
        return false;
    memcpy(more, *data, used);
    free(*data);
    *data = more;
    return true;
}

/* Copies bytes between blocks of a call. */
static void nova_move_elements(nova_context *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    memcpy(to, from, bytes);
}

/* Copies bytes of a result to the caller's buffer, which may also be an argument. */
static inline void nova_move_result(nova_context *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (bytes > 0)
        memmove(to, from, bytes);
}

#endif
