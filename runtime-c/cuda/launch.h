/* How the host launches a kernel: by a function, since only nvcc can read CUDA's own notation for
 * it. An emulation of CUDA (tests/cuda/emulation) defines nova_launch itself. */
#ifndef NOVA_LAUNCH_H
#define NOVA_LAUNCH_H

#include <cuda_runtime.h>

/* Puts a launch into a stream: grid blocks of block threads, each block with so many bytes of
 * shared memory beside its arrays. Gives 0 or why it could not be put there; what goes wrong later
 * is told where somebody waits for the stream. Neither extent may be 0. */
#ifndef nova_launch
template <typename... Parameters, typename... Arguments>
static cudaError_t nova_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                               size_t shared_bytes, cudaStream_t stream, Arguments... arguments)
{
    kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
    return cudaGetLastError();
}
#endif

#endif
