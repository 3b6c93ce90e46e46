/* Kernels of OpenCL: passing their arguments, and running them. */
#ifndef NOVA_OPENCL_LAUNCH_H
#define NOVA_OPENCL_LAUNCH_H

#include "device.h"
/* Included before headers that would use the memory of programs without a device. */
#include "../device/buffer_pairs.h"
#include "../device/memory.h"
#include "../common/blocks.h"
#include "../device/arguments.h"

/* Passes memory, and the offset of an array in it. The next argument has the number *at. */
static cl_int nova_pass_memory(cl_kernel kernel, cl_uint *at, nova_device_memory memory,
                               int64_t offset)
{
    cl_int code = clSetKernelArg(kernel, (*at)++, sizeof memory, memory == NULL ? NULL : &memory);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, (*at)++, sizeof offset, &offset);
    return code;
}

/* Passes result buffers: their table, their words, the number of words, and the number of the result
 * buffers among those of the kernel. */
static cl_int nova_pass_result_buffers(nova_session *session, cl_kernel kernel, cl_uint *at,
                                       const nova_result_buffers *buffers, int64_t number)
{
    nova_device_memory table = nova_find_buffer_pair(session, buffers->table)->memory;
    nova_device_memory words = nova_find_buffer_pair(session, buffers->words)->memory;
    cl_int code = nova_pass_memory(kernel, at, table, 0);
    if (code == CL_SUCCESS)
        code = nova_pass_memory(kernel, at, words, 0);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, (*at)++, sizeof buffers->capacity, &buffers->capacity);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, (*at)++, sizeof number, &number);
    return code;
}

/* Passes a node table that the kernel appends to: its nodes, the index of the next one, its capacity,
 * and its number among those of the kernel. */
static cl_int nova_pass_nodes(nova_session *session, cl_kernel kernel, cl_uint *at,
                              const nova_sent_nodes *sent, int64_t number)
{
    nova_device_memory nodes = nova_find_buffer_pair(session, (*sent->block)->data)->memory;
    nova_device_memory next = nova_find_buffer_pair(session, sent->next)->memory;
    int64_t capacity = nova_capacity_of_nodes(sent);
    cl_int code = nova_pass_memory(kernel, at, nodes, 0);
    if (code == CL_SUCCESS)
        code = nova_pass_memory(kernel, at, next, 0);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, (*at)++, sizeof capacity, &capacity);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, (*at)++, sizeof number, &number);
    return code;
}

/* A kernel is identified by its number in the program. */
typedef int nova_kernel;

/* Runs a kernel after the kernels before it. */
static void nova_enqueue(nova_context *context, nova_kernel number, int64_t count,
                         nova_threads threads, const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    nova_device *device = session->device;
    cl_kernel kernel = device->kernels[number];
    cl_uint at = 2;
    int64_t buffers = 0, tables = 0;
    nova_span span = NULL;
    pthread_mutex_lock(&device->pool.lock);
    cl_int code = clSetKernelArg(kernel, 0, sizeof count, &count);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 1, sizeof session->failure, &session->failure);
    if (code == CL_SUCCESS && threads.slice > 0)
        code = nova_pass_memory(kernel, &at, session->heap, threads.slice);
    for (int k = 0; k < argument_count && code == CL_SUCCESS; k++) {
        const nova_argument *argument = &arguments[k];
        switch (argument->kind) {
        case NOVA_VALUE:
        case NOVA_LOCAL_ARRAY:
            code = clSetKernelArg(kernel, at++, argument->size, argument->value);
            break;
        case NOVA_ARRAY:
            code = nova_pass_memory(kernel, &at, argument->memory, argument->offset);
            break;
        case NOVA_RESULT_BUFFERS:
            code = nova_pass_result_buffers(session, kernel, &at, argument->buffers, buffers++);
            break;
        case NOVA_GROWING_NODES:
            code = nova_pass_nodes(session, kernel, &at, argument->nodes, tables++);
        }
    }
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(session->queue, kernel, 1, NULL, &threads.count,
                                      &threads.block, 0, NULL, nova_place_of_span(session, &span));
    pthread_mutex_unlock(&device->pool.lock);
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueNDRangeKernel", code);
    if (session->profile != NULL)
        nova_note(session, device->names[number], device->places[number], span,
                  nova_bytes_of(arguments, argument_count, false),
                  nova_bytes_of(arguments, argument_count, true));
}

#endif
