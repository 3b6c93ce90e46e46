/* What kernels of OpenCL use: the names of C for types and functions, and failures. This is text that
 * the program gives to the compiler of the device. */
#ifndef NOVA_OPENCL_KERNEL_H
#define NOVA_OPENCL_KERNEL_H

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define INT32_MIN INT_MIN
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
#define sqrtf sqrt
#define fabsf fabs
#define expf exp
#define exp2f exp2
#define logf log
#define log2f log2
#define log10f log10
#define sinf sin
#define cosf cos
#define tanf tan
#define asinf asin
#define acosf acos
#define atanf atan
#define sinhf sinh
#define coshf cosh
#define tanhf tanh
#define powf pow
#define atan2f atan2
#define floorf floor
#define ceilf ceil
#define roundf round
#define truncf trunc
#define erff erf
#define fmaf fma

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_global_id(0); variable < (count); \
         variable += (int64_t)get_global_size(0))

/* One whose iterations the work-groups share, each of them done by all threads of its group. */
#define NOVA_GROUP_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_group_id(0); variable < (count); \
         variable += (int64_t)get_num_groups(0))

/* One whose iterations the threads of a work-group share. */
#define NOVA_LOCAL_LOOP(variable, count) \
    for (int64_t variable = (int64_t)get_local_id(0); variable < (count); \
         variable += (int64_t)get_local_size(0))

/* How what device/heap.h says in the words of C is written here. */
#define NOVA_GLOBAL __global
#define NOVA_IN_KERNELS static
#define NOVA_THREAD ((int64_t)get_global_id(0))
#define NOVA_COMPARE_AND_SWAP(at, old, value) atomic_cmpxchg(at, old, value)

/* What a kernel writes that fails: the first one to do so. */
typedef struct nova_failure {
    int32_t taken, site;
    int64_t first, second;
} nova_failure;

/* Failures that the host answers with more memory, in place of a check: `first` bytes for a thread,
 * and `second` words for the pieces numbered `first`. */
#define NOVA_HEAP_IS_FULL (-1)
#define NOVA_PIECES_ARE_FULL (-2)

/* What a thread needs to fail, and its memory. */
typedef struct nova_context {
    __global nova_failure *failure;
    bool failed; /* whether the thread is to leave its function */
    /* Where the threads of a work-group wait for each other: between which barriers one has failed
     * first, and between which ones this thread is. */
    __local int *group;
    int phase;
    __global uint8_t *heap; /* the thread's slice of the memory of threads, */
    int64_t size, used;     /* its bytes, and how many of them blocks have taken; */
    int64_t free;           /* where the first free block lies in it, or -1 */
    const struct nova_device_tables *tables; /* nodes of recursive data */
} nova_context;

/* Whether a thread has failed, of this kernel or of one before. */
static bool nova_has_failed(__global const nova_failure *failure)
{
    return failure->taken != 0;
}

/* The thread fails at a check; the function that it is in returns. */
static void nova_fail_at(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    context->failed = true;
    if (atomic_cmpxchg((volatile __global int *)&context->failure->taken, 0, 1) == 0) {
        context->failure->site = site;
        context->failure->first = first;
        context->failure->second = second;
    }
    if (context->group != 0)
        atomic_min((volatile __local int *)context->group, context->phase);
}

/* The threads of a work-group begin: whether a kernel or another group has failed before, which all of
 * them are told alike. */
static bool nova_group_begins_failed(nova_context *context)
{
    if (get_local_id(0) == 0)
        *context->group = context->failure->taken != 0 ? -1 : INT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    return *(volatile __local int *)context->group < 0;
}

/* Behind a barrier: whether a thread of the group has failed before it. Those that are further already
 * may fail meanwhile, which is said behind the next one, so that all threads get the same answer. */
static bool nova_group_has_failed(nova_context *context)
{
    context->phase++;
    return *(volatile __local int *)context->group < context->phase;
}

#endif
