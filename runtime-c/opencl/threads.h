/* What threads of kernels use: the iterations that they share, and failures. */
#ifndef NOVA_OPENCL_THREADS_H
#define NOVA_OPENCL_THREADS_H

#include "kernel.h"

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count) \
    for (int64_t variable = NOVA_THREAD; variable < (count); \
         variable += (int64_t)get_global_size(0))

/* One whose iterations the work-groups share, each of them done by all threads of its group. */
#define NOVA_GROUP_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_group_id(0); variable < (count); \
         variable += (int64_t)get_num_groups(0))

/* One whose iterations the threads of a work-group share. All of them do the same number of rounds, also
 * those that have nothing left to do in the last one: where threads wait for each other before and behind
 * loops of fewer rounds for some, PoCL 3.1 loses what such loops write. */
#define NOVA_LOCAL_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_local_id(0); variable - (int64_t)get_local_id(0) < (count); \
         variable += (int64_t)get_local_size(0)) \
        if (variable >= (count)) { \
        } else

/* How what the files of device/ for kernels say in the words of C is written here. */
#define NOVA_GLOBAL __global
#define NOVA_LOCAL __local
#define NOVA_IN_KERNELS static
#define NOVA_ANY_TYPE __attribute__((may_alias))
#define NOVA_THREAD ((int64_t)get_global_id(0))
#define NOVA_THREAD_OF_GROUP get_local_id(0)
#define NOVA_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
/* Words of 32 bits that other threads may write meanwhile. */
#define NOVA_READ_GLOBAL(at) (*(volatile __global const int *)(at))
#define NOVA_READ_LOCAL(at) (*(volatile __local const int *)(at))
#define NOVA_LOWER_LOCAL(at, value) atomic_min((volatile __local int *)(at), value)
#define NOVA_COMPARE_AND_SWAP(at, old, value) atomic_cmpxchg((volatile __global uint *)(at), old, value)
#define NOVA_ADD_GLOBAL(at, value) atomic_add((volatile __global uint *)(at), value)

/* Writes an element that other threads may write meanwhile, after which it is one of the values, or the
 * greatest of them and of what was there. No word is written in parts. */
#define NOVA_PUT(type, at, value) (*(volatile __global type *)(at) = (value))
#define NOVA_RAISE(at, value) atomic_max((volatile __global int *)(at), value)

/* What a kernel writes that fails: the first one to do so. */
typedef struct nova_failure {
    int32_t taken, site;
    int64_t first, second;
} nova_failure;

/* Failures that the host answers with more memory, in place of a check: `first` bytes for a thread,
 * `second` words for the pieces numbered `first`, and room for `second` nodes in the growing node table
 * numbered `first`. */
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_PIECES_ARE_FULL (-2)
#define NOVA_NODES_ARE_FULL (-3)

#endif
