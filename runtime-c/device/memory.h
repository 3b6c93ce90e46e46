/* Memory on a device for the arrays of a call: kept by the call, by the program, or new. It stands
 * behind the file of the device that the program is for. */
#ifndef NOVA_DEVICE_MEMORY_H
#define NOVA_DEVICE_MEMORY_H

#include "pool.h"

/* Memory on the device; fails if there is none. */
static nova_device_memory nova_device_allocate(nova_context *context, size_t bytes)
{
    nova_session *session = context->session;
    nova_device *device = session->device;
    nova_code code = NOVA_DONE;
    bytes = nova_rounded(bytes);
    nova_device_memory memory = nova_take_kept(&session->kept, bytes);
    if (memory != NULL)
        return memory;
    pthread_mutex_lock(&device->pool.lock);
    memory = nova_take_kept(&device->pool.kept, bytes);
    if (memory == NULL)
        memory = nova_make_memory(device, bytes, &code);
    if (code != NOVA_DONE) {
        nova_finish(session->queue);
        nova_release_kept(&session->kept);
        nova_release_kept(&device->pool.kept);
        memory = nova_make_memory(device, bytes, &code);
    }
    pthread_mutex_unlock(&device->pool.lock);
    if (code != NOVA_DONE)
        nova_fail_device(context, "allocating memory", code);
    return memory;
}

/* Gives memory of this many bytes back. */
static void nova_device_free(nova_session *session, nova_device_memory memory, size_t bytes)
{
    if (!nova_keep_piece(&session->kept, memory, nova_rounded(bytes)))
        nova_release_memory(memory);
}

#endif
