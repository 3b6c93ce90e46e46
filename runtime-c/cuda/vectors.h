/* Vectors of neighbouring elements that a thread of a kernel loads or stores together. A GPU moves 16
 * bytes of a thread by one instruction, and the neighbours of a whole warp by the fewest transactions,
 * but only from aligned addresses. Arrays are aligned. Slices of arrays, and arrays of callers, may not
 * be. So each access tests the alignment, which is mostly the same for all threads of a warp. */
#ifndef NOVA_CUDA_VECTORS_H
#define NOVA_CUDA_VECTORS_H

#include "kernel.h"
#include <stdint.h>

/* A vector of neighbouring elements. */
template <typename T, int count> struct nova_vector {
    T lanes[count];
};

/* The part of a vector that one instruction moves. */
template <typename T, int count> struct nova_moved {
    enum { lanes_count = count * sizeof(T) < 16 ? count : 16 / sizeof(T) };
    struct alignas(lanes_count * sizeof(T)) part {
        T lanes[lanes_count];
    };
    static __device__ inline bool is_aligned(const T *at)
    {
        return (uintptr_t)at % sizeof(part) == 0;
    }
};

/* Loads a vector. */
template <int count, typename T> static __device__ inline nova_vector<T, count> nova_load_vector(
    const T *from)
{
    typedef nova_moved<T, count> moved;
    nova_vector<T, count> vector;
    if (moved::is_aligned(from)) {
        for (int k = 0; k < count; k += moved::lanes_count) {
            typename moved::part part = *(const typename moved::part *)(from + k);
            for (int lane = 0; lane < moved::lanes_count; lane++)
                vector.lanes[k + lane] = part.lanes[lane];
        }
    } else {
        for (int k = 0; k < count; k++)
            vector.lanes[k] = from[k];
    }
    return vector;
}

/* Stores a vector. */
template <typename T, typename... Values> static __device__ inline void nova_store_vector(
    T *to, Values... values)
{
    typedef nova_moved<T, sizeof...(Values)> moved;
    const int count = (int)sizeof...(Values);
    const T lanes[] = {(T)values...};
    if (moved::is_aligned(to)) {
        for (int k = 0; k < count; k += moved::lanes_count) {
            typename moved::part part;
            for (int lane = 0; lane < moved::lanes_count; lane++)
                part.lanes[lane] = lanes[k + lane];
            *(typename moved::part *)(to + k) = part;
        }
    } else {
        for (int k = 0; k < count; k++)
            to[k] = lanes[k];
    }
}

#endif
