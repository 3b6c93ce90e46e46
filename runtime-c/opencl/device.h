/* A device of OpenCL. The first call of a program chooses and opens it, and all its calls share it. */
#ifndef NOVA_OPENCL_DEVICE_H
#define NOVA_OPENCL_DEVICE_H

#include "memory.h"
/* Included after the definitions of memory and queues. */
#include "../device/pool.h"
#include "../device/profile.h"

/* The kernels of a program and, once a call has opened it, the device that they run on. */
typedef struct nova_device {
    nova_pool_of_device pool;   /* its lock guards the device, and the arguments of kernels */
    const char *const *sources; /* the text of the kernels, as several strings */
    int source_count;
    const char *options;        /* for the compiler of that text */
    const char *const *names;   /* of the kernels, */
    const char *const *places;  /* and the places of their loops in the program */
    cl_kernel *kernels;
    int kernel_count;
    bool open;
    cl_device_id id;
    cl_context context;
    cl_program program;
    struct nova_device *others; /* for contexts that callers have lent */
} nova_device;

/* The return code of functions of OpenCL: NOVA_DONE, or an error. */
typedef cl_int nova_code;
#define NOVA_DONE CL_SUCCESS

/* Ends the call because a function of OpenCL has failed. */
NOVA_NEVER_RETURNS static void nova_fail_device(nova_context *context, const char *what, cl_int code)
{
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY
        || code == CL_OUT_OF_RESOURCES)
        nova_fail(context, NOVA_ERROR_MEMORY, "out of memory on the device: %s gave %d", what,
                  (int)code);
    nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d", what, (int)code);
}

/* The preference for a device if the user names none. */
static int nova_preference(cl_device_id id)
{
    cl_device_type type = 0;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (type & CL_DEVICE_TYPE_GPU)
        return 3;
    return type & CL_DEVICE_TYPE_ACCELERATOR ? 2 : 1;
}

/* The device that NOVA_DEVICE names, or the best one; null if there is none. */
static cl_device_id nova_choose_device(void)
{
    enum { MOST = 16 };
    const char *wanted = nova_wanted_device();
    cl_platform_id platforms[MOST];
    cl_device_id devices[MOST], chosen = NULL;
    cl_uint platform_count = 0, number = 0;
    int best = 0;
    if (clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS)
        return NULL;
    for (cl_uint p = 0; p < platform_count && p < MOST; p++) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < MOST; d++, number++) {
            int preference = nova_preference(devices[d]);
            if (wanted != NULL) {
                char name[256] = "";
                clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
                preference = nova_is_wanted(name, number, wanted) ? 4 : 0;
            }
            if (preference > best) {
                best = preference;
                chosen = devices[d];
            }
        }
    }
    return chosen;
}

/* Compiles the kernels. Returns the name of the function that failed, or null. The log of the compiler
 * is printed. */
static const char *nova_build_kernels(nova_device *device, cl_int *code)
{
    device->program = clCreateProgramWithSource(device->context, (cl_uint)device->source_count,
                                                (const char **)(uintptr_t)device->sources, NULL,
                                                code);
    if (*code != CL_SUCCESS)
        return "clCreateProgramWithSource";
    *code = clBuildProgram(device->program, 1, &device->id, device->options, NULL, NULL);
    if (*code != CL_SUCCESS) {
        size_t size = 0;
        clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
        char *log = (char *)calloc(1, size + 1);
        if (log != NULL) {
            clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG, size, log,
                                  NULL);
            fprintf(stderr, "%s\n", log);
            free(log);
        }
        return "clBuildProgram";
    }
    for (int k = 0; k < device->kernel_count; k++) {
        device->kernels[k] = clCreateKernel(device->program, device->names[k], code);
        if (*code != CL_SUCCESS)
            return "clCreateKernel";
    }
    return NULL;
}

/* The lock for opening a device, which all programs that are linked together share. Implementations
 * prepare their devices at the first request, and some do not expect requests of two threads at once. */
NOVA_WEAK pthread_mutex_t nova_opening_lock_1 = PTHREAD_MUTEX_INITIALIZER;

