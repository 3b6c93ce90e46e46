/* How a call runs a kernel: what it passes for arrays, and the launch. */
#ifndef NOVA_CUDA_RUN_H
#define NOVA_CUDA_RUN_H

#include "device.h"
#include "../device/memory.h"
#include "../device/call.h"
#include "launch.h"

/* Where the elements that a pointer leads to lie on the device; the kernel reads them and, where that
 * is said, writes them. */
template <typename T> static T *nova_array(nova_context *context, const T *pointer, bool writes)
{
    nova_mirror *mirror = nova_on_device(context, pointer, writes);
    return mirror == NULL ? NULL : (T *)(mirror->memory + ((uintptr_t)pointer - mirror->start));
}

/* Blocks for so many iterations, of which each thread does one or more. */
static inline unsigned nova_blocks_for(int64_t count)
{
    int64_t blocks = (count - 1) / NOVA_BLOCK_SIZE + 1;
    return (unsigned)(blocks < NOVA_MAX_BLOCKS ? blocks : NOVA_MAX_BLOCKS);
}

/* Runs a kernel for count iterations, behind the kernels before. */
template <typename... Parameters, typename... Arguments>
static void nova_run(nova_context *context,
                     void (*kernel)(int64_t, nova_failure *, Parameters...), int64_t count,
                     Arguments... arguments)
{
    nova_session *session = context->session;
    if (count <= 0)
        return;
    cudaError_t code = nova_launch(kernel, dim3(nova_blocks_for(count)), dim3(NOVA_BLOCK_SIZE), 0,
                                   session->queue, count, (nova_failure *)session->failure,
                                   arguments...);
    if (code != cudaSuccess)
        nova_fail_device(context, "launching a kernel", code);
    session->may_have_failed = true;
}

#endif
