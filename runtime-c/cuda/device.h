/* A device of CUDA. The first call of a program chooses it; all its calls use it, each with a stream of
 * its own. Only functions of the runtime API are called. */
#ifndef NOVA_CUDA_DEVICE_H
#define NOVA_CUDA_DEVICE_H

#include "memory.h"
#include "launch.h"
/* These need the definitions of memory and queues. */
#include "../device/pool.h"
#include "../device/profile.h"

/* The device of a program, once a call has chosen it. */
typedef struct nova_device {
    nova_pool_of_device pool;   /* its lock also guards the fields below */
    bool open;
    int number;                 /* the number of the device, */
    size_t memory;              /* the bytes of its memory, */
    size_t shared_memory;       /* and those that the threads of a block may share */
    struct nova_device *others; /* for devices whose streams callers have lent */
} nova_device;

/* The result of functions of CUDA: success, or the reason of a failure. */
typedef cudaError_t nova_code;
#define NOVA_DONE cudaSuccess

/* Ends the call since a function of CUDA has failed, or an earlier kernel. */
NOVA_NEVER_RETURNS static void nova_fail_device(nova_context *context, const char *what,
                                                cudaError_t code)
{
    /* The thread's next call starts without this error. */
    cudaGetLastError();
    if (code == cudaErrorMemoryAllocation)
        nova_fail(context, NOVA_ERROR_MEMORY, "out of memory on the device: %s", what);
    nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d (%s)", what, (int)code,
              cudaGetErrorString(code));
}

/* Sets the number and the limits of a device. */
static void nova_set_device(nova_device *device, int number, const cudaDeviceProp *properties)
{
    device->number = number;
    device->memory = properties->totalGlobalMem;
    device->shared_memory = properties->sharedMemPerBlockOptin;
}

/* Opens the device that NOVA_DEVICE names, or the first one, which is the fastest. Returns false, and
 * the reason, if there is none. The lock is held. */
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
            nova_set_device(device, number, &properties);
            return true;
        }
    }
    return false;
}

/* The memory that the threads of a block may share, besides the declarations of kernels. */
static size_t nova_most_local_memory(const nova_device *device)
{
    return device->shared_memory - NOVA_SHARED_DECLARED;
}

/* The memory that all threads of a kernel may allocate. */
static uint64_t nova_most_memory(const nova_device *device)
{
    return device->memory / 4;
}

/* New memory on the device; null, and the reason, if there is none. */
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

/* The name of the device of a call. */
static void nova_name_device(nova_session *session, char *text, size_t size)
{
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, session->device->number) == cudaSuccess)
        snprintf(text, size, "%s", properties.name);
}

/* The seconds of the fastest of several copies on the device; 0 if none can be made. */
static double nova_time_copy(nova_session *session, size_t bytes)
{
    nova_device_memory memory[2] = {NULL, NULL};
    double least = 0;
    nova_code code = cudaSuccess;
    for (int k = 0; k < 2 && code == cudaSuccess; k++)
        memory[k] = nova_make_memory(session->device, bytes, &code);
    for (int k = 0; k < NOVA_COPIES && code == cudaSuccess; k++) {
        nova_span span = nova_begin_span(session->queue, true);
        double seconds = 0;
        code = cudaMemcpyAsync(memory[1 - k % 2], memory[k % 2], bytes, cudaMemcpyDeviceToDevice,
                               session->queue);
        nova_stop_span(session->queue, &span);
        nova_finish(session->queue);
        if (nova_end_span(span, &seconds) && k >= 2 && (least <= 0 || seconds < least))
            least = seconds;
    }
    for (int k = 0; k < 2; k++)
        if (memory[k] != NULL)
            nova_release_memory(memory[k]);
    /* The call continues without the errors of these copies. */
    cudaGetLastError();
    return least;
}

/* Begins an operation of a call; its time is measured if there is a profile. */
static nova_span nova_begin_operation(const nova_session *session)
{
    return nova_begin_span(session->queue, session->profile != NULL);
}

/* Ends the operation, if it could be put into the stream. */
static void nova_end_operation(const nova_session *session, nova_span *span, cudaError_t code)
{
    if (code == cudaSuccess)
        nova_stop_span(session->queue, span);
    else
        nova_drop_span(span);
}

/* Copies bytes to the device, from an offset on. They have been read when it returns. */
static void nova_device_write(nova_context *context, nova_device_memory to, size_t offset,
                              const void *from, size_t bytes)
{
    nova_session *session = context->session;
    nova_span span = nova_begin_operation(session);
    cudaError_t code = cudaMemcpyAsync(to + offset, from, bytes, cudaMemcpyHostToDevice,
                                       session->queue);
    nova_end_operation(session, &span, code);
    if (code != cudaSuccess)
        nova_fail_device(context, "copying to the device", code);
    nova_note(session, NOVA_COPY_TO_DEVICE, NULL, span, 0, bytes);
}

