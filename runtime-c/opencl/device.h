/* A device of OpenCL: chosen and opened by the first call of a program, shared by all its calls. */
#ifndef NOVA_OPENCL_DEVICE_H
#define NOVA_OPENCL_DEVICE_H

#include "../common/errors.h"
#include <CL/cl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Memory on a device. */
typedef cl_mem nova_device_memory;

/* Threads of a work-group, and work-groups of a kernel at most. */
#ifndef NOVA_BLOCK_SIZE
#define NOVA_BLOCK_SIZE 256
#endif
#ifndef NOVA_MAX_BLOCKS
#define NOVA_MAX_BLOCKS 65536
#endif

/* Memory on the device that is given back is kept for what comes next: so many pieces at most. */
#define NOVA_KEPT 64

typedef struct nova_piece_of_memory {
    nova_device_memory memory;
    size_t bytes;
} nova_piece_of_memory;

typedef struct nova_kept {
    nova_piece_of_memory pieces[NOVA_KEPT];
    int count;
} nova_kept;

/* Takes a piece of exactly this many bytes; null if none is kept. */
static nova_device_memory nova_take_kept(nova_kept *kept, size_t bytes)
{
    for (int k = kept->count - 1; k >= 0; k--) {
        if (kept->pieces[k].bytes == bytes) {
            nova_device_memory memory = kept->pieces[k].memory;
            kept->pieces[k] = kept->pieces[--kept->count];
            return memory;
        }
    }
    return NULL;
}

/* Keeps a piece; false if there is no room for one more. */
static bool nova_keep_piece(nova_kept *kept, nova_device_memory memory, size_t bytes)
{
    if (kept->count == NOVA_KEPT)
        return false;
    kept->pieces[kept->count].memory = memory;
    kept->pieces[kept->count++].bytes = bytes;
    return true;
}

/* Releases all pieces. */
static void nova_release_kept(nova_kept *kept)
{
    while (kept->count > 0)
        clReleaseMemObject(kept->pieces[--kept->count].memory);
}

/* The kernels of a program and, once a call has opened it, the device that they run on. */
typedef struct nova_device {
    const char *const *sources; /* the text of the kernels, in pieces */
    int source_count;
    const char *options;        /* for the compiler of that text */
    const char *const *names;   /* of the kernels */
    cl_kernel *kernels;
    int kernel_count;
    pthread_mutex_t lock;       /* guards what follows, and the arguments of kernels */
    bool open;
    cl_device_id id;
    cl_context context;
    cl_program program;
    cl_command_queue queues[16]; /* that no call uses */
    int queue_count;
    nova_kept kept;             /* memory that no call uses */
} nova_device;

/* What a call has on a device. */
typedef struct nova_device_session {
    nova_device *device;
    cl_command_queue queue;
    nova_kept kept;               /* memory given back, which kernels before may still use */
    struct nova_mirror *mirrors;  /* arrays of the call, as a tree over their addresses */
    uint64_t random;              /* for the shape of that tree */
    nova_device_memory failure;   /* what a kernel writes that fails */
    bool may_have_failed;         /* whether kernels have run since that was looked at */
    nova_device_memory heap;      /* the memory of threads, */
    size_t heap_bytes;
    int64_t slice;                /* and what each has of it */
} nova_session;

/* Ends the call because a function of OpenCL has failed. */
NOVA_NEVER_RETURNS static void nova_fail_device(nova_context *context, const char *what, cl_int code)
{
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY
        || code == CL_OUT_OF_RESOURCES)
        nova_fail(context, NOVA_ERROR_MEMORY, "out of memory on the device: %s gave %d", what,
                  (int)code);
    nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d", what, (int)code);
}

/* Whether the name of a device is one that the user asks for: its number among all, or a part of its
 * name. */
static bool nova_is_wanted(cl_device_id id, unsigned number, const char *wanted)
{
    char name[256] = "";
    char *end;
    unsigned long asked = strtoul(wanted, &end, 10);
    if (end != wanted && *end == '\0')
        return asked == number;
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    return strstr(name, wanted) != NULL;
}

/* How much a device is to be preferred where the user names none. */
static int nova_preference(cl_device_id id)
{
    cl_device_type type = 0;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (type & CL_DEVICE_TYPE_GPU)
        return 3;
    return type & CL_DEVICE_TYPE_ACCELERATOR ? 2 : 1;
}

/* The device that NOVA_DEVICE names, or the best one there is; null if there is none. */
static cl_device_id nova_choose_device(void)
{
    enum { MOST = 16 };
    const char *wanted = getenv("NOVA_DEVICE");
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
            if (wanted != NULL && *wanted != '\0')
                preference = nova_is_wanted(devices[d], number, wanted) ? 4 : 0;
            if (preference > best) {
                best = preference;
                chosen = devices[d];
            }
        }
    }
    return chosen;
}

/* Compiles the kernels; gives what has failed, or null. The log of the compiler is shown. */
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

/* Held by the program that opens its device, of all those linked together: implementations prepare
 * their devices when they are first asked, and some do not expect two threads to ask at once. */
