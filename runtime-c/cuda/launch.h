/* How the host launches a kernel: one function for nvcc and for the emulation on a CPU
 * (tests/cuda/emulation), which cannot read CUDA's own notation for it. */
#ifndef NOVA_LAUNCH_H
#define NOVA_LAUNCH_H

#include <cuda_runtime.h>

/* nova_launch(kernel, grid, block, shared_bytes, stream, arguments...) puts a launch into a stream:
 * grid blocks of block threads, each block with so much shared memory beside its arrays. Gives 0 or
 * why it could not be put there; what goes wrong later is told where somebody waits for the
 * stream. Neither extent may be 0. */
#ifdef NOVA_CUDA_EMULATION
#define nova_launch(...) NOVA_EMULATION_LAUNCH(__VA_ARGS__)
#else
template <typename... Parameters, typename... Arguments>
static cudaError_t nova_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                               size_t shared_bytes, cudaStream_t stream, Arguments... arguments)
{
    kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
    return cudaGetLastError();
}
#endif

#endif
