/* Memory and queues of OpenCL, by the names that all devices have for them. */
#ifndef NOVA_OPENCL_MEMORY_H
#define NOVA_OPENCL_MEMORY_H

#include <CL/cl.h>
#include <stdbool.h>

/* Memory on a device. */
typedef cl_mem nova_device_memory;

/* Runs the kernels of a call, and its copies, one after the other. */
typedef cl_command_queue nova_queue;

/* What tells how long an operation of a queue took: null if nobody knows. */
typedef cl_event nova_span;

/* Gives memory back to the device. */
static void nova_release_memory(nova_device_memory memory)
{
    clReleaseMemObject(memory);
}

/* Waits for all that has been put into a queue. */
static void nova_finish(nova_queue queue)
{
    clFinish(queue);
}

/* How many seconds an operation took that has ended; false if that is not known, since it has failed or
 * its queue does not take times. */
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
