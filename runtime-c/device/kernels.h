/* Launches of kernels on any device. A kernel whose threads take memory, or append nodes to tables, is
 * run again with more memory or larger tables if there was too little. */
#ifndef NOVA_KERNELS_H
#define NOVA_KERNELS_H

/* Included after the header of a kind of device, which defines nova_kernel and nova_enqueue. */
#include "arguments.h"
#include "call.h"

/* Runs a kernel for count iterations, after the kernels before it. */
static void nova_launch(nova_context *context, nova_kernel kernel, int64_t count, bool may_fail,
                        const nova_argument *arguments, int argument_count)
{
    if (count <= 0)
        return;
    nova_enqueue(context, kernel, count, nova_threads_for(count, 0), arguments, argument_count);
    context->session->may_have_failed |= may_fail;
}

/* Runs a kernel for count iterations, one for each work-group. In a group `threads` threads have work.
 * Groups have few different sizes, since some devices compile a kernel for each size. */
static void nova_launch_groups(nova_context *context, nova_kernel kernel, int64_t count,
                               int64_t threads, bool may_fail, const nova_argument *arguments,
                               int argument_count)
{
    size_t block = threads <= 1 ? 1 : NOVA_BLOCK_SIZE;
    size_t local = 0, most = nova_most_local_memory(context->session->device);
    if (count <= 0)
        return;
    while (block > 32 && (int64_t)(block / 2) >= threads)
        block /= 2;
    for (int k = 0; k < argument_count; k++)
        if (arguments[k].kind == NOVA_LOCAL_ARRAY)
            local += arguments[k].size;
    if (local > most)
        nova_fail(context, NOVA_ERROR_MEMORY,
                  "out of memory: the arrays of a work-group have %zu bytes, it has %zu", local,
                  most);
    int64_t groups = count < NOVA_MAX_BLOCKS ? count : NOVA_MAX_BLOCKS;
    nova_threads all = {(size_t)groups * block, block, 0};
    nova_enqueue(context, kernel, count, all, arguments, argument_count);
    context->session->may_have_failed |= may_fail;
}

/* Memory for threads. There are fewer threads if there is not enough memory for all. */
static nova_threads nova_prepare_heap(nova_context *context, int64_t count)
{
    nova_session *session = context->session;
    uint64_t most = nova_most_memory(session->device);
    if (session->slice <= 0)
        session->slice = NOVA_FIRST_SLICE;
    if ((uint64_t)session->slice > most)
        nova_fail_memory(context, NULL);
    nova_threads threads = nova_threads_for(count, session->slice);
    while (threads.count > threads.block && threads.count > most / (uint64_t)session->slice)
        threads.count = threads.count / threads.block / 2 * threads.block;
    while (threads.count > most / (uint64_t)session->slice)
        threads.count = threads.block = threads.block / 2;
    size_t bytes = threads.count * (size_t)session->slice;
    if (session->heap_bytes < bytes) {
        nova_free_heap(session);
        session->heap = nova_device_allocate(context, bytes);
        session->heap_bytes = bytes;
    }
    return threads;
}

/* Copies of the arrays that a kernel changes, made before it runs; null for other arguments. */
static nova_block **nova_save_arrays(nova_context *context, const nova_argument *arguments,
                                     int argument_count, nova_block **list)
{
    nova_block **copies = (nova_block **)nova_allocate(context, list, argument_count,
                                                       sizeof(nova_block *), NULL);
    for (int k = 0; k < argument_count; k++) {
        nova_buffer_pair *pair = arguments[k].changed;
        copies[k] = NULL;
        if (pair != NULL) {
            void *copy = nova_allocate(context, &copies[k], (int64_t)pair->bytes, 1, NULL);
            nova_fresh(context, copy);
            nova_move_elements(context, copy, (const void *)pair->start, pair->bytes);
        }
    }
    return copies;
}

/* Restores the arrays from their copies. */
static void nova_restore_arrays(nova_context *context, const nova_argument *arguments,
                                int argument_count, nova_block *const *copies)
{
    for (int k = 0; k < argument_count; k++) {
        nova_buffer_pair *pair = arguments[k].changed;
        if (pair != NULL)
            nova_move_elements(context, (void *)pair->start, copies[k]->data, pair->bytes);
    }
}

