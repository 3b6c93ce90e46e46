/* Floating-point numbers as bits, for kernels. */
#ifndef NOVA_OPENCL_BITS_H
#define NOVA_OPENCL_BITS_H

#include "kernel.h"

static inline uint32_t nova_bits_f32(float x)
{
    return as_uint(x);
}

static inline float nova_from_bits_f32(uint32_t bits)
{
    return as_float(bits);
}

static inline uint64_t nova_bits(double x)
{
    return as_ulong(x);
}

static inline double nova_from_bits(uint64_t bits)
{
    return as_double(bits);
}

#endif
