/* What the OpenMP programs share: how data are cut into chunks, which threads take one after the
 * other, so that one that is late or slow takes fewer. Chunks are large enough that taking one, and
 * what is prefetched behind its end, cost nothing beside doing it. What makes one chunk only is done
 * without waking another thread. */
#ifndef OPENMP_H
#define OPENMP_H

#include "peer.h"
#include <omp.h>

enum {
    /* The least elements of a chunk, where each costs next to nothing. */
#ifdef SMALL_CHUNKS
    CHEAP = 64,
#else
    CHEAP = 1 << 15,
#endif
    /* The most: a megabyte of floats. */
    CHUNK_MOST = 1 << 18,
    /* How many chunks there are for each thread, if they are neither too large nor too small. */
    CHUNKS_EACH = 16,
};

/* How many chunks, of how many elements each, the last one fewer. */
typedef struct {
    int64_t count, length, total;
} chunks;

/* Chunks of n elements: of `least` or more, a multiple of `unit`. */
static inline chunks cut(int64_t n, int64_t least, int64_t unit)
{
    int64_t length = n / (CHUNKS_EACH * omp_get_max_threads());
    length = length < CHUNK_MOST ? length : CHUNK_MOST;
#ifdef SMALL_CHUNKS
    least = least < 64 ? least : 64;
    length = least;
#endif
    length = length > least ? length : least;
    length = (length + unit - 1) / unit * unit;
    return (chunks){(n + length - 1) / length, length, n};
}

/* Where a chunk begins, and where the one before ends. */
static inline int64_t chunk_begin(chunks all, int64_t chunk)
{
    int64_t begin = chunk * all.length;
    return begin < all.total ? begin : all.total;
}

/* How many elements a chunk has. */
static inline int64_t chunk_length(chunks all, int64_t chunk)
{
    return chunk_begin(all, chunk + 1) - chunk_begin(all, chunk);
}

#endif
