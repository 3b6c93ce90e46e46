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

/* What a kernel writes that fails: the first one to do so. */
typedef struct nova_failure {
    int32_t taken, site;
    int64_t first, second;
} nova_failure;

/* What a thread needs to fail. */
typedef struct nova_context {
    __global nova_failure *failure;
    bool failed; /* whether the thread is to leave its function */
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
}

#endif
