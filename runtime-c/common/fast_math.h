/* Functions of floats, and the exponential of doubles, where floating point is not strict. They are
 * right for every argument: nan, infinities, zeros, negative and denormal numbers, and denormal
 * results.
 *
 * Exponential and logarithm have no branches and tables, so that compilers turn loops with them into
 * vector instructions. Their polynomials are minimax approximations, with terms in pairs so that few
 * operations depend on each other. */
#ifndef NOVA_FAST_MATH_H
#define NOVA_FAST_MATH_H

#include "bits.h"
#include "vector_math.h"
#include <math.h>
#include <stdint.h>

/* Loops that contain functions for vectors of sixteen must use vectors of sixteen too. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(NOVA_ON_DEVICE)
# pragma GCC target("prefer-vector-width=512")
# include <immintrin.h>
# define NOVA_AVX512 1
#endif

/* e^x = 2^n e^r with n an integer and |r| <= log(2)/2; within 1.02 ulp for all floats.
 *
 * Adding 1.5 * 2^23 + 254 leaves n + 254 in the low bits. Half of it, and the other half, are the
 * exponents of two factors, since 2^n alone may be too large or too small. The mask changes no n
 * in range, but compilers told that sums are associative cannot see that both sums cancel. */
static inline float nova_exp_f32(float x)
{
    uint32_t bits = nova_bits_f32(x * 1.44269504f + 12583166.0f);
    float n = nova_from_bits_f32(bits & 0x4b4001ffu) - 12583166.0f;
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float square = r * r;
    float low = 0.499999934f + 0.166665204f * r;
    float high = (0.0416683909f + 0.00836874515f * r) + 0.00138145357f * square;
    float rest = r + square * (low + square * high); /* e^r - 1 */
    uint32_t halved = bits >> 1;
    float factor = nova_from_bits_f32(halved << 23);
    float y = (factor + factor * rest) * nova_from_bits_f32((bits - halved) << 23);
    y = x > 88.8f ? INFINITY : y;
    return x < -104.0f ? 0.0f : y;
}

/* e^x as nova_exp_f32 computes it, for doubles; within 1.08 ulp in tests. The exponents get offsets of
 * 2046 together. glibc's function is better where vectors have half of the width, since its constants
 * and the caller's do not fit the registers together. */
#if NOVA_VECTOR_MATH >= 1 && !defined(NOVA_AVX512)
__attribute__((const, simd("notinbranch"))) double nova_exp_f64(double) __asm__("exp");
#else
static inline double nova_exp_f64(double x)
{
    uint64_t bits = nova_bits(x * 1.4426950408889634 + 6755399441057790.0);
    double n = nova_from_bits(bits & UINT64_C(0x4338000000000fff)) - 6755399441057790.0;
    double r = (x - n * 0.6931471805582987) - n * 1.6465949582897082e-12;
    double square = r * r, fourth = square * square;
    double p0 = 0.5000000000000011 + 0.1666666666666641 * r;
    double p2 = 0.041666666666529725 + 0.008333333333494505 * r;
    double p4 = 0.0013888888943768718 + 0.0001984126950742187 * r;
    double p6 = 2.4801492936672206e-05 + 2.755758491359248e-06 * r;
    double p8 = 2.7630311701587947e-07 + 2.5000717001236872e-08 * r;
    double high = (p4 + square * p6) + fourth * p8;
    double rest = r + square * ((p0 + square * p2) + fourth * high); /* e^r - 1 */
    uint64_t halved = bits >> 1;
    double factor = nova_from_bits(halved << 52);
    double y = (factor + factor * rest) * nova_from_bits((bits - halved) << 52);
    y = x > 710.0 ? (double)INFINITY : y;
    return x < -746.0 ? 0.0 : y;
}
#endif

/* log x = e log(2) + log(1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); within 0.96 ulp for all floats.
 *
 * The exponent gets an offset of 64, so that it stays positive for denormal numbers, which are read as
 * 2^23 times as large. log(2) is a sum of two numbers, the first with few digits, so that its product
 * with e is exact. */
