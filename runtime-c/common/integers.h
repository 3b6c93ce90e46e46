/* Integer operations that plain C leaves undefined for some operands. Operations wrap, as in two's
 * complement. The caller ensures that divisors are not 0. */
#ifndef NOVA_INTEGERS_H
#define NOVA_INTEGERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Quotients, truncated; the smallest number divided by -1 is itself. */
static inline int32_t nova_divide_i32(int32_t a, int32_t b)
{
    return b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;
}

static inline int64_t nova_divide_i64(int64_t a, int64_t b)
{
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* Remainders with the sign of a. */
static inline int32_t nova_remainder_i32(int32_t a, int32_t b)
{
    return b == -1 ? 0 : a % b;
}

static inline int64_t nova_remainder_i64(int64_t a, int64_t b)
{
    return b == -1 ? 0 : a % b;
}

/* Absolute values; that of the smallest number is itself. */
static inline int32_t nova_absolute_i32(int32_t a)
{
    return a < 0 ? (int32_t)(0 - (uint32_t)a) : a;
}

static inline int64_t nova_absolute_i64(int64_t a)
{
    return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
}

/* Numbers of set bits; narrower types use that of uint32_t. Compilers of processors know the pattern. */
static inline int32_t nova_popcount_u32(uint32_t a)
{
#if defined(__OPENCL_VERSION__)
    return (int32_t)popcount(a);
#elif defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return __popc(a);
#else
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    return (int32_t)(((a + (a >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
#endif
}

static inline int32_t nova_popcount_u64(uint64_t a)
{
#if defined(__OPENCL_VERSION__)
    return (int32_t)popcount(a);
#elif defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return __popcll(a);
#else
    a -= a >> 1 & UINT64_C(0x5555555555555555);
    a = (a & UINT64_C(0x3333333333333333)) + (a >> 2 & UINT64_C(0x3333333333333333));
    a = (a + (a >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int32_t)(a * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* Minima and maxima; narrower types use those of int32_t. */
static inline int32_t nova_minimum_i32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int64_t nova_minimum_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline uint32_t nova_minimum_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint64_t nova_minimum_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline int32_t nova_maximum_i32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int64_t nova_maximum_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint32_t nova_maximum_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t nova_maximum_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* True if the number lies in a range, both ends included. */
static inline bool nova_within(int64_t a, int64_t low, int64_t high)
{
    return low <= a && a <= high;
}

/* True if an index lies in 0..count. This is one comparison, since the count changes less often. */
static inline bool nova_in_range(int64_t index, int64_t count)
{
    return (uint64_t)index < (uint64_t)(count < 0 ? 0 : count);
}

/* True if the number lies between two others. */
static inline bool nova_between(double a, double low, double high)
{
    return low < a && a < high;
}

/* The integer part of a number modulo 2 to the power of 64; 0 for nan and the infinities. */
static inline uint64_t nova_wrap(double a)
{
    if (fabs(a) < 9223372036854775808.0)
        return (uint64_t)(int64_t)a;
    double rest = fmod(fabs(a), 18446744073709551616.0);
    if (!(rest >= 0.0))
        return 0;
    return a < 0.0 ? 0 - (uint64_t)rest : (uint64_t)rest;
}

#endif
