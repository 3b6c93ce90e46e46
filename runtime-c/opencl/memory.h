/* Memory and queues of OpenCL, under the names that all devices share. */
#ifndef NOVA_OPENCL_MEMORY_H
#define NOVA_OPENCL_MEMORY_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory on a device. */
typedef cl_mem nova_device_memory;

/* A queue runs the kernels of a call, and its copies, one after the other. */
typedef cl_command_queue nova_queue;

/* The span of an operation of a queue, which tells its time; null if that is unknown. */
typedef cl_event nova_span;

/* Returns memory to the device. */
static void nova_release_memory(nova_device_memory memory)
{
    clReleaseMemObject(memory);
}

/* The memory that a sub-buffer belongs to; the memory itself if it is no sub-buffer. */
static inline cl_mem nova_whole_memory(cl_mem memory)
{
    cl_mem whole = NULL;
    cl_int code =
        clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    return code == CL_SUCCESS && whole != NULL ? whole : memory;
}

/* True if two buffers may have a byte in common: sub-buffers of one memory may, wherever they lie. */
static inline bool nova_memory_overlaps(nova_device_memory a, size_t a_bytes, nova_device_memory b,
                                        size_t b_bytes)
{
    (void)a_bytes;
    (void)b_bytes;
    return nova_whole_memory(a) == nova_whole_memory(b);
}

/* Waits for all operations of a queue. */
static void nova_finish(nova_queue queue)
{
    clFinish(queue);
}

/* The seconds that an operation took that has ended. False if they are unknown, since it has failed or
 * its queue does not measure times. */
static bool nova_end_span(nova_span span, double *seconds)
{
    cl_ulong begin = 0, end = 0;
    if (span == NULL)
        return false;
    cl_int code = clGetEventProfilingInfo(span, CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                          NULL);
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(span, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(span);
    *seconds = (double)(end - begin) * 1e-9;
    return code == CL_SUCCESS && end >= begin;
}

#endif
