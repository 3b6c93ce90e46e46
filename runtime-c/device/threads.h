/* What a thread of a kernel has, and how it fails. It is written in words that the files of the kinds
 * of devices define (opencl/threads.h, cuda/threads.h), since their languages say these differently. */
#ifndef NOVA_THREADS_H
#define NOVA_THREADS_H

/* What a thread needs to fail, and its memory. */
typedef struct nova_context {
    NOVA_GLOBAL nova_failure *failure;
    bool failed; /* whether the thread is to leave its function */
    /* Where the threads of a work-group wait for each other: between which barriers one has failed
     * first, and between which ones this thread is. */
    NOVA_LOCAL int *group;
    int phase;
    NOVA_GLOBAL uint8_t *heap; /* the thread's slice of the memory of threads, */
    int64_t size, used;        /* its bytes, and how many of them blocks have taken; */
    int64_t free;              /* where the first free block lies in it, or -1 */
    const struct nova_device_tables *tables; /* nodes of recursive data */
} nova_context;

/* Whether a thread has failed, of this kernel or of one before. */
NOVA_IN_KERNELS bool nova_has_failed(NOVA_GLOBAL const nova_failure *failure)
{
    return NOVA_READ_GLOBAL(&failure->taken) != 0;
}

/* Whether one of a kernel before has failed, where none of this one can. */
NOVA_IN_KERNELS bool nova_failed_before(NOVA_GLOBAL const nova_failure *failure)
{
    return failure->taken != 0;
}

/* The thread fails at a check; the function that it is in returns. */
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

/* The threads of a work-group begin: whether a kernel or another group has failed before, which all of
 * them are told alike. */
NOVA_IN_KERNELS bool nova_group_begins_failed(nova_context *context)
{
    if (NOVA_THREAD_OF_GROUP == 0)
        *context->group = nova_has_failed(context->failure) ? -1 : INT32_MAX;
    NOVA_BARRIER();
    return NOVA_READ_LOCAL(context->group) < 0;
}

/* Behind a barrier: whether a thread of the group has failed before it. Those that are further already
 * may fail meanwhile, which is said behind the next one, so that all threads get the same answer. */
NOVA_IN_KERNELS bool nova_group_has_failed(nova_context *context)
{
    context->phase++;
    return NOVA_READ_LOCAL(context->group) < context->phase;
}

#endif
