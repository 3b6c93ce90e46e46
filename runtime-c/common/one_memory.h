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