/* Provides more memory after a failure for lack of it. */
static void nova_give_more(nova_context *context, const nova_failure *failure,
                           const nova_argument *arguments, int argument_count)
{
    nova_session *session = context->session;
    nova_failure none;
    if (failure->site == NOVA_HEAP_IS_FULL) {
        while (session->slice < failure->first && session->slice <= INT64_MAX / 8)
            session->slice *= 2;
        session->slice *= 2;
    } else {
        bool of_nodes = failure->site == NOVA_NODES_ARE_FULL;
        int64_t number = 0;
        for (int k = 0; k < argument_count; k++) {
            const nova_argument *argument = &arguments[k];
            if (of_nodes && argument->nodes != NULL && number++ == failure->first)
                nova_expect_more_nodes(context, argument->nodes, failure->second);
            else if (!of_nodes && argument->buffers != NULL && number++ == failure->first)
                nova_expect_more(context, argument->buffers, failure->second);
        }
    }
    memset(&none, 0, sizeof none);
    nova_device_write(context, session->failure, 0, &none, sizeof none);
}

/* Prepares the tables to which a kernel adds; they contain nothing of it yet. */
static void nova_forget_added(nova_context *context, const nova_argument *arguments,
                              int argument_count)
{
    for (int k = 0; k < argument_count; k++) {
        if (arguments[k].buffers != NULL)
            nova_clear_result_buffers(context, arguments[k].buffers);
        if (arguments[k].nodes != NULL)
            nova_forget_new_nodes(context, arguments[k].nodes);
    }
}

/* Runs a kernel for count iterations until there is enough memory: for its threads, if they take some,
 * and in tables. Before it runs again, arrays that it changes, and tables, are restored. */
static void nova_launch_until_enough(nova_context *context, nova_kernel kernel, int64_t count,
                                     bool takes_memory, const nova_argument *arguments,
                                     int argument_count)
{
    nova_session *session = context->session;
    nova_block *list;
    nova_failure failure;
    nova_check_kernels(context);
    nova_block **copies = nova_save_arrays(context, arguments, argument_count, &list);
    for (;;) {
        nova_threads threads =
            takes_memory ? nova_prepare_heap(context, count) : nova_threads_for(count, 0);
        nova_forget_added(context, arguments, argument_count);
        nova_enqueue(context, kernel, count, threads, arguments, argument_count);
        nova_device_read(context, &failure, session->failure, 0, sizeof failure);
        session->may_have_failed = false;
        if (failure.taken == 0)
            break;
        if (failure.site >= 0)
            nova_report(context, failure.site, failure.first, failure.second);
        nova_give_more(context, &failure, arguments, argument_count);
        nova_restore_arrays(context, arguments, argument_count, copies);
    }
    for (int k = 0; k < argument_count; k++)
        nova_release(context, copies[k]);
    nova_release(context, list);
}

/* Runs a kernel whose threads take memory. */
static inline void nova_launch_with_memory(nova_context *context, nova_kernel kernel,
                                           int64_t count, const nova_argument *arguments,
                                           int argument_count)
{
    if (count > 0)
        nova_launch_until_enough(context, kernel, count, true, arguments, argument_count);
}

/* Runs a kernel that appends nodes, and whose threads may take memory. Then takes over the new nodes. */
static inline void nova_launch_with_nodes(nova_context *context, nova_kernel kernel, int64_t count,
                                          bool takes_memory, const nova_argument *arguments,
                                          int argument_count)
{
    int64_t each = count < NOVA_MOST_NEW_NODES ? count : NOVA_MOST_NEW_NODES;
    if (count <= 0)
        return;
    for (int k = 0; k < argument_count; k++)
        if (arguments[k].nodes != NULL)
            nova_expect_nodes(context, arguments[k].nodes, NOVA_NEW_NODES + each);
    nova_launch_until_enough(context, kernel, count, takes_memory, arguments, argument_count);
    for (int k = 0; k < argument_count; k++)
        if (arguments[k].nodes != NULL)
            nova_take_new_nodes(context, arguments[k].nodes);
}

#endif
