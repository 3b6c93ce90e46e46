/* How the host launches a kernel: by functions, since only nvcc can read CUDA's own notation for it.
 * An emulation of CUDA (tests/cuda/emulation) defines all of them itself. A launch
 * is of grid blocks of block threads, each block with so many bytes of shared memory beside its arrays;
 * neither extent may be 0. It gives 0 or why it could not be put into the stream; what goes wrong
 * later is told where somebody waits for the stream. */
#ifndef NOVA_LAUNCH_H
#define NOVA_LAUNCH_H

#include <cuda_runtime.h>

/* Bytes of a block's shared memory that the arrays that kernels declare may have. */
#define NOVA_SHARED_DECLARED 1024

/* Bytes of a block's shared memory that every kernel may have, beside what it declares; for more the
 * host has to ask. */
#define NOVA_SHARED_UNASKED (48 * 1024 - NOVA_SHARED_DECLARED)

/* Puts a launch into a stream. */
#ifndef nova_put_launch
template <typename... Parameters, typename... Arguments>
static cudaError_t nova_put_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                   size_t shared_bytes, cudaStream_t stream,
                                   Arguments... arguments)
{
    kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
    return cudaGetLastError();
}
#endif

/* A kernel whatever its parameters are, with its name and where in the program its loop stands; and its
 * launch by the addresses of its arguments, which must have the types of these parameters. Room for
 * much shared memory is asked for. */
#ifndef NOVA_KERNEL
#define NOVA_KERNEL(kernel, place) nova_kernel_of((const void *)(kernel), #kernel, place)

typedef struct nova_kernel {
    const void *function;
    const char *name, *place;
} nova_kernel;

static inline nova_kernel nova_kernel_of(const void *function, const char *name, const char *place)
{
    nova_kernel kernel = {function, name, place};
    return kernel;
}

static inline cudaError_t nova_put_kernel(nova_kernel kernel, dim3 grid, dim3 block,
                                          size_t shared_bytes, cudaStream_t stream,
                                          void **arguments)
{
    cudaError_t code = cudaSuccess;
    if (shared_bytes > NOVA_SHARED_UNASKED)
        code = cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)shared_bytes);
    if (code == cudaSuccess)
        code = cudaLaunchKernel(kernel.function, grid, block, arguments, shared_bytes, stream);
    return code;
}
#endif

#endif