NOVA_WEAK pthread_mutex_t nova_opening_lock_1 = PTHREAD_MUTEX_INITIALIZER;

/* Opens the device unless it is open; gives what has failed, or null. The lock is held. */
static const char *nova_open_device(nova_device *device, cl_int *code)
{
    *code = CL_DEVICE_NOT_FOUND;
    if (device->open)
        return NULL;
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

/* Memory of at least this many bytes: sizes are rounded up to eighths of powers of two, so that what
 * one call gives back fits another. */
static size_t nova_rounded(size_t bytes)
{
    size_t unit = 256;
    while (unit < bytes / 8)
        unit *= 2;
    return (bytes + unit - 1) / unit * unit;
}

/* Memory on the device; fails if there is none. */
static nova_device_memory nova_device_allocate(nova_context *context, size_t bytes)
{
    nova_session *session = context->session;
    nova_device *device = session->device;
    cl_int code = CL_SUCCESS;
    bytes = nova_rounded(bytes);
    nova_device_memory memory = nova_take_kept(&session->kept, bytes);
    if (memory != NULL)
        return memory;
    pthread_mutex_lock(&device->lock);
    memory = nova_take_kept(&device->kept, bytes);
    if (memory == NULL)
        memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS) {
        clFinish(session->queue);
        nova_release_kept(&session->kept);
        nova_release_kept(&device->kept);
        memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    }
    pthread_mutex_unlock(&device->lock);
    if (code == CL_INVALID_BUFFER_SIZE)
        code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clCreateBuffer", code);
    return memory;
}

/* How much memory the threads of a work-group may share. */
static size_t nova_most_local_memory(const nova_device *device)
{
    cl_ulong most = 0;
    clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL);
    return (size_t)most;
}

/* How much memory one array may take, and all threads of a kernel. */
static uint64_t nova_most_memory(const nova_device *device)
{
    cl_ulong largest = 0, all = 0;
    clGetDeviceInfo(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    return largest < all / 4 ? largest : all / 4;
}

/* Gives memory of this many bytes back. */
static void nova_device_free(nova_session *session, nova_device_memory memory, size_t bytes)
{
    if (!nova_keep_piece(&session->kept, memory, nova_rounded(bytes)))
        clReleaseMemObject(memory);
}

/* Copies bytes to the device, from an offset on; they are read before it returns. */
static void nova_device_write(nova_context *context, nova_device_memory to, size_t offset,
                              const void *from, size_t bytes)
{
    cl_int code = clEnqueueWriteBuffer(context->session->queue, to, CL_TRUE, offset, bytes, from, 0,
                                       NULL, NULL);
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueWriteBuffer", code);
}

/* Copies bytes from the device, when all kernels before have ended. */
static void nova_device_read(nova_context *context, void *to, nova_device_memory from,
                             size_t offset, size_t bytes)
{
    cl_int code = clEnqueueReadBuffer(context->session->queue, from, CL_TRUE, offset, bytes, to, 0,
                                      NULL, NULL);
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueReadBuffer", code);
}

/* Copies bytes on the device. */
static void nova_device_copy(nova_context *context, nova_device_memory to, size_t to_offset,
                             nova_device_memory from, size_t from_offset, size_t bytes)
{
    cl_int code = clEnqueueCopyBuffer(context->session->queue, from, to, from_offset, to_offset,
                                      bytes, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        nova_fail_device(context, "clEnqueueCopyBuffer", code);
}

/* A queue of the device for a call. */
static void nova_open_queue(nova_context *context, nova_session *session)
{
    nova_device *device = session->device;
    cl_int code = CL_SUCCESS;
    pthread_mutex_lock(&device->lock);
    const char *failed = nova_open_device(device, &code);
    if (failed == NULL && device->queue_count > 0)
        session->queue = device->queues[--device->queue_count];
    pthread_mutex_unlock(&device->lock);
    if (failed != NULL && code == CL_DEVICE_NOT_FOUND)
        nova_fail(context, NOVA_ERROR_DEVICE, "there is no OpenCL device%s",
                  getenv("NOVA_DEVICE") == NULL ? "" : " of the name in NOVA_DEVICE");
    if (failed != NULL)
        nova_fail(context, NOVA_ERROR_DEVICE, "the device failed: %s gave %d", failed, (int)code);
    if (session->queue == NULL) {
        session->queue = clCreateCommandQueue(device->context, device->id, 0, &code);
        if (session->queue == NULL)
            nova_fail_device(context, "clCreateCommandQueue", code);
    }
}

/* Ends all kernels of a call and gives its queue back. */
static void nova_close_queue(nova_session *session)
{
    nova_device *device = session->device;
    clFinish(session->queue);
    pthread_mutex_lock(&device->lock);
    while (session->kept.count > 0
           && nova_keep_piece(&device->kept, session->kept.pieces[session->kept.count - 1].memory,
                              session->kept.pieces[session->kept.count - 1].bytes))
        session->kept.count--;
    if (device->queue_count < 16) {
        device->queues[device->queue_count++] = session->queue;
        session->queue = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    nova_release_kept(&session->kept);
    if (session->queue != NULL)
        clReleaseCommandQueue(session->queue);
}

#endif
