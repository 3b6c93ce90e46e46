/* Minima and maxima of floating-point numbers, where a nan loses. Of -0.0 and 0.0 either may win, as in
 * C; in the strict functions -0.0 is less than 0.0.
 *
 * The other functions choose twice: gcc puts two choices into lanes of vectors, but makes a branch of
 * one condition with two parts. The strict functions combine the bits of equal numbers. LLVM 15 takes
 * comparisons that choose between zeros for a maximum of the first kind, next to a constant -0.0. */
#ifndef NOVA_FLOATS_H
#define NOVA_FLOATS_H

#include "bits.h"

/* True if the compiler knows a number, which is no nan. Then one choice is enough, for
 * which processors have an instruction. */
#if defined(__GNUC__) && !defined(__OPENCL_VERSION__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define NOVA_IS_KNOWN(number) (__builtin_constant_p(number) && (number) == (number))
#else
#define NOVA_IS_KNOWN(number) 0
#endif

static inline float nova_minimum_f32(float a, float b)
{
    if (NOVA_IS_KNOWN(a))
        return b < a ? b : a;
    float chosen = a < b ? a : b;
    return b != b ? a : chosen;
}

static inline double nova_minimum_f64(double a, double b)
{
    if (NOVA_IS_KNOWN(a))
        return b < a ? b : a;
    double chosen = a < b ? a : b;
    return b != b ? a : chosen;
}

static inline float nova_maximum_f32(float a, float b)
{
    if (NOVA_IS_KNOWN(a))
        return b > a ? b : a;
    float chosen = a > b ? a : b;
    return b != b ? a : chosen;
}

static inline double nova_maximum_f64(double a, double b)
{
    if (NOVA_IS_KNOWN(a))
        return b > a ? b : a;
    double chosen = a > b ? a : b;
    return b != b ? a : chosen;
}

static inline float nova_strict_minimum_f32(float a, float b)
{
    if (a != a)
        return b;
    if (a == b)
        return nova_from_bits_f32(nova_bits_f32(a) | nova_bits_f32(b));
    return a < b || b != b ? a : b;
}

static inline double nova_strict_minimum_f64(double a, double b)
{
    if (a != a)
        return b;
    if (a == b)
        return nova_from_bits(nova_bits(a) | nova_bits(b));
    return a < b || b != b ? a : b;
}

static inline float nova_strict_maximum_f32(float a, float b)
{
    if (a != a)
        return b;
    if (a == b)
        return nova_from_bits_f32(nova_bits_f32(a) & nova_bits_f32(b));
    return a > b || b != b ? a : b;
}

static inline double nova_strict_maximum_f64(double a, double b)
{
    if (a != a)
        return b;
    if (a == b)
        return nova_from_bits(nova_bits(a) & nova_bits(b));
    return a > b || b != b ? a : b;
}

#endif
