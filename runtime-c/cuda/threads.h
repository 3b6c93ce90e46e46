/* Definitions for the threads of kernels: the iterations that they share, and failures. They stand in a
 * namespace of their own, where a context belongs to a thread. */
#ifndef NOVA_CUDA_THREADS_H
#define NOVA_CUDA_THREADS_H

#include "kernel.h"
#include "../device/buffer_pairs.h"
#include <stdint.h>

/* Loops that most threads run only once are not unrolled: their number of iterations would need a
 * division of 64 bits. */
#ifdef __NVCC__
#define NOVA_NOT_UNROLLED _Pragma("unroll 1")
#else
#define NOVA_NOT_UNROLLED
#endif

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count)                                                          \
    NOVA_NOT_UNROLLED                                                                              \
    for (int64_t variable = NOVA_THREAD; variable < (count);                                       \
         variable += (int64_t)gridDim.x * blockDim.x)

/* A loop whose iterations the blocks share; all threads of a block run each of its iterations. */
#define NOVA_GROUP_LOOP(variable, count)                                                           \
    NOVA_NOT_UNROLLED                                                                              \
    for (int64_t variable = (int64_t)blockIdx.x; variable < (count);                               \
         variable += (int64_t)gridDim.x)

/* A loop whose iterations the threads of a block share. */
#define NOVA_LOCAL_LOOP(variable, count)                                                           \
    for (int64_t variable = (int64_t)threadIdx.x; variable < (count);                              \
         variable += (int64_t)blockDim.x)

/* States at the start of a kernel of groups the number of threads with work. nova_launch_groups
 * launches blocks of NOVA_BLOCK_SIZE, unless half of that is enough. In loops that the threads of a
 * block share, the compiler then knows the stride, and keeps several loads in flight. */
#define NOVA_GROUPS_OF(threads)                                                                    \
    __builtin_assume((threads) <= NOVA_BLOCK_SIZE / 2 || blockDim.x == NOVA_BLOCK_SIZE)

/* The words of the files of device/ for kernels, as they are written in CUDA. */
#define NOVA_GLOBAL
#define NOVA_LOCAL
#define NOVA_IN_KERNELS static __device__ inline
#define NOVA_ANY_TYPE __attribute__((may_alias))
#define NOVA_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define NOVA_THREAD_OF_GROUP threadIdx.x
#define NOVA_BARRIER() __syncthreads()
/* Accesses to words of 32 bits that other threads may write at the same time. */
#define NOVA_READ_GLOBAL(at) nova_load(at)
#define NOVA_READ_LOCAL(at) nova_load(at)
#define NOVA_LOWER_LOCAL(at, value) atomicMin(at, value)
#define NOVA_COMPARE_AND_SWAP(at, old, value) atomicCAS(at, old, value)
#define NOVA_ADD_GLOBAL(at, value) atomicAdd(at, value)

/* Stores to an element that other threads may write at the same time: it becomes one of the values, or
 * the greatest of them and of the old value. No word is written in parts. */
#define NOVA_PUT(type, at, value) nova_store(at, (type)(value))
#define NOVA_RAISE(at, value) atomicMax(at, value)

#endif
