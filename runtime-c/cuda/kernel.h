/* What kernels need that CUDA's notation alone cannot say to the emulation on a CPU
 * (tests/cuda/emulation): shared memory, which a block there has at addresses of its own, and reads
 * and writes of memory that other blocks change meanwhile. */
#ifndef NOVA_KERNEL_H
#define NOVA_KERNEL_H

#include <cuda_runtime.h>

/* NOVA_SHARED(type, name, count); declares an array of the block, not initialised.
 * NOVA_DYNAMIC_SHARED(type, name); declares a pointer to what the launch has asked for. */
#ifdef NOVA_CUDA_EMULATION
#define NOVA_SHARED(type, name, count)                                                             \
    static const char name##_declared = 0;                                                         \
    type(&name)[count] = *(type(*)[count])nova_emulation::find_shared(                             \
        &name##_declared, sizeof(type) * (count), alignof(type) > 16 ? alignof(type) : 16)
#define NOVA_DYNAMIC_SHARED(type, name) type *name = (type *)nova_emulation::dynamic_shared()
#else
#define NOVA_SHARED(type, name, count) __shared__ type name[count]
#define NOVA_DYNAMIC_SHARED(type, name)                                                            \
    extern __shared__ __align__(16) unsigned char nova_dynamic_shared[];                           \
    type *name = (type *)nova_dynamic_shared
#endif

/* Reads what another block may write at this moment; orders nothing else. A loop that waits for a
 * value reads it so, then calls __threadfence() before it reads what the value announces. */
template <typename T> static __device__ inline T nova_load(const T *address)
{
#ifdef NOVA_CUDA_EMULATION
    return nova_emulation::load(address);
#else
    return *(const volatile T *)address;
#endif
}

/* Writes what another block may read at this moment. Whoever announces other memory so calls
 * __threadfence() after writing that, and before this. */
template <typename T> static __device__ inline void nova_store(T *address, T value)
{
#ifdef NOVA_CUDA_EMULATION
    nova_emulation::store(address, value);
#else
    *(volatile T *)address = value;
#endif
}

#endif
