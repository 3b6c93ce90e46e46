/* Kernels: their arguments, their launch, and the part of a call that may use the device. */
#ifndef NOVA_OPENCL_LAUNCH_H
#define NOVA_OPENCL_LAUNCH_H

#include "device.h"
/* Before what would use the memory of programs without a device. */
#include "../device/mirrors.h"
#include "../common/call.h"

/* An argument of a kernel: a value, memory and the element in it that a pointer leads to, or the size
 * of an array that the threads of a work-group share. */
typedef struct nova_argument {
    const void *value; /* null: memory, or, where there is a size, an array of work-groups */
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

/* An array of so many elements for each work-group. */
static inline nova_argument nova_local_array(nova_context *context, int64_t count, size_t size)
{
    nova_argument argument = {NULL, size, NULL, 0};
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / size)
        nova_fail(context, NOVA_ERROR_MEMORY, "out of memory: an array of a work-group is too large");
    if (count > 0)
        argument.size = (size_t)count * size;
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
        if (argument->size > 0) {
            code = clSetKernelArg(kernel, at++, argument->size, NULL);
            continue;
        }
        code = clSetKernelArg(kernel, at++, sizeof argument->memory,
                              argument->memory == NULL ? NULL : &argument->memory);
        if (code == CL_SUCCESS)
            code = clSetKernelArg(kernel, at++, sizeof argument->offset, &argument->offset);
    }
    return code;
}

/* Runs a kernel for count iterations, behind the kernels before, with work-groups of `block` threads,
 * as many as there are blocks unless these are too many. */
static void nova_enqueue(nova_context *context, int number, int64_t count, int64_t blocks, size_t block,
                         const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    nova_device *device = session->device;
    size_t threads = (size_t)(blocks < NOVA_MAX_BLOCKS ? blocks : NOVA_MAX_BLOCKS) * block;
    cl_kernel kernel = device->kernels[number];
    pthread_mutex_lock(&device->lock);
    cl_int code = nova_pass(kernel, session, count, arguments, argument_count);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(session->queue, kernel, 1, NULL, &threads, &block, 0, NULL,
                                      NULL);
    pthread_mutex_unlock(&device->lock);
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueNDRangeKernel", code);
    session->may_have_failed = true;
}

/* Runs a kernel for count iterations, each of which is a thread's. */
static inline void nova_launch(nova_context *context, int number, int64_t count,
                               const nova_argument *arguments, int argument_count)
{
    if (count > 0)
        nova_enqueue(context, number, count, (count - 1) / NOVA_BLOCK_SIZE + 1, NOVA_BLOCK_SIZE,
                     arguments, argument_count);
}

/* Runs a kernel for count iterations, each of which is a work-group's, of whose threads so many have
 * something to do. Groups have few different sizes, since some devices compile a kernel for each. */
static inline void nova_launch_groups(nova_context *context, int number, int64_t count,
                                      int64_t threads, const nova_argument *arguments,
                                      int argument_count)
{
    size_t block = threads <= 1 ? 1 : NOVA_BLOCK_SIZE;
    size_t local = 0;
    cl_ulong most = 0;
    nova_device *device = context->session->device;
    if (count <= 0)
        return;
    while (block > 32 && (int64_t)(block / 2) >= threads)
        block /= 2;
    for (int k = 0; k < argument_count; k++)
        if (arguments[k].value == NULL)
            local += arguments[k].size;
    if (local > 0
        && clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL)
               == CL_SUCCESS
        && local > most)
        nova_fail(context, NOVA_ERROR_MEMORY,
                  "out of memory: the arrays of a work-group have %zu bytes, it has %llu", local,
                  (unsigned long long)most);
    nova_enqueue(context, number, count, count, block, arguments, argument_count);
}

/* The body of an entry that uses a device. */
typedef struct nova_device_call {
    nova_device *device;
    nova_body body;
    void *call;
} nova_device_call;

/* Runs the body with a place for failures of kernels. */
static void nova_run_with_failures(nova_context *context, void *argument)
{
    nova_device_call *call = (nova_device_call *)argument;
    nova_failure none;
    memset(&none, 0, sizeof none);
    context->session->failure = nova_device_allocate(context, sizeof none);
    nova_device_write(context, context->session->failure, 0, &none, sizeof none);
    call->body(context, call->call);
}

/* Runs the body of an entry with a session on the device. */
static void nova_with_device(nova_context *context, void *argument)
{
    nova_device_call *call = (nova_device_call *)argument;
    nova_session session;
    memset(&session, 0, sizeof session);
    session.device = call->device;
    session.random = 88172645463325252u;
    nova_open_queue(context, &session);
    context->session = &session;
    nova_try(context, nova_run_with_failures, call);
    while (session.mirrors != NULL)
        nova_drop_mirror(&session, (const void *)session.mirrors->start);
    if (session.failure != NULL)
        nova_device_free(&session, session.failure, sizeof(nova_failure));
    nova_close_queue(&session);
    context->session = NULL;
}

#endif
