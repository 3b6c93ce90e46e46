/* Operations of kernels with names of the runtime, since an emulation of CUDA (tests/cuda/emulation)
 * defines them differently before this file. They declare shared memory, which each block of the
 * emulation has at other addresses. They read and write memory that other blocks change at the same
 * time. */
#ifndef NOVA_KERNEL_H
#define NOVA_KERNEL_H

#include <cuda_runtime.h>

/* NOVA_SHARED(type, name, count); declares an uninitialised array of the block.
 * NOVA_DYNAMIC_SHARED(type, name); declares a pointer to the shared memory of the launch. */
#ifndef NOVA_SHARED
#define NOVA_SHARED(type, name, count) __shared__ type name[count]
#define NOVA_DYNAMIC_SHARED(type, name)                                                            \
    extern __shared__ __align__(16) unsigned char nova_dynamic_shared[];                           \
    type *name = (type *)nova_dynamic_shared
#endif

/* Reads memory that another block may write at the same time; orders nothing else. A loop that waits
 * for a value reads it so, then calls __threadfence() before it reads the data that the value
 * announces. */
#ifndef nova_load
template <typename T> static __device__ inline T nova_load(const T *address)
{
    return *(const volatile T *)address;
}
#endif

/* Writes memory that another block may read at the same time. To announce other data, call
 * __threadfence() after writing that data, and before this store. */
#ifndef nova_store
template <typename T> static __device__ inline void nova_store(T *address, T value)
{
    *(volatile T *)address = value;
}
#endif

#endif
