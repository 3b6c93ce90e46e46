/* The state of a thread of a kernel, and its failures. This header uses macros that the headers of the
 * kinds of devices define (opencl/threads.h, cuda/threads.h), since their languages differ. */
#ifndef NOVA_THREADS_H
#define NOVA_THREADS_H

/* The state of a thread for failures, and its memory. */
typedef struct nova_context {
    NOVA_GLOBAL nova_failure *failure;
    bool failed; /* the thread must leave its function */
    /* For work-groups whose threads wait for each other: the first phase, between two barriers, in
     * which a thread has failed; and the phase of this thread. */
    NOVA_LOCAL int *group;
    int phase;
    NOVA_GLOBAL uint8_t *heap; /* the thread's slice of the memory of threads, */
    int64_t size, used;        /* its bytes, and the bytes that blocks have taken; */
    int64_t free;              /* the offset of the first free block in it, or -1 */
    const struct nova_device_tables *tables; /* nodes of recursive data */
} nova_context;

/* True if a thread of this kernel or of an earlier one has failed. */
NOVA_IN_KERNELS bool nova_has_failed(NOVA_GLOBAL const nova_failure *failure)
{
    return NOVA_READ_GLOBAL(&failure->taken) != 0;
}

/* True if a thread of an earlier kernel has failed, for kernels that cannot fail. */
NOVA_IN_KERNELS bool nova_failed_before(NOVA_GLOBAL const nova_failure *failure)
{
    return failure->taken != 0;
}

/* Makes the thread fail at a check; the function that it is in returns. */
NOVA_IN_KERNELS void nova_fail_at(nova_context *context, int32_t site, int64_t first,
                                  int64_t second)
{
    context->failed = true;
    if (NOVA_COMPARE_AND_SWAP((NOVA_GLOBAL uint32_t *)&context->failure->taken, 0u, 1u) == 0) {
        context->failure->site = site;
        context->failure->first = first;
        context->failure->second = second;
    }
    if (context->group != 0)
        NOVA_LOWER_LOCAL(context->group, context->phase);
}

/* Begins a work-group. True if an earlier kernel or another group has failed before; all threads get
 * the same answer. */
NOVA_IN_KERNELS bool nova_group_begins_failed(nova_context *context)
{
    if (NOVA_THREAD_OF_GROUP == 0)
        *context->group = nova_has_failed(context->failure) ? -1 : INT32_MAX;
    NOVA_BARRIER();
    return NOVA_READ_LOCAL(context->group) < 0;
}

/* Called after a barrier. True if a thread of the group has failed before it. Threads that have
 * continued may fail meanwhile. That counts only after the next barrier, so that all threads get the
 * same answer. */
NOVA_IN_KERNELS bool nova_group_has_failed(nova_context *context)
{
    context->phase++;
    return NOVA_READ_LOCAL(context->group) < context->phase;
}

#endif
