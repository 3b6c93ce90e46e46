/* Memory on a device for the arrays of a call: cached by the call, cached by the program, or new.
 * Included after the header of the device that the program is for. */
#ifndef NOVA_DEVICE_MEMORY_H
#define NOVA_DEVICE_MEMORY_H

#include "pool.h"

/* Allocates memory on the device; ends the call if there is none. */
static nova_device_memory nova_device_allocate(nova_context *context, size_t bytes)
{
    nova_session *session = context->session;
    nova_device *device = session->device;
    nova_code code = NOVA_DONE;
    bytes = nova_rounded(bytes);
    nova_device_memory memory = nova_take_cached(&session->cache, bytes);
    if (memory != NULL)
        return memory;
    pthread_mutex_lock(&device->pool.lock);
    memory = nova_take_cached(&device->pool.cache, bytes);
    if (memory == NULL)
        memory = nova_make_memory(device, bytes, &code);
    if (code != NOVA_DONE) {
        nova_finish(session->queue);
        nova_release_cached(&session->cache);
        nova_release_cached(&device->pool.cache);
        memory = nova_make_memory(device, bytes, &code);
    }
    pthread_mutex_unlock(&device->pool.lock);
    if (code != NOVA_DONE)
        nova_fail_device(context, "allocating memory", code);
    return memory;
}

/* Frees memory of this many bytes. The call caches it if there is room. */
static void nova_device_free(nova_session *session, nova_device_memory memory, size_t bytes)
{
    if (!nova_cache_memory(&session->cache, memory, nova_rounded(bytes)))
        nova_release_memory(memory);
}

#endif
