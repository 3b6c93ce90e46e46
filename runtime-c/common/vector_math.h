/* Mathematical functions of the C library where floating point is not strict, under names of the
 * runtime. glibc has vector versions of them, which gcc calls in loops for functions that are declared
 * so. gcc knows too much about their own names: sine and cosine of one number become one call, which
 * has no vector version. */
#ifndef NOVA_VECTOR_MATH_H
#define NOVA_VECTOR_MATH_H

#include <math.h>

/* The functions with vector versions: the first ones of glibc (1), or all (2). */
#if !defined(__x86_64__) || !defined(__LP64__) || !defined(__GLIBC__) || !defined(__GNUC__) \
    || defined(__clang__) || defined(__cplusplus)
#define NOVA_VECTOR_MATH 0
#elif __GNUC__ < 6 || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 22)
#define NOVA_VECTOR_MATH 0
#elif __GLIBC__ == 2 && __GLIBC_MINOR__ < 35
#define NOVA_VECTOR_MATH 1
#else
#define NOVA_VECTOR_MATH 2
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) double nova_log_f64(double) __asm__("log");
#else
#define nova_log_f64 log
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) float nova_sin_f32(float) __asm__("sinf");
#else
#define nova_sin_f32 sinf
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) double nova_sin_f64(double) __asm__("sin");
#else
#define nova_sin_f64 sin
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) float nova_cos_f32(float) __asm__("cosf");
#else
#define nova_cos_f32 cosf
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) double nova_cos_f64(double) __asm__("cos");
#else
#define nova_cos_f64 cos
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) float nova_pow_f32(float, float) __asm__("powf");
#else
#define nova_pow_f32 powf
#endif

#if NOVA_VECTOR_MATH >= 1
__attribute__((const, simd("notinbranch"))) double nova_pow_f64(double, double) __asm__("pow");
#else
#define nova_pow_f64 pow
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_exp2_f32(float) __asm__("exp2f");
#else
#define nova_exp2_f32 exp2f
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_exp2_f64(double) __asm__("exp2");
#else
#define nova_exp2_f64 exp2
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_log2_f32(float) __asm__("log2f");
#else
#define nova_log2_f32 log2f
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_log2_f64(double) __asm__("log2");
#else
#define nova_log2_f64 log2
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_log10_f32(float) __asm__("log10f");
#else
#define nova_log10_f32 log10f
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_log10_f64(double) __asm__("log10");
#else
#define nova_log10_f64 log10
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_tan_f32(float) __asm__("tanf");
#else
#define nova_tan_f32 tanf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_tan_f64(double) __asm__("tan");
#else
#define nova_tan_f64 tan
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_asin_f32(float) __asm__("asinf");
#else
#define nova_asin_f32 asinf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_asin_f64(double) __asm__("asin");
#else
#define nova_asin_f64 asin
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_acos_f32(float) __asm__("acosf");
#else
#define nova_acos_f32 acosf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_acos_f64(double) __asm__("acos");
#else
#define nova_acos_f64 acos
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_atan_f32(float) __asm__("atanf");
#else
#define nova_atan_f32 atanf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_atan_f64(double) __asm__("atan");
#else
#define nova_atan_f64 atan
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_sinh_f32(float) __asm__("sinhf");
#else
#define nova_sinh_f32 sinhf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_sinh_f64(double) __asm__("sinh");
#else
#define nova_sinh_f64 sinh
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_cosh_f32(float) __asm__("coshf");
#else
#define nova_cosh_f32 coshf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_cosh_f64(double) __asm__("cosh");
#else
#define nova_cosh_f64 cosh
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_tanh_f32(float) __asm__("tanhf");
#else
#define nova_tanh_f32 tanhf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_tanh_f64(double) __asm__("tanh");
#else
#define nova_tanh_f64 tanh
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_erf_f32(float) __asm__("erff");
#else
#define nova_erf_f32 erff
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_erf_f64(double) __asm__("erf");
#else
#define nova_erf_f64 erf
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) float nova_atan2_f32(float, float) __asm__("atan2f");
#else
#define nova_atan2_f32 atan2f
#endif

#if NOVA_VECTOR_MATH >= 2
__attribute__((const, simd("notinbranch"))) double nova_atan2_f64(double, double) __asm__("atan2");
#else
#define nova_atan2_f64 atan2
#endif

#endif
