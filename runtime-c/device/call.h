/* The part of a call that may use a device. */
#ifndef NOVA_DEVICE_CALL_H
#define NOVA_DEVICE_CALL_H

#include "buffer_pairs.h"
/* Included after buffer_pairs.h, which replaces the memory of programs without a device. */
#include "../common/call.h"

/* The body of an entry that uses a device. `may_fail` is true if kernels of the program may fail.
 * `lent` is true for a caller that has its arrays on the device, in whose stream the kernels run. */
typedef struct nova_device_call {
    struct nova_device *device;
    nova_body body;
    void *call;
    bool may_fail;
    bool lent;
    void *stream;
} nova_device_call;

/* Runs the body with memory for failures of kernels, if any may fail. */
static void nova_run_with_failures(nova_context *context, void *argument)
{
    nova_device_call *call = (nova_device_call *)argument;
    nova_failure none;
    memset(&none, 0, sizeof none);
    if (call->may_fail) {
        context->session->failure = nova_device_allocate(context, sizeof none);
        nova_device_write(context, context->session->failure, 0, &none, sizeof none);
    }
    call->body(context, call->call);
}

/* Frees the memory of threads. */
static void nova_free_heap(nova_session *session)
{
    if (session->heap != NULL)
        nova_device_free(session, session->heap, session->heap_bytes);
    session->heap = NULL;
    session->heap_bytes = 0;
}

/* Runs the body of an entry with a session on the device. */
static void nova_with_device(nova_context *context, void *argument)
{
    nova_device_call *call = (nova_device_call *)argument;
    nova_session session;
    memset(&session, 0, sizeof session);
    session.device = call->device;
    session.random = 88172645463325252u;
    if (call->lent)
        nova_use_queue(context, &session, call->stream);
    else
        nova_open_queue(context, &session);
    context->session = &session;
    nova_try(context, nova_run_with_failures, call);
    while (session.buffer_pairs != NULL)
        nova_drop_buffer_pair(&session, (const void *)session.buffer_pairs->start);
    if (session.failure != NULL)
        nova_device_free(&session, session.failure, sizeof(nova_failure));
    nova_free_heap(&session);
    nova_close_queue(&session);
    context->session = NULL;
}

#endif
