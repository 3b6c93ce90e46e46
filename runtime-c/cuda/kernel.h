/* What kernels do by names of ours, since an emulation of CUDA (tests/cuda/emulation) does it
 * another way, and then defines them before: declare shared memory, which a block has there at
 * addresses of its own, and read and write memory that other blocks change meanwhile. */
#ifndef NOVA_KERNEL_H
#define NOVA_KERNEL_H

#include <cuda_runtime.h>

/* NOVA_SHARED(type, name, count); declares an array of the block, not initialised.
 * NOVA_DYNAMIC_SHARED(type, name); declares a pointer to what the launch has asked for. */
#ifndef NOVA_SHARED
#define NOVA_SHARED(type, name, count) __shared__ type name[count]
#define NOVA_DYNAMIC_SHARED(type, name)                                                            \
    extern __shared__ __align__(16) unsigned char nova_dynamic_shared[];                           \
    type *name = (type *)nova_dynamic_shared
#endif

/* Reads what another block may write at this moment; orders nothing else. A loop that waits for a
 * value reads it so, then calls __threadfence() before it reads what the value announces. */
#ifndef nova_load
template <typename T> static __device__ inline T nova_load(const T *address)
{
    return *(const volatile T *)address;
}
#endif

/* Writes what another block may read at this moment. Whoever announces other memory so calls
 * __threadfence() after writing that, and before this. */
#ifndef nova_store
template <typename T> static __device__ inline void nova_store(T *address, T value)
{
    *(volatile T *)address = value;
}
#endif

#endif
