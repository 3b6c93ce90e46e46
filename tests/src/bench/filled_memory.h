/* Memory that a program allocates is filled before the program has it: with floats that are nan, and whole numbers that
 * are -1. A program that reads what it did not write then has wrong results, on every machine. */
#ifndef FILLED_MEMORY_H
#define FILLED_MEMORY_H

#include <stdlib.h>
#include <string.h>

static inline void *filled(void *memory, size_t bytes)
{
    return memory == NULL ? NULL : memset(memory, 0xff, bytes);
}

static inline void *filled_malloc(size_t bytes)
{
    return filled(malloc(bytes), bytes);
}

static inline void *filled_aligned_alloc(size_t alignment, size_t bytes)
{
    return filled(aligned_alloc(alignment, bytes), bytes);
}

#define malloc(bytes) filled_malloc(bytes)
#define aligned_alloc(alignment, bytes) filled_aligned_alloc(alignment, bytes)

#endif
