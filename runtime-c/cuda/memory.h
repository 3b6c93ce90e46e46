/* Memory and streams of CUDA, by the names that all devices have for them. */
#ifndef NOVA_CUDA_MEMORY_H
#define NOVA_CUDA_MEMORY_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory on a device; an address that only kernels may use. */
typedef char *nova_device_memory;

/* Runs the kernels of a call, and its copies, one after the other. */
typedef cudaStream_t nova_queue;

/* What tells how long an operation of a stream took: events before and behind it; both are null if nobody
 * knows. */
typedef struct nova_span {
    cudaEvent_t begin, end;
} nova_span;

/* Gives memory back to the device. */
static void nova_release_memory(nova_device_memory memory)
{
    cudaFree(memory);
}

/* Whether two pieces of memory of these sizes have a byte in common. */
static inline bool nova_memory_overlaps(nova_device_memory a, size_t a_bytes, nova_device_memory b,
                                        size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + b_bytes && second < first + a_bytes;
}

/* Waits for all that has been put into a stream. */
static void nova_finish(nova_queue queue)
{
    cudaStreamSynchronize(queue);
}

/* Forgets when an operation began and ended. */
static void nova_drop_span(nova_span *span)
{
    if (span->begin != NULL)
        cudaEventDestroy(span->begin);
    if (span->end != NULL)
        cudaEventDestroy(span->end);
    span->begin = span->end = NULL;
}

/* Has a stream take the time at which the operation that comes next begins, if that is asked for. */
static nova_span nova_begin_span(nova_queue queue, bool asked)
{
    nova_span span = {NULL, NULL};
    if (asked
        && (cudaEventCreate(&span.begin) != cudaSuccess || cudaEventCreate(&span.end) != cudaSuccess
            || cudaEventRecord(span.begin, queue) != cudaSuccess)) {
        nova_drop_span(&span);
        /* The call goes on without this error. */
        cudaGetLastError();
    }
    return span;
}

/* Has a stream take the time at which the operation before has ended. */
static void nova_stop_span(nova_queue queue, nova_span *span)
{
    if (span->end != NULL && cudaEventRecord(span->end, queue) != cudaSuccess) {
        nova_drop_span(span);
        cudaGetLastError();
    }
}

/* How many seconds an operation took that has ended; false if that is not known, since it has failed. */
static bool nova_end_span(nova_span span, double *seconds)
{
    float milliseconds = 0;
    bool known = span.end != NULL
                 && cudaEventElapsedTime(&milliseconds, span.begin, span.end) == cudaSuccess;
    nova_drop_span(&span);
    if (!known)
        cudaGetLastError();
    *seconds = milliseconds * 1e-3;
    return known;
}

#endif
