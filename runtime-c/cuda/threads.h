/* What threads of kernels use: the iterations that they share, and failures. It stands in a namespace
 * of its own, where a context is a thread's. */
#ifndef NOVA_CUDA_THREADS_H
#define NOVA_CUDA_THREADS_H

#include "kernel.h"
#include "../device/mirrors.h"
#include <stdint.h>

/* Loops that most threads run through once are not written out: how many rounds they have would be a
 * division of 64 bits. */
#ifdef __NVCC__
#define NOVA_NOT_WRITTEN_OUT _Pragma("unroll 1")
#else
#define NOVA_NOT_WRITTEN_OUT
#endif

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count)                                                          \
    NOVA_NOT_WRITTEN_OUT                                                                           \
    for (int64_t variable = NOVA_THREAD; variable < (count);                                       \
         variable += (int64_t)gridDim.x * blockDim.x)

/* One whose iterations the blocks share, each of them done by all threads of its block. */
#define NOVA_GROUP_LOOP(variable, count)                                                           \
    NOVA_NOT_WRITTEN_OUT                                                                           \
    for (int64_t variable = (int64_t)blockIdx.x; variable < (count);                               \
         variable += (int64_t)gridDim.x)

/* One whose iterations the threads of a block share. */
#define NOVA_LOCAL_LOOP(variable, count)                                                           \
    for (int64_t variable = (int64_t)threadIdx.x; variable < (count);                              \
         variable += (int64_t)blockDim.x)

/* Says at the beginning of a kernel of groups that have work for so many threads: nova_launch_groups gives them
 * blocks of NOVA_BLOCK_SIZE, unless half of that is enough. Loops that the threads of a block share then have a
 * stride that the compiler knows, and several loads under way. */
#define NOVA_GROUPS_OF(threads)                                                                    \
    __builtin_assume((threads) <= NOVA_BLOCK_SIZE / 2 || blockDim.x == NOVA_BLOCK_SIZE)

/* How what the files of device/ for kernels say in the words of C is written here. */
#define NOVA_GLOBAL
#define NOVA_LOCAL
#define NOVA_IN_KERNELS static __device__ inline
#define NOVA_ANY_TYPE __attribute__((may_alias))
#define NOVA_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define NOVA_THREAD_OF_GROUP threadIdx.x
#define NOVA_BARRIER() __syncthreads()
/* Words of 32 bits that other threads may write meanwhile. */
#define NOVA_READ_GLOBAL(at) nova_load(at)
#define NOVA_READ_LOCAL(at) nova_load(at)
#define NOVA_LOWER_LOCAL(at, value) atomicMin(at, value)
#define NOVA_COMPARE_AND_SWAP(at, old, value) atomicCAS(at, old, value)
#define NOVA_ADD_GLOBAL(at, value) atomicAdd(at, value)

/* Writes an element that other threads may write meanwhile, after which it is one of the values, or the
 * greatest of them and of what was there. No word is written in parts. */
#define NOVA_PUT(type, at, value) nova_store(at, (type)(value))
#define NOVA_RAISE(at, value) atomicMax(at, value)

#endif
