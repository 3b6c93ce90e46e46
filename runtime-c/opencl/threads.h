/* Macros for threads of kernels: shared loops, and failures. */
#ifndef NOVA_OPENCL_THREADS_H
#define NOVA_OPENCL_THREADS_H

#include "kernel.h"

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count) \
    for (int64_t variable = NOVA_THREAD; variable < (count); \
         variable += (int64_t)get_global_size(0))

/* A loop whose iterations the work-groups share; all threads of a group run each of its iterations. */
#define NOVA_GROUP_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_group_id(0); variable < (count); \
         variable += (int64_t)get_num_groups(0))

/* A loop whose iterations the threads of a work-group share. All threads run the same number of
 * iterations; in the last one some have nothing to do. Where threads wait for each other before and
 * after loops with fewer iterations for some, PoCL 3.1 loses the stores of such loops. */
#define NOVA_LOCAL_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_local_id(0); variable - (int64_t)get_local_id(0) < (count); \
         variable += (int64_t)get_local_size(0)) \
        if (variable >= (count)) { \
        } else

/* Definitions of the macros that the headers of device/ for kernels use. */
#define NOVA_GLOBAL __global
#define NOVA_LOCAL __local
#define NOVA_IN_KERNELS static
#define NOVA_ANY_TYPE __attribute__((may_alias))
#define NOVA_THREAD ((int64_t)get_global_id(0))
#define NOVA_THREAD_OF_GROUP get_local_id(0)
#define NOVA_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
/* Words of 32 bits that other threads may write at the same time. */
#define NOVA_READ_GLOBAL(at) (*(volatile __global const int *)(at))
#define NOVA_READ_LOCAL(at) (*(volatile __local const int *)(at))
#define NOVA_LOWER_LOCAL(at, value) atomic_min((volatile __local int *)(at), value)
#define NOVA_COMPARE_AND_SWAP(at, old, value) atomic_cmpxchg((volatile __global uint *)(at), old, value)
#define NOVA_ADD_GLOBAL(at, value) atomic_add((volatile __global uint *)(at), value)

/* Writes an element that other threads may write at the same time. Afterwards it is one of the values
 * (NOVA_PUT), or the greatest of them and of the old value (NOVA_RAISE). No word is written in parts. */
#define NOVA_PUT(type, at, value) (*(volatile __global type *)(at) = (value))
#define NOVA_RAISE(at, value) atomic_max((volatile __global int *)(at), value)

/* The record of the first failure of a kernel. */
typedef struct nova_failure {
    int32_t taken, site;
    int64_t first, second;
} nova_failure;

/* Failures that the host answers with more memory: `first` bytes for a thread, `second` words for the
 * result buffers numbered `first`, or room for `second` nodes in the growing node table numbered
 * `first`. */
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_RESULT_BUFFERS_ARE_FULL (-2)
#define NOVA_NODES_ARE_FULL (-3)

#endif
