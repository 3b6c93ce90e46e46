/* Minima and maxima of floating-point numbers: a nan loses, -0.0 is less than 0.0. */
#ifndef NOVA_FLOATS_H
#define NOVA_FLOATS_H

#include <math.h>

static inline float nova_minimum_f32(float a, float b)
{
    if (a != a)
        return b;
    if (b != b || a < b || (a == b && signbit(a)))
        return a;
    return b;
}

static inline double nova_minimum_f64(double a, double b)
{
    if (a != a)
        return b;
    if (b != b || a < b || (a == b && signbit(a)))
        return a;
    return b;
}

static inline float nova_maximum_f32(float a, float b)
{
    if (a != a)
        return b;
    if (b != b || a > b || (a == b && !signbit(a)))
        return a;
    return b;
}

static inline double nova_maximum_f64(double a, double b)
{
    if (a != a)
        return b;
    if (b != b || a > b || (a == b && !signbit(a)))
        return a;
    return b;
}

#endif