/* Copies bytes from the device, after all earlier kernels. */
static void nova_device_read(nova_context *context, void *to, nova_device_memory from,
                             size_t offset, size_t bytes)
{
    nova_session *session = context->session;
    nova_span span = nova_begin_operation(session);
    cudaError_t code = cudaMemcpyAsync(to, from + offset, bytes, cudaMemcpyDeviceToHost,
                                       session->queue);
    nova_end_operation(session, &span, code);
    if (code == cudaSuccess)
        nova_note(session, NOVA_COPY_TO_HOST, NULL, span, bytes, 0);
    if (code == cudaSuccess)
        code = cudaStreamSynchronize(session->queue);
    if (code != cudaSuccess)
        nova_fail_device(context, "copying from the device", code);
}

/* Copies bytes on the device. */
static void nova_device_copy(nova_context *context, nova_device_memory to, size_t to_offset,
                             nova_device_memory from, size_t from_offset, size_t bytes)
{
    nova_session *session = context->session;
    nova_span span = nova_begin_operation(session);
    cudaError_t code = cudaMemcpyAsync(to + to_offset, from + from_offset, bytes,
                                       cudaMemcpyDeviceToDevice, session->queue);
    nova_end_operation(session, &span, code);
    if (code != cudaSuccess)
        nova_fail_device(context, "copying on the device", code);
    nova_note(session, NOVA_COPY_ON_DEVICE, NULL, span, bytes, bytes);
}

/* Opens a stream of the device for a call. The thread uses this device until the call ends. */
static void nova_open_queue(nova_context *context, nova_session *session)
{
    nova_device *device = session->device;
    cudaError_t code = cudaSuccess;
    pthread_mutex_lock(&device->pool.lock);
    if (!device->open)
        device->open = nova_open_device(device, &code);
    bool open = device->open;
    if (open) {
        session->queue = nova_take_queue(&device->pool);
        session->profile = nova_profile_of(&device->pool);
    }
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
    /* These streams do not wait for others, since no other stream uses the data of a call. */
    if (code == cudaSuccess && session->queue == NULL)
        code = cudaStreamCreateWithFlags(&session->queue, cudaStreamNonBlocking);
    if (code != cudaSuccess)
        nova_fail_device(context, "opening a stream", code);
    nova_open_profile(session, nova_name_device, nova_time_copy);
}

/* The program's state for one of the devices, created on first use; null, and the reason, if that
 * fails. The lock of the program's own device is held. */
static nova_device *nova_device_of(nova_device *own, int number, cudaError_t *code)
{
    cudaDeviceProp properties;
    for (nova_device *other = own->others; other != NULL; other = other->others)
        if (other->number == number)
            return other;
    *code = cudaGetDeviceProperties(&properties, number);
    if (*code != cudaSuccess)
        return NULL;
    nova_device *made = (nova_device *)calloc(1, sizeof *made);
    if (made == NULL || pthread_mutex_init(&made->pool.lock, NULL) != 0) {
        *code = cudaErrorMemoryAllocation;
        free(made);
        return NULL;
    }
    nova_set_device(made, number, &properties);
    made->open = true;
    made->others = own->others;
    own->others = made;
    return made;
}

/* Makes a call use the stream of its caller, on the caller's current device. */
static void nova_use_queue(nova_context *context, nova_session *session, void *stream)
{
    cudaError_t code = cudaGetDevice(&session->previous);
    if (code != cudaSuccess)
        nova_fail_device(context, "looking for the current device", code);
    pthread_mutex_lock(&session->device->pool.lock);
    nova_device *device = nova_device_of(session->device, session->previous, &code);
    if (device != NULL)
        session->profile = nova_profile_of(&device->pool);
    pthread_mutex_unlock(&session->device->pool.lock);
    if (device == NULL)
        nova_fail_device(context, "opening the current device", code);
    session->device = device;
    session->queue = (nova_queue)stream;
    session->lent = true;
    nova_open_profile(session, nova_name_device, nova_time_copy);
}

/* Waits for all kernels of a call, and returns its stream. */
static void nova_close_queue(nova_session *session)
{
    nova_finish(session->queue);
    nova_close_profile(session);
    nova_queue left = nova_give_back(&session->device->pool, session);
    if (left != NULL)
        cudaStreamDestroy(left);
    cudaSetDevice(session->previous);
    /* The thread's next call starts without the errors of this one. */
    cudaGetLastError();
}

#endif
