/* What generated kernels stand on, for the samples that test it: the threads of kernels, their
 * failures and their memory, without the host's side of a device. */
#ifndef NOVA_SAMPLE_THREADS_H
#define NOVA_SAMPLE_THREADS_H

#include "sample.h"

/* In place of device/buffer_pairs.h, which is the host's. */
#define NOVA_BUFFER_PAIRS_H
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_RESULT_BUFFERS_ARE_FULL (-2)
#define NOVA_NODES_ARE_FULL (-3)
typedef struct nova_failure {
    int32_t taken, site;
    int64_t first, second;
} nova_failure;

#include "../../../runtime-c/cuda/threads.h"
#include "../../../runtime-c/device/threads.h"

/* The word of a failure on the device: none yet. */
inline nova_failure *no_failure()
{
    nova_failure *failure = on_device<nova_failure>(1);
    DO(cudaMemset(failure, 0, sizeof *failure));
    return failure;
}

#endif
