/* Kernels: their arguments and their launch. */
#ifndef NOVA_OPENCL_LAUNCH_H
#define NOVA_OPENCL_LAUNCH_H

#include "device.h"
#include "../device/memory.h"
#include "../device/call.h"

/* An argument of a kernel: a value, or memory and the element in it that a pointer leads to. */
typedef struct nova_argument {
    const void *value; /* null: memory */
    size_t size;
    nova_device_memory memory;
    int64_t offset;
} nova_argument;

/* A value. */
static inline nova_argument nova_value(const void *value, size_t size)
{
    nova_argument argument = {value, size, NULL, 0};
    return argument;
}

/* A pointer to elements of this size, which the kernel reads and, where that is said, writes. */
static nova_argument nova_array(nova_context *context, const void *pointer, size_t size,
                                bool writes)
{
    nova_argument argument = {NULL, 0, NULL, 0};
    nova_mirror *mirror = nova_on_device(context, pointer, writes);
    if (mirror != NULL) {
        argument.memory = mirror->memory;
        argument.offset = (int64_t)(((uintptr_t)pointer - mirror->start) / size);
    }
    return argument;
}

/* Passes the arguments of a kernel, behind the number of iterations and the place for a failure;
 * gives the first error. The lock is held. */
static cl_int nova_pass(cl_kernel kernel, nova_session *session, int64_t count,
                        const nova_argument *arguments, int argument_count)
{
    cl_uint at = 2;
    cl_int code = clSetKernelArg(kernel, 0, sizeof count, &count);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 1, sizeof session->failure, &session->failure);
    for (int k = 0; k < argument_count && code == CL_SUCCESS; k++) {
        const nova_argument *argument = &arguments[k];
        if (argument->value != NULL) {
            code = clSetKernelArg(kernel, at++, argument->size, argument->value);
            continue;
        }
        code = clSetKernelArg(kernel, at++, sizeof argument->memory,
                              argument->memory == NULL ? NULL : &argument->memory);
        if (code == CL_SUCCESS)
            code = clSetKernelArg(kernel, at++, sizeof argument->offset, &argument->offset);
    }
    return code;
}

/* Runs a kernel for count iterations, behind the kernels before. */
static void nova_launch(nova_context *context, int number, int64_t count,
                        const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    nova_device *device = session->device;
    if (count <= 0)
        return;
    size_t block = NOVA_BLOCK_SIZE, threads = nova_blocks_for(count) * block;
    cl_kernel kernel = device->kernels[number];
    pthread_mutex_lock(&device->pool.lock);
    cl_int code = nova_pass(kernel, session, count, arguments, argument_count);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(session->queue, kernel, 1, NULL, &threads, &block, 0, NULL,
                                      NULL);
    pthread_mutex_unlock(&device->pool.lock);
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueNDRangeKernel", code);
    session->may_have_failed = true;
}

#endif
