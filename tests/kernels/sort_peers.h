/* The opponents of `sort`, for its host and for themselves. */
#ifndef SORT_PEERS_H
#define SORT_PEERS_H

#include <stdint.h>

/* How elements are sorted: by the library, by the least significant digit first, of 8 or 11 bits, or by the
 * most significant one first. */
enum sort_way { SORT_LIBRARY, SORT_8_BITS, SORT_11_BITS, SORT_MOST_FIRST, SORT_WAYS };
/* The types of elements. */
enum sort_elements { SORT_INTS, SORT_UINT64S, SORT_FLOATS, SORT_PAIRS };

/* Sorts n elements, fewer than 2^31. `out` begins with a line of the cache. */
#ifdef __cplusplus
extern "C"
#endif
    void
    sort_peer(enum sort_way way, enum sort_elements elements, int threads, int64_t n, const void *in, void *out);

#endif
