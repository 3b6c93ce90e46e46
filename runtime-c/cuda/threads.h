/* What threads of kernels use: the iterations that they share, and failures. It stands in a namespace
 * of its own, where a context is a thread's. */
#ifndef NOVA_CUDA_THREADS_H
#define NOVA_CUDA_THREADS_H

#include "../device/mirrors.h"

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count)                                                          \
    for (int64_t variable = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; variable < (count);    \
         variable += (int64_t)gridDim.x * blockDim.x)

/* What a thread needs to fail. */
typedef struct nova_context {
    nova_failure *failure;
    bool failed; /* whether the thread is to leave its function */
    const struct nova_device_tables *tables; /* nodes of recursive data */
} nova_context;

/* Whether a thread has failed, of this kernel or of one before. */
static inline bool nova_has_failed(const nova_failure *failure)
{
    return nova_load(&failure->taken) != 0;
}

/* The thread fails at a check; the function that it is in returns. */
static inline void nova_fail_at(nova_context *context, int32_t site, int64_t first,
                                int64_t second)
{
    context->failed = true;
    if (atomicCAS(&context->failure->taken, 0, 1) == 0) {
        context->failure->site = site;
        context->failure->first = first;
        context->failure->second = second;
    }
}

#endif
