/* Memory and streams of CUDA, with the names that all devices share. */
#ifndef NOVA_CUDA_MEMORY_H
#define NOVA_CUDA_MEMORY_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory on a device: an address that only kernels may use. */
typedef char *nova_device_memory;

/* A queue runs the kernels of a call, and its copies, one after the other. */
typedef cudaStream_t nova_queue;

/* The duration of an operation of a stream, as the events before and after it. Both are null if it is
 * not measured. */
typedef struct nova_span {
    cudaEvent_t begin, end;
} nova_span;

/* Returns memory to the device. */
static void nova_release_memory(nova_device_memory memory)
{
    cudaFree(memory);
}

/* True if two memory ranges of these sizes have a byte in common. */
static inline bool nova_memory_overlaps(nova_device_memory a, size_t a_bytes, nova_device_memory b,
                                        size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + b_bytes && second < first + a_bytes;
}

/* Waits for all operations in a stream. */
static void nova_finish(nova_queue queue)
{
    cudaStreamSynchronize(queue);
}

/* Discards the events of an operation. */
static void nova_drop_span(nova_span *span)
{
    if (span->begin != NULL)
        cudaEventDestroy(span->begin);
    if (span->end != NULL)
        cudaEventDestroy(span->end);
    span->begin = span->end = NULL;
}

/* Records the time before the next operation of a stream, if that is asked for. */
static nova_span nova_begin_span(nova_queue queue, bool asked)
{
    nova_span span = {NULL, NULL};
    if (asked
        && (cudaEventCreate(&span.begin) != cudaSuccess || cudaEventCreate(&span.end) != cudaSuccess
            || cudaEventRecord(span.begin, queue) != cudaSuccess)) {
        nova_drop_span(&span);
        /* The call continues without this error. */
        cudaGetLastError();
    }
    return span;
}

/* Records the time after the last operation of a stream. */
static void nova_stop_span(nova_queue queue, nova_span *span)
{
    if (span->end != NULL && cudaEventRecord(span->end, queue) != cudaSuccess) {
        nova_drop_span(span);
        cudaGetLastError();
    }
}

/* The seconds that a finished operation took. Returns false if they are not known, since it has failed. */
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
