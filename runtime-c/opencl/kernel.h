/* Definitions that precede all kernels of OpenCL: the C names of types and functions. This is text that
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
#define INT32_MAX INT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
#define sqrtf sqrt
#define rsqrtf rsqrt
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

#endif
