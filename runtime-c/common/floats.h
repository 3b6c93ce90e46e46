/* Minima and maxima of floating-point numbers, where a nan loses. Of -0.0 and 0.0 either may win, as
   in C, but in the strict ones -0.0 is less than 0.0. */
#ifndef NOVA_FLOATS_H
#define NOVA_FLOATS_H

#include "bits.h"

static inline float nova_minimum_f32(float a, float b)
{
    return a < b || b != b ? a : b;
}

static inline double nova_minimum_f64(double a, double b)
{
    return a < b || b != b ? a : b;
}

static inline float nova_maximum_f32(float a, float b)
{
    return a > b || b != b ? a : b;
}

static inline double nova_maximum_f64(double a, double b)
{
    return a > b || b != b ? a : b;
}

static inline float nova_strict_minimum_f32(float a, float b)
{
    if (a != a)
        return b;
    if (b != b || a < b || (a == b && nova_bits_f32(a) >> 31 != 0))
        return a;
    return b;
}

static inline double nova_strict_minimum_f64(double a, double b)
{
    if (a != a)
        return b;
    if (b != b || a < b || (a == b && nova_bits(a) >> 63 != 0))
        return a;
    return b;
}

static inline float nova_strict_maximum_f32(float a, float b)
{
    if (a != a)
        return b;
    if (b != b || a > b || (a == b && nova_bits_f32(a) >> 31 == 0))
        return a;
    return b;
}

static inline double nova_strict_maximum_f64(double a, double b)
{
    if (a != a)
        return b;
    if (b != b || a > b || (a == b && nova_bits(a) >> 63 == 0))
        return a;
    return b;
}

#endif