static inline float nova_log_f32(float x)
{
    uint32_t scaled = nova_bits_f32(x * 8388608.0f) - (23u << 23);
    uint32_t bits = x < 1.17549435e-38f ? scaled : nova_bits_f32(x);
    bits += 0x3f800000u - 0x3f3504f3u + (64u << 23);
    float e = (float)(int32_t)(bits >> 23) - 191.0f;
    float f = nova_from_bits_f32((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float square = f * f;
    float p0 = (0.333333317f - 0.250008210f * f) + square * (0.200012256f - 0.166233584f * f);
    float p4 = (0.142017873f - 0.131602047f * f) + square * (0.127613868f - 0.0763419770f * f);
    float p = p0 + square * square * p4;
    float y = (f + (square * (p * f - 0.5f) - e * 2.12194440e-4f)) + e * 0.693359375f;
    y = x > 0.0f ? y : (x == 0.0f ? -INFINITY : NAN);
    return x <= 3.40282347e+38f ? y : x;
}

/* v = 1 / sqrt(v) for each of the elements; within 1.05 ulp.
 *
 * AVX-512 has an estimate y with an error below 2^-14, for denormal numbers too. The rest 1 - x y^2 is
 * twice that error, next to which its square is negligible. Where the estimate is already the result
 * (infinite, zero or nan), the rest is nan, which one comparison finds in two vectors. */
static inline void nova_reciprocal_roots_f32(float *v, int64_t count)
{
    int64_t whole = 0;
#if defined(NOVA_AVX512) && !defined(NOVA_ON_DEVICE)
    const __m512 one = _mm512_set1_ps(1.0f), halved = _mm512_set1_ps(0.5f);
    whole = count & ~INT64_C(31);
    for (int64_t i = 0; i < whole; i += 32) {
        __m512 x0 = _mm512_loadu_ps(v + i), x1 = _mm512_loadu_ps(v + i + 16);
        __m512 y0 = _mm512_maskz_rsqrt14_ps(0xffff, x0);
        __m512 y1 = _mm512_maskz_rsqrt14_ps(0xffff, x1);
        __m512 rest0 = _mm512_fnmadd_ps(_mm512_mul_ps(x0, y0), y0, one);
        __m512 rest1 = _mm512_fnmadd_ps(_mm512_mul_ps(x1, y1), y1, one);
        __m512 root0 = _mm512_fmadd_ps(_mm512_mul_ps(y0, halved), rest0, y0);
        __m512 root1 = _mm512_fmadd_ps(_mm512_mul_ps(y1, halved), rest1, y1);
        if (_mm512_cmp_ps_mask(rest0, rest1, _CMP_UNORD_Q) != 0) {
            __mmask16 known0 = _mm512_cmp_ps_mask(rest0, rest0, _CMP_UNORD_Q);
            __mmask16 known1 = _mm512_cmp_ps_mask(rest1, rest1, _CMP_UNORD_Q);
            root0 = _mm512_mask_mov_ps(root0, known0, y0);
            root1 = _mm512_mask_mov_ps(root1, known1, y1);
        }
        _mm512_storeu_ps(v + i, root0);
        _mm512_storeu_ps(v + i + 16, root1);
    }
#endif
    for (int64_t i = whole; i < count; i++)
        v[i] = 1.0f / sqrtf(v[i]);
}

/* v = 1 / sqrt(v) for each of the elements; within 1.5 ulp.
 *
 * With the estimate y and the rest e = 1 - x y^2 the result is y / sqrt(1 - e), of whose series three terms
 * are enough, since e is below 2^-13. */
static inline void nova_reciprocal_roots_f64(double *v, int64_t count)
{
    int64_t whole = 0;
#if defined(NOVA_AVX512) && !defined(NOVA_ON_DEVICE)
    const __m512d one = _mm512_set1_pd(1.0), first = _mm512_set1_pd(0.5);
    const __m512d second = _mm512_set1_pd(0.375), third = _mm512_set1_pd(0.3125);
    whole = count & ~INT64_C(7);
    for (int64_t i = 0; i < whole; i += 16) {
        const int64_t next = i + 8 < whole ? i + 8 : i;
        __m512d x0 = _mm512_loadu_pd(v + i), x1 = _mm512_loadu_pd(v + next);
        __m512d y0 = _mm512_maskz_rsqrt14_pd(0xff, x0);
        __m512d y1 = _mm512_maskz_rsqrt14_pd(0xff, x1);
        __m512d rest0 = _mm512_fnmadd_pd(_mm512_mul_pd(x0, y0), y0, one);
        __m512d rest1 = _mm512_fnmadd_pd(_mm512_mul_pd(x1, y1), y1, one);
        __m512d series0 = _mm512_fmadd_pd(third, rest0, second);
        __m512d series1 = _mm512_fmadd_pd(third, rest1, second);
        series0 = _mm512_fmadd_pd(series0, rest0, first);
        series1 = _mm512_fmadd_pd(series1, rest1, first);
        __m512d root0 = _mm512_fmadd_pd(_mm512_mul_pd(y0, rest0), series0, y0);
        __m512d root1 = _mm512_fmadd_pd(_mm512_mul_pd(y1, rest1), series1, y1);
        if (_mm512_cmp_pd_mask(rest0, rest1, _CMP_UNORD_Q) != 0) {
            __mmask8 known0 = _mm512_cmp_pd_mask(rest0, rest0, _CMP_UNORD_Q);
            __mmask8 known1 = _mm512_cmp_pd_mask(rest1, rest1, _CMP_UNORD_Q);
            root0 = _mm512_mask_mov_pd(root0, known0, y0);
            root1 = _mm512_mask_mov_pd(root1, known1, y1);
        }
        _mm512_storeu_pd(v + i, root0);
        _mm512_storeu_pd(v + next, root1);
    }
#endif
    for (int64_t i = whole; i < count; i++)
        v[i] = 1.0 / sqrt(v[i]);
}

#endif
