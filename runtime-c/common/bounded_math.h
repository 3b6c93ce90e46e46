/* Sine and cosine of floats of at most 2^16 in magnitude, where floating point is not strict. They have
 * no branches, tables and calls, so that compilers turn loops with them into vector instructions. For
 * other arguments results are any numbers, so that loops look at all arguments before. The sine of -0.0
 * may be 0.0. */
#ifndef NOVA_BOUNDED_MATH_H
#define NOVA_BOUNDED_MATH_H

#include "bits.h"
#include <stdint.h>

/* An angle of turn * pi/2 + rest, with |rest| a little above pi/4 at most. */
typedef struct {
    uint32_t turn;
    float rest;
} nova_bounded_angle;

/* Adding 1.5 * 2^23 leaves the number of quarter turns in the low bits. The mask changes no number in
 * range, but compilers told that sums are associative cannot see that both sums cancel.
 *
 * Products of that number and pi/2 must be exact. Without fused multiply-add, doubles are. */
static inline nova_bounded_angle nova_quarter_turns(float x)
{
    nova_bounded_angle angle;
    angle.turn = nova_bits_f32(x * 0.636619747f + 12582912.0f);
    float n = nova_from_bits_f32(angle.turn & 0x4b7fffffu) - 12582912.0f;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    float rest = __builtin_fmaf(n, -1.57079637f, x);
    rest = __builtin_fmaf(n, 4.37113883e-8f, rest);
    angle.rest = __builtin_fmaf(n, 1.71512451e-15f, rest);
#else
    double rest = (double)x - (double)n * 1.5707963267341256;
    angle.rest = (float)(rest - (double)n * 6.077100506506192e-11);
#endif
    return angle;
}

/* The sine (0) or the cosine (1) of an angle. An odd number of quarter turns exchanges both. Bits
 * choose, since compilers make branches of conditions. */
static inline float nova_sine_of_angle(nova_bounded_angle angle, uint32_t is_cosine)
{
    float r = angle.rest, square = r * r;
    float odd = -0.166666552f + square * (0.00833216123f - 0.000195153683f * square);
    float even = 0.0416666456f + square * (-0.00138873165f + 2.44332387e-5f * square);
    uint32_t sine = nova_bits_f32(r + r * square * odd);
    uint32_t cosine = nova_bits_f32((1.0f - 0.5f * square) + square * square * even);
    uint32_t chosen = is_cosine ? cosine : sine, other = is_cosine ? sine : cosine;
    uint32_t exchanged = 0u - (angle.turn & 1u);
    uint32_t sign = (angle.turn + is_cosine) << 30 & 0x80000000u;
    return nova_from_bits_f32(((other & exchanged) | (chosen & ~exchanged)) ^ sign);
}

/* Within 1.6 ulp for floats of at most 2^16 in magnitude. */
static inline float nova_sin_bounded_f32(float x)
{
    return nova_sine_of_angle(nova_quarter_turns(x), 0);
}

/* Within 1.6 ulp for floats of at most 2^16 in magnitude. */
static inline float nova_cos_bounded_f32(float x)
{
    return nova_sine_of_angle(nova_quarter_turns(x), 1);
}

#endif
