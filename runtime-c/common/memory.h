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

/* Memory that starts at a line, and that free() releases; null if there is none. */
static void *nova_aligned_memory(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - NOVA_ALIGNMENT)
        return NULL;
    size_t lines = (bytes + NOVA_ALIGNMENT - 1) / NOVA_ALIGNMENT;
    return aligned_alloc(NOVA_ALIGNMENT, lines * NOVA_ALIGNMENT);
}

/* What the C library puts before a block, which together with a block of lines fills lines. */
#define NOVA_MALLOC_HEADER 16

/* Memory that free() releases; null if there is none. Where aligned_alloc() asks for room to align the block in,
 * memory of a block that was freed does not suffice for the next block of its size, and the heap grows from call
 * to call. malloc() takes that memory, which starts at a line already. */
static void *nova_host_memory(size_t bytes)
{
    if (bytes < NOVA_ALIGN_FROM)
        return malloc(bytes > 0 ? bytes : 1);
    if (bytes > PTRDIFF_MAX - 2 * NOVA_ALIGNMENT)
        return NULL;
    size_t lines = (bytes + NOVA_ALIGNMENT - 1) / NOVA_ALIGNMENT + 1;
    void *data = malloc(lines * NOVA_ALIGNMENT - NOVA_MALLOC_HEADER);
    if (data == NULL || (uintptr_t)data % NOVA_ALIGNMENT == 0)
        return data;
    free(data);
    /* So large that malloc() finds it for the next block of this size. */
    return nova_aligned_memory(lines * NOVA_ALIGNMENT);
}

#endif