/* Opens the device unless it is open. Returns the action that failed, or null. The lock is held. */
static const char *nova_open_device(nova_device *device, cl_int *code)
{
    if (device->open)
        return NULL;
    *code = CL_DEVICE_NOT_FOUND;
    pthread_mutex_lock(&nova_opening_lock_1);
    device->id = nova_choose_device();
    pthread_mutex_unlock(&nova_opening_lock_1);
    if (device->id == NULL)
        return "looking for a device";
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, code);
    if (*code != CL_SUCCESS)
        return "clCreateContext";
    const char *failed = nova_build_kernels(device, code);
    if (failed != NULL) {
        clReleaseContext(device->context);
        return failed;
    }
    device->open = true;
    return NULL;
}

/* New memory on the device; null if there is none, with the error in *code. */
static nova_device_memory nova_make_memory(nova_device *device, size_t bytes, nova_code *code)
{
    nova_device_memory memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL,
                                               code);
    if (*code == CL_INVALID_BUFFER_SIZE)
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return memory;
}

/* The largest amount of memory that the threads of a work-group may share. */
static size_t nova_most_local_memory(const nova_device *device)
{
    cl_ulong most = 0;
    clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL);
    return (size_t)most;
}

/* The largest amount of memory of one array, and of all threads of a kernel. */
static uint64_t nova_most_memory(const nova_device *device)
{
    cl_ulong largest = 0, all = 0;
    clGetDeviceInfo(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    return largest < all / 4 ? largest : all / 4;
}

/* The name of the device of a call. */
static void nova_name_device(nova_session *session, char *text, size_t size)
{
    clGetDeviceInfo(session->device->id, CL_DEVICE_NAME, size, text, NULL);
}

/* The seconds of the fastest of several copies of this many bytes on the device, in a queue that
 * measures times; 0 if none can be made. */
static double nova_time_copy(nova_session *session, size_t bytes)
{
    nova_device *device = session->device;
    nova_device_memory memory[2] = {NULL, NULL};
    double least = 0;
    cl_int code = CL_SUCCESS;
    nova_queue queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE,
                                            &code);
    for (int k = 0; k < 2 && code == CL_SUCCESS; k++)
        memory[k] = nova_make_memory(device, bytes, &code);
    for (int k = 0; k < NOVA_COPIES && code == CL_SUCCESS; k++) {
        nova_span span = NULL;
        double seconds = 0;
        code = clEnqueueCopyBuffer(queue, memory[k % 2], memory[1 - k % 2], 0, 0, bytes, 0, NULL,
                                   &span);
        if (code == CL_SUCCESS)
            code = clFinish(queue);
        if (nova_end_span(span, &seconds) && k >= 2 && (least <= 0 || seconds < least))
            least = seconds;
    }
    for (int k = 0; k < 2; k++)
        if (memory[k] != NULL)
            nova_release_memory(memory[k]);
    if (queue != NULL)
        clReleaseCommandQueue(queue);
    return least;
}

/* The destination of the span of an operation; null without a profile. */
static nova_span *nova_place_of_span(const nova_session *session, nova_span *span)
{
    return session->profile == NULL ? NULL : span;
}

/* Copies bytes to the device, from an offset on. They are read before this returns. */
static void nova_device_write(nova_context *context, nova_device_memory to, size_t offset,
                              const void *from, size_t bytes)
{
    nova_session *session = context->session;
    nova_span span = NULL;
    cl_int code = clEnqueueWriteBuffer(session->queue, to, CL_TRUE, offset, bytes, from, 0, NULL,
                                       nova_place_of_span(session, &span));
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueWriteBuffer", code);
    nova_note(session, NOVA_COPY_TO_DEVICE, NULL, span, 0, bytes);
}

/* Copies bytes from the device, after all earlier kernels have ended. */
static void nova_device_read(nova_context *context, void *to, nova_device_memory from,
                             size_t offset, size_t bytes)
{
    nova_session *session = context->session;
    nova_span span = NULL;
    cl_int code = clEnqueueReadBuffer(session->queue, from, CL_TRUE, offset, bytes, to, 0, NULL,
                                      nova_place_of_span(session, &span));
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueReadBuffer", code);
    nova_note(session, NOVA_COPY_TO_HOST, NULL, span, bytes, 0);
}

/* Copies bytes on the device. */
static void nova_device_copy(nova_context *context, nova_device_memory to, size_t to_offset,
                             nova_device_memory from, size_t from_offset, size_t bytes)
{
    nova_session *session = context->session;
    nova_span span = NULL;
    cl_int code = clEnqueueCopyBuffer(session->queue, from, to, from_offset, to_offset, bytes, 0,
                                      NULL, nova_place_of_span(session, &span));
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueCopyBuffer", code);
    nova_note(session, NOVA_COPY_ON_DEVICE, NULL, span, bytes, bytes);
}

