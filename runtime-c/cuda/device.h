/* A device of CUDA: chosen by the first call of a program, used by all its calls, each with a stream
 * of its own. Only functions of the runtime API are called. */
#ifndef NOVA_CUDA_DEVICE_H
#define NOVA_CUDA_DEVICE_H

#include "memory.h"
#include "launch.h"
/* Behind what memory and queues are. */
#include "../device/pool.h"

/* The device of a program, once a call has chosen it. */
typedef struct nova_device {
    nova_pool_of_device pool; /* its lock guards what follows, too */
    bool open;
    int number;               /* which device, */
    size_t memory;            /* how much it has, */
    size_t shared_memory;     /* and how much the threads of a block may share */
} nova_device;

/* What functions of CUDA give: this, or why they failed. */
typedef cudaError_t nova_code;
#define NOVA_DONE cudaSuccess

/* Ends the call because a function of CUDA has failed, or a kernel before it. */
NOVA_NEVER_RETURNS static void nova_fail_device(nova_context *context, const char *what,
                                                cudaError_t code)
{
    /* The thread's next call begins without this error. */
    cudaGetLastError();
    if (code == cudaErrorMemoryAllocation)
        nova_fail(context, NOVA_ERROR_MEMORY, "out of memory on the device: %s", what);
    nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d (%s)", what, (int)code,
              cudaGetErrorString(code));
}

/* Opens the device that NOVA_DEVICE names, or the first one, which is the fastest; false, and why, if
 * there is none. The lock is held. */
static bool nova_open_device(nova_device *device, cudaError_t *code)
{
    const char *wanted = nova_wanted_device();
    int count = 0;
    *code = cudaGetDeviceCount(&count);
    for (int number = 0; number < count && *code == cudaSuccess; number++) {
        cudaDeviceProp properties;
        *code = cudaGetDeviceProperties(&properties, number);
        if (*code == cudaSuccess
            && (wanted == NULL || nova_is_wanted(properties.name, (unsigned)number, wanted))) {
            device->number = number;
            device->memory = properties.totalGlobalMem;
            device->shared_memory = properties.sharedMemPerBlockOptin;
            return true;
        }
    }
    return false;
}

/* How much memory the threads of a block may share, beside what kernels declare. */
static size_t nova_most_local_memory(const nova_device *device)
{
    return device->shared_memory - NOVA_SHARED_DECLARED;
}

/* How much memory all threads of a kernel may take. */
static uint64_t nova_most_memory(const nova_device *device)
{
    return device->memory / 4;
}

/* New memory on the device; null, and why, if there is none. */
static nova_device_memory nova_make_memory(nova_device *device, size_t bytes, nova_code *code)
{
    void *memory = NULL;
    (void)device;
    *code = cudaMalloc(&memory, bytes);
    if (*code != cudaSuccess) {
        cudaGetLastError();
        memory = NULL;
    }
    return (nova_device_memory)memory;
}

/* Waits for all that has been put into a stream. */
static void nova_finish(nova_queue queue)
{
    cudaStreamSynchronize(queue);
}

/* Copies bytes to the device, from an offset on; they have been read when it returns. */
static void nova_device_write(nova_context *context, nova_device_memory to, size_t offset,
                              const void *from, size_t bytes)
{
    cudaError_t code = cudaMemcpyAsync(to + offset, from, bytes, cudaMemcpyHostToDevice,
                                       context->session->queue);
    if (code != cudaSuccess)
        nova_fail_device(context, "copying to the device", code);
}

/* Copies bytes from the device, when all kernels before have ended. */
static void nova_device_read(nova_context *context, void *to, nova_device_memory from,
                             size_t offset, size_t bytes)
{
    cudaError_t code = cudaMemcpyAsync(to, from + offset, bytes, cudaMemcpyDeviceToHost,
                                       context->session->queue);
    if (code == cudaSuccess)
        code = cudaStreamSynchronize(context->session->queue);
    if (code != cudaSuccess)
        nova_fail_device(context, "copying from the device", code);
}

/* Copies bytes on the device. */
static void nova_device_copy(nova_context *context, nova_device_memory to, size_t to_offset,
                             nova_device_memory from, size_t from_offset, size_t bytes)
{
    cudaError_t code = cudaMemcpyAsync(to + to_offset, from + from_offset, bytes,
                                       cudaMemcpyDeviceToDevice, context->session->queue);
    if (code != cudaSuccess)
        nova_fail_device(context, "copying on the device", code);
}

/* A stream of the device for a call, whose thread uses this device until the call ends. */
static void nova_open_queue(nova_context *context, nova_session *session)
{
    nova_device *device = session->device;
    cudaError_t code = cudaSuccess;
    pthread_mutex_lock(&device->pool.lock);
    if (!device->open)
        device->open = nova_open_device(device, &code);
    bool open = device->open;
    if (open)
        session->queue = nova_take_queue(&device->pool);
    pthread_mutex_unlock(&device->pool.lock);
    if (!open) {
        cudaGetLastError();
        nova_fail(context, NOVA_ERROR_DEVICE, "there is no CUDA device%s%s%s",
                  nova_wanted_device() == NULL ? "" : " of the name in NOVA_DEVICE",
                  code == cudaSuccess ? "" : ": ",
                  code == cudaSuccess ? "" : cudaGetErrorString(code));
    }
    code = cudaGetDevice(&session->previous);
    if (code == cudaSuccess)
        code = cudaSetDevice(device->number);
    /* Streams that do not wait for others: what calls use is their own. */
    if (code == cudaSuccess && session->queue == NULL)
        code = cudaStreamCreateWithFlags(&session->queue, cudaStreamNonBlocking);
    if (code != cudaSuccess)
        nova_fail_device(context, "opening a stream", code);
}

/* Ends all kernels of a call and gives its stream back. */
static void nova_close_queue(nova_session *session)
{
    nova_finish(session->queue);
    nova_queue left = nova_give_back(&session->device->pool, session);
    if (left != NULL)
        cudaStreamDestroy(left);
    cudaSetDevice(session->previous);
    /* The thread's next call begins without the errors of this one. */
    cudaGetLastError();
}

#endif
