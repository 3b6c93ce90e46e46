/* Launches of kernels by the host. They are functions, since only nvcc can read CUDA's own notation. An
 * emulation of CUDA (tests/cuda/emulation) defines all of them itself.
 *
 * A launch has grid blocks of block threads; each block has shared_bytes of shared memory besides its
 * arrays. Neither extent may be 0. It returns 0, or the reason why it could not be put into the stream.
 * Later errors are reported when the host waits for the stream. */
#ifndef NOVA_LAUNCH_H
#define NOVA_LAUNCH_H

#include <cuda_runtime.h>

/* The largest size, in bytes, of the arrays in shared memory that kernels declare. */
#define NOVA_SHARED_DECLARED 1024

/* The bytes of a block's shared memory that every kernel may have, besides its declarations. For more
 * the host has to set an attribute. */
#define NOVA_SHARED_UNASKED (48 * 1024 - NOVA_SHARED_DECLARED)

/* The words of a value that an ordered region propagates (ordered.h), for each iteration. */
#define NOVA_ORDERED_WORDS 2

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

/* A kernel with any parameters, with its name and the place of its loop in the program. It is launched
 * with the addresses of its arguments, which must have the types of these parameters. The launch sets
 * the attribute for much shared memory. */
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
