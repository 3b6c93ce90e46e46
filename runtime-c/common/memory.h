/* Memory of the host. */
#ifndef NOVA_MEMORY_H
#define NOVA_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The target of pointers to arrays without elements. */
static uint64_t nova_empty[1];

/* Blocks of at least this many bytes start at a cache line. */
#define NOVA_ALIGN_FROM 4096
#define NOVA_ALIGNMENT 64

/* Memory that free() releases; null if there is none. */
static void *nova_host_memory(size_t bytes)
{
    if (bytes < NOVA_ALIGN_FROM)
        return malloc(bytes > 0 ? bytes : 1);
    if (bytes > PTRDIFF_MAX - NOVA_ALIGNMENT)
        return NULL;
    size_t lines = (bytes + NOVA_ALIGNMENT - 1) / NOVA_ALIGNMENT;
    return aligned_alloc(NOVA_ALIGNMENT, lines * NOVA_ALIGNMENT);
}

#endif
