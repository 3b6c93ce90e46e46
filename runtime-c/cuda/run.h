/* Launches of kernels by a call: the conversion of arguments, and the launch. */
#ifndef NOVA_CUDA_RUN_H
#define NOVA_CUDA_RUN_H

#include "device.h"
/* These replace the memory of programs without a device, and stand before its users. */
#include "../device/buffer_pairs.h"
#include "../device/memory.h"
#include "../common/blocks.h"
#include "../device/arguments.h"

/* Result buffers as parameters of kernels: nova_device_result_buffers of device/heap.h. */
typedef struct nova_passed_result_buffers {
    int64_t *table;
    int64_t *words;
    int64_t capacity;
    int64_t number;
} nova_passed_result_buffers;

/* A growing node table as a parameter of kernels: nova_device_nodes of device/new_nodes.h. */
typedef struct nova_passed_nodes {
    void *nodes;
    int64_t *next;
    int64_t capacity;
    int64_t number;
} nova_passed_nodes;

/* A parameter of a kernel that is no value. */
typedef union nova_passed {
    nova_device_memory array;
    int64_t offset; /* of an array of the block in its shared memory */
    nova_passed_result_buffers buffers;
    nova_passed_nodes nodes;
} nova_passed;

/* The parameter for result buffers. The number counts the result buffers of the kernel. */
static nova_passed_result_buffers nova_pass_result_buffers(nova_session *session,
                                                           const nova_result_buffers *buffers,
                                                           int64_t number)
{
    nova_device_memory table = nova_find_buffer_pair(session, buffers->table)->memory;
    nova_device_memory words = nova_find_buffer_pair(session, buffers->words)->memory;
    nova_passed_result_buffers passed = {(int64_t *)table, (int64_t *)words, buffers->capacity,
                                         number};
    return passed;
}

/* The parameter for a node table that a kernel appends to. The number counts such tables of the kernel. */
static nova_passed_nodes nova_pass_nodes(nova_session *session, const nova_sent_nodes *sent,
                                         int64_t number)
{
    nova_device_memory nodes = nova_find_buffer_pair(session, (*sent->block)->data)->memory;
    nova_device_memory next = nova_find_buffer_pair(session, sent->next)->memory;
    nova_passed_nodes passed = {nodes, (int64_t *)next, nova_capacity_of_nodes(sent), number};
    return passed;
}

/* Collects the addresses of a kernel's parameters, some of which are made in *passed. Returns the size
 * of the shared memory for the arrays of its blocks. */
static size_t nova_pass_arguments(nova_session *session, const nova_argument *arguments,
                                  int argument_count, void **list, nova_passed *passed)
{
    size_t shared_bytes = 0;
    int64_t buffers = 0, tables = 0;
    for (int k = 0; k < argument_count; k++) {
        const nova_argument *argument = &arguments[k];
        list[k] = &passed[k];
        switch (argument->kind) {
        case NOVA_VALUE:
            list[k] = (void *)argument->value;
            break;
        case NOVA_ARRAY:
            passed[k].array = argument->memory;
            if (argument->memory != NULL)
                passed[k].array += (size_t)argument->offset * argument->size;
            break;
        case NOVA_LOCAL_ARRAY:
            passed[k].offset = (int64_t)shared_bytes;
            shared_bytes += argument->size;
            break;
        case NOVA_RESULT_BUFFERS:
            passed[k].buffers = nova_pass_result_buffers(session, argument->buffers, buffers++);
            break;
        case NOVA_GROWING_NODES:
            passed[k].nodes = nova_pass_nodes(session, argument->nodes, tables++);
        }
    }
    return shared_bytes;
}

/* Allocates the state of an ordered region on the device (cuda/ordered.h), for so many iterations and
 * propagated values. It consists of a ticket, and of words for each iteration and value, all 0. */
static inline nova_block *nova_new_ordered(nova_context *context, int64_t count, int64_t numbers)
{
    nova_block *block;
    int64_t each = NOVA_ORDERED_WORDS * numbers;
    int64_t words = count < INT64_MAX / 8 / each ? 1 + each * count : INT64_MAX;
    void *data = nova_allocate(context, &block, words, sizeof(uint64_t), NULL);
    nova_fresh(context, data);
    nova_device_memory memory = nova_on_device(context, data, true)->memory;
    cudaError_t code = cudaMemsetAsync(memory, 0, (size_t)words * sizeof(uint64_t),
                                       context->session->queue);
    if (code != cudaSuccess)
        nova_fail_device(context, "clearing memory", code);
    return block;
}

/* The name of a kernel without its namespace. */
static const char *nova_name_of_kernel(nova_kernel kernel)
{
    const char *colon = strrchr(kernel.name, ':');
    return colon == NULL ? kernel.name : colon + 1;
}

/* Runs a kernel after all earlier kernels. */
static void nova_enqueue(nova_context *context, nova_kernel kernel, int64_t count,
                         nova_threads threads, const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    size_t most = (size_t)argument_count + 4, at = 0;
    void **list = (void **)malloc(most * sizeof *list);
    nova_passed *passed = (nova_passed *)malloc(most * sizeof *passed);
    cudaError_t code = cudaErrorMemoryAllocation;
    nova_span span = {NULL, NULL};
    if (list != NULL && passed != NULL) {
        list[at++] = &count;
        list[at++] = &session->failure;
        if (threads.slice > 0) {
            list[at++] = &session->heap;
            list[at++] = &threads.slice;
        }
        size_t shared_bytes =
            nova_pass_arguments(session, arguments, argument_count, &list[at], passed);
        span = nova_begin_operation(session);
        code = nova_put_kernel(kernel, dim3((unsigned)(threads.count / threads.block)),
                               dim3((unsigned)threads.block), shared_bytes, session->queue, list);
        nova_end_operation(session, &span, code);
    }
    free(passed);
    free(list);
    if (code != cudaSuccess)
        nova_fail_device(context, "launching a kernel", code);
    if (session->profile != NULL)
        nova_note(session, nova_name_of_kernel(kernel), kernel.place, span,
                  nova_bytes_of(arguments, argument_count, false),
                  nova_bytes_of(arguments, argument_count, true));
}

#endif