/* Opens a queue of the device for a call. */
static void nova_open_queue(nova_context *context, nova_session *session)
{
    nova_device *device = session->device;
    cl_int code = CL_SUCCESS;
    pthread_mutex_lock(&device->pool.lock);
    const char *failed = nova_open_device(device, &code);
    if (failed == NULL) {
        session->queue = nova_take_queue(&device->pool);
        session->profile = nova_profile_of(&device->pool);
    }
    pthread_mutex_unlock(&device->pool.lock);
    if (failed != NULL && code == CL_DEVICE_NOT_FOUND)
        nova_fail(context, NOVA_ERROR_DEVICE, "there is no OpenCL device%s",
                  nova_wanted_device() == NULL ? "" : " of the name in NOVA_DEVICE");
    if (failed != NULL)
        nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d", failed, (int)code);
    if (session->queue == NULL) {
        cl_command_queue_properties takes_times =
            session->profile == NULL ? 0 : CL_QUEUE_PROFILING_ENABLE;
        session->queue = clCreateCommandQueue(device->context, device->id, takes_times, &code);
        if (session->queue == NULL)
            nova_fail_device(context, "clCreateCommandQueue", code);
    }
    nova_open_profile(session, nova_name_device, nova_time_copy);
}

/* The program on the device and in the context of a caller's queue; it is opened at its first use. Null
 * if that fails, with the action that failed. The lock of the program's own device is held. */
static nova_device *nova_device_in(nova_device *own, cl_context context, cl_device_id id,
                                   const char **failed, cl_int *code)
{
    for (nova_device *other = own->others; other != NULL; other = other->others)
        if (other->context == context && other->id == id)
            return other;
    nova_device *made = (nova_device *)calloc(1, sizeof *made);
    cl_kernel *kernels = (cl_kernel *)calloc((size_t)own->kernel_count, sizeof(cl_kernel));
    *failed = "opening a device";
    *code = CL_OUT_OF_HOST_MEMORY;
    if (made != NULL && kernels != NULL && pthread_mutex_init(&made->pool.lock, NULL) == 0) {
        made->sources = own->sources;
        made->source_count = own->source_count;
        made->options = own->options;
        made->names = own->names;
        made->places = own->places;
        made->kernels = kernels;
        made->kernel_count = own->kernel_count;
        made->id = id;
        made->context = context;
        *failed = nova_build_kernels(made, code);
        if (*failed == NULL) {
            clRetainContext(context);
            made->open = true;
            made->others = own->others;
            own->others = made;
            return made;
        }
        if (made->program != NULL)
            clReleaseProgram(made->program);
        pthread_mutex_destroy(&made->pool.lock);
    }
    free(kernels);
    free(made);
    return NULL;
}

/* Makes a call use the queue that its caller has lent, and the program in the context of that queue. */
static void nova_use_queue(nova_context *context, nova_session *session, void *stream)
{
    cl_command_queue queue = (cl_command_queue)stream;
    cl_context owner = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    const char *failed = "looking at the stream";
    cl_int code = CL_INVALID_COMMAND_QUEUE;
    if (queue != NULL)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof owner, &owner, NULL);
    if (code == CL_SUCCESS)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (code == CL_SUCCESS)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                     NULL);
    if (code != CL_SUCCESS)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "stream: no command queue of OpenCL");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        nova_fail(context, NOVA_ERROR_ARGUMENT, "stream: the command queue does not keep an order");
    pthread_mutex_lock(&session->device->pool.lock);
    nova_device *device = nova_device_in(session->device, owner, id, &failed, &code);
    if (device != NULL)
        session->profile = nova_profile_of(&device->pool);
    pthread_mutex_unlock(&session->device->pool.lock);
    if (device == NULL)
        nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d", failed, (int)code);
    session->device = device;
    session->queue = queue;
    session->lent = true;
    nova_open_profile(session, nova_name_device, nova_time_copy);
}

/* Waits for all kernels of a call, and returns its queue. */
static void nova_close_queue(nova_session *session)
{
    nova_finish(session->queue);
    nova_close_profile(session);
    nova_queue left = nova_give_back(&session->device->pool, session);
    if (left != NULL)
        clReleaseCommandQueue(left);
}

#endif
