/* Memory and queues of OpenCL, by the names that all devices have for them. */
#ifndef NOVA_OPENCL_MEMORY_H
#define NOVA_OPENCL_MEMORY_H

#include <CL/cl.h>

/* Memory on a device. */
typedef cl_mem nova_device_memory;

/* Runs the kernels of a call, and its copies, one after the other. */
typedef cl_command_queue nova_queue;

/* Gives memory back to the device. */
static void nova_release_memory(nova_device_memory memory)
{
    clReleaseMemObject(memory);
}

#endif
