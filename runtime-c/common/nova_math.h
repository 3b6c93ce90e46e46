/* The mathematical functions of strict floating point. The algorithm is the same, operation for
 * operation, as in nova-core/src/math.rs, so that every target and the interpreters compute the same
 * bits.
 *
 * Only + - * /, correctly rounded square roots and integer operations are used, and they must not be
 * contracted (-ffp-contract=off). Where a double is not enough, a number is the unevaluated sum of two,
 * so that results are within 2 ulp over the whole range (nearly all within 0.75). The functions of
 * float are the same, rounded once more. */
#ifndef NOVA_MATH_H
#define NOVA_MATH_H

#include "bits.h"
#include <math.h>
#include <stdint.h>

/* hi + lo, where lo is at most half a unit in the last place of hi. */
typedef struct {
    double hi, lo;
} nova_dd;

/* value * 2^exponent. */
typedef struct {
    nova_dd value;
    int exponent;
} nova_scaled;

/* An angle of turn * pi/2 + rest. */
typedef struct {
    int turn;
    nova_dd rest;
} nova_angle;

static inline double nova_magnitude(double x)
{
    return nova_from_bits(nova_bits(x) & UINT64_C(0x7fffffffffffffff));
}

/* The magnitude of x with the sign of y. */
static inline double nova_with_sign(double x, double y)
{
    uint64_t sign = nova_bits(y) & UINT64_C(0x8000000000000000);
    return nova_from_bits((nova_bits(x) & UINT64_C(0x7fffffffffffffff)) | sign);
}

static inline double nova_infinity(void)
{
    return nova_from_bits(UINT64_C(0x7ff0000000000000));
}

static inline double nova_nan(void)
{
    return nova_from_bits(UINT64_C(0x7ff8000000000000));
}

/* 2^k for k from -1022 to 1023. */
static inline double nova_power_of_2(int k)
{
    return nova_from_bits((uint64_t)(k + 1023) << 52);
}

/* The nearest integer, for |x| < 2^31. */
static inline int nova_nearest(double x)
{
    return (int)(x < 0.0 ? x - 0.5 : x + 0.5);
}

static inline nova_dd nova_make_dd(double hi, double lo)
{
    nova_dd r;
    r.hi = hi;
    r.lo = lo;
    return r;
}

/* a + b exactly, for |a| >= |b|. */
static inline nova_dd nova_quick_sum(double a, double b)
{
    double s = a + b;
    return nova_make_dd(s, b - (s - a));
}

/* a + b exactly. */
static inline nova_dd nova_two_sum(double a, double b)
{
    double s = a + b;
    double t = s - a;
    return nova_make_dd(s, (a - (s - t)) + (b - t));
}

/* a * b exactly, barring overflow and underflow (Dekker). */
static inline nova_dd nova_two_product(double a, double b)
{
    double p = a * b;
    double s = a * 134217729.0;
    double a1 = s - (s - a);
    double a2 = a - a1;
    double t = b * 134217729.0;
    double b1 = t - (t - b);
    double b2 = b - b1;
    return nova_make_dd(p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2);
}

static inline nova_dd nova_dd_add(nova_dd a, nova_dd b)
{
    nova_dd s = nova_two_sum(a.hi, b.hi);
    return nova_quick_sum(s.hi, s.lo + (a.lo + b.lo));
}

static inline nova_dd nova_dd_negate(nova_dd a)
{
    return nova_make_dd(-a.hi, -a.lo);
}

static inline nova_dd nova_dd_multiply(nova_dd a, nova_dd b)
{
    nova_dd p = nova_two_product(a.hi, b.hi);
    return nova_quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline nova_dd nova_dd_divide(nova_dd a, nova_dd b)
{
    double q = a.hi / b.hi;
    nova_dd p = nova_two_product(q, b.hi);
    double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    return nova_quick_sum(q, rest / b.hi);
}

/* The square root of a number that is not negative. */
static inline nova_dd nova_dd_sqrt(nova_dd a)
{
    double s = sqrt(a.hi);
    if (s == 0.0)
        return nova_make_dd(0.0, 0.0);
    nova_dd p = nova_two_product(s, s);
    return nova_quick_sum(s, (((a.hi - p.hi) - p.lo) + a.lo) / (2.0 * s));
}

/* c[0] + c[1] x + ... + c[n-1] x^(n-1). */
static inline double nova_polynomial(const double *c, int n, double x)
{
    double sum = c[n - 1];
    for (int k = n - 2; k >= 0; k--)
        sum = sum * x + c[k];
    return sum;
}

/* Rounds value * 2^exponent once, for values near 1 and exponents within -1100 to 1100. */
static inline double nova_round_scaled(nova_scaled x)
{
    if (x.exponent > 1000)
        return x.value.hi * nova_power_of_2(1000) * nova_power_of_2(x.exponent - 1000);
    if (x.exponent < -1000)
        return x.value.hi * nova_power_of_2(x.exponent + 1000) * nova_power_of_2(-1000);
    return x.value.hi * nova_power_of_2(x.exponent);
}

/* value * 2^exponent for exponents that keep both parts normal. */
static inline nova_dd nova_apply_exponent(nova_scaled x)
{
    double scale = nova_power_of_2(x.exponent);
    return nova_make_dd(x.value.hi * scale, x.value.lo * scale);
}

/* 1/3!, 1/4!, ... */
static const double nova_exp_series[12] = {
    0.16666666666666666, 0.041666666666666664, 0.008333333333333333, 0.001388888888888889,
    0.0001984126984126984, 2.48015873015873e-05, 2.7557319223985893e-06, 2.755731922398589e-07,
    2.505210838544172e-08, 2.08767569878681e-09, 1.6059043836821613e-10, 1.1470745597729725e-11
};

/* e^r for |r| < 0.36. */
static nova_dd nova_exp_small(nova_dd r)
{
    nova_dd square = nova_dd_multiply(r, r);
    double tail = r.hi * square.hi * nova_polynomial(nova_exp_series, 12, r.hi);
    nova_dd sum = nova_dd_add(nova_make_dd(1.0, 0.0), r);
    sum = nova_dd_add(sum, nova_make_dd(0.5 * square.hi, 0.5 * square.lo));
    return nova_dd_add(sum, nova_make_dd(tail, 0.0));
}

/* e^x for |x| < 750: x = exponent * ln 2 + r, with ln 2 in pieces of 32 bits and a rest. */
static nova_scaled nova_exp_scaled(nova_dd x)
{
    nova_scaled result;
    result.exponent = nova_nearest(x.hi * 1.4426950408889634);
    double k = (double)result.exponent;
    double a = x.hi - k * 0.6931471803691238;
    nova_dd r = nova_two_sum(a, -(k * 1.9082149288430703e-10));
    r = nova_dd_add(r, nova_make_dd(x.lo - k * 4.275175589747649e-20, 0.0));
    result.value = nova_exp_small(r);
    return result;
}

static double nova_exp(double x)
{
    if (x != x)
        return x;
    if (x > 710.0)
        return nova_infinity();
    if (x < -746.0)
        return 0.0;
    return nova_round_scaled(nova_exp_scaled(nova_make_dd(x, 0.0)));
}

static double nova_exp2(double x)
{
    if (x != x)
        return x;
    if (x >= 1024.0)
        return nova_infinity();
    if (x < -1076.0)
        return 0.0;
    nova_scaled result;
    result.exponent = nova_nearest(x);
    nova_dd ln2 = nova_make_dd(0.6931471805599453, 2.3190468138462996e-17);
    nova_dd rest = nova_make_dd(x - (double)result.exponent, 0.0);
    result.value = nova_exp_small(nova_dd_multiply(rest, ln2));
    return nova_round_scaled(result);
}

/* 1/7, 1/9, ... */
static const double nova_log_series[11] = {
    0.14285714285714285, 0.1111111111111111, 0.09090909090909091, 0.07692307692307693,
    0.06666666666666667, 0.058823529411764705, 0.05263157894736842, 0.047619047619047616,
    0.043478260869565216, 0.04, 0.037037037037037035
};

/* x = 2^exponent * m with m between the roots of 1/2 and 2, and value = ln m = 2 artanh s for
 * s = (m - 1) / (m + 1); for positive finite x. */
static nova_scaled nova_log_split(double x)
{
    nova_scaled result;
    int shift = 0;
    if (x < nova_power_of_2(-1022)) {
        x *= nova_power_of_2(54);
        shift = -54;
    }
    uint64_t bits = nova_bits(x);
    result.exponent = (int)(bits >> 52) - 1023 + shift;
    uint64_t fraction = bits & UINT64_C(0x000fffffffffffff);
    double m = nova_from_bits(fraction | UINT64_C(0x3ff0000000000000));
    if (m > 1.4142135623730951) {
        m = 0.5 * m;
        result.exponent += 1;
    }
    nova_dd s = nova_dd_divide(nova_make_dd(m - 1.0, 0.0), nova_two_sum(m, 1.0));
    nova_dd z = nova_dd_multiply(s, s);
    double tail = z.hi * nova_polynomial(nova_log_series, 11, z.hi);
    nova_dd w = nova_dd_add(nova_make_dd(0.2, -1.1102230246251566e-17), nova_make_dd(tail, 0.0));
    w = nova_dd_multiply(z, w);
    w = nova_dd_add(nova_make_dd(0.3333333333333333, 1.850371707708594e-17), w);
    w = nova_dd_multiply(nova_dd_multiply(s, z), w);
    w = nova_dd_add(s, w);
    result.value = nova_make_dd(2.0 * w.hi, 2.0 * w.lo);
    return result;
}

/* exponent * unit + value * factor for a split x. */
static nova_dd nova_log_join(nova_scaled x, nova_dd unit, nova_dd factor)
{
    nova_dd high = nova_dd_multiply(nova_make_dd((double)x.exponent, 0.0), unit);
    return nova_dd_add(high, nova_dd_multiply(x.value, factor));
}

static nova_dd nova_log_dd(double x)
{
    nova_dd ln2 = nova_make_dd(0.6931471805599453, 2.3190468138462996e-17);
    return nova_log_join(nova_log_split(x), ln2, nova_make_dd(1.0, 0.0));
}

/* Logarithms of numbers that are not positive and finite; 1 for the others. */
static double nova_log_special(double x)
{
    if (x != x || x < 0.0)
        return nova_nan();
    if (x == 0.0)
        return -nova_infinity();
    return x == nova_infinity() ? x : 1.0;
}

static double nova_log(double x)
{
    double special = nova_log_special(x);
    return special != 1.0 ? special : nova_log_dd(x).hi;
}

static double nova_log2(double x)
{
    double special = nova_log_special(x);
    if (special != 1.0)
        return special;
    nova_dd factor = nova_make_dd(1.4426950408889634, 2.0355273740931033e-17);
    return nova_log_join(nova_log_split(x), nova_make_dd(1.0, 0.0), factor).hi;
}

static double nova_log10(double x)
{
    double special = nova_log_special(x);
    if (special != 1.0)
        return special;
    nova_dd unit = nova_make_dd(0.3010299956639812, -2.8037281277851704e-18);
    nova_dd factor = nova_make_dd(0.4342944819032518, 1.098319650216765e-17);
    return nova_log_join(nova_log_split(x), unit, factor).hi;
}

/* 0 when y is no integer, 1 when it is odd, 2 when it is even. */
static int nova_parity(double y)
{
    double magnitude = nova_magnitude(y);
    if (magnitude >= 9007199254740992.0)
        return 2;
    int64_t whole = (int64_t)magnitude;
    if ((double)whole != magnitude)
        return 0;
    return (whole & 1) != 0 ? 1 : 2;
}

/* x^y for 0 < x finite, x not 1, y finite and not 0. */
static double nova_pow_positive(double x, double y)
{
    double magnitude = nova_magnitude(y);
    if (magnitude > 36893488147419103232.0)
        return (x > 1.0) == (y > 0.0) ? nova_infinity() : 0.0;
    if (magnitude < 2.710505431213761e-20)
        return 1.0;
    nova_dd exponent = nova_dd_multiply(nova_log_dd(x), nova_make_dd(y, 0.0));
    if (exponent.hi > 710.0)
        return nova_infinity();
    if (exponent.hi < -746.0)
        return 0.0;
    return nova_round_scaled(nova_exp_scaled(exponent));
}

static double nova_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0)
        return 1.0;
    if (x != x || y != y)
        return nova_nan();
    double magnitude = nova_magnitude(x);
    int parity = nova_parity(y);
    int negative = (nova_bits(x) >> 63) != 0 && parity == 1;
    double result;
    if (nova_magnitude(y) == nova_infinity()) {
        if (magnitude == 1.0)
            return 1.0;
        result = (magnitude > 1.0) == (y > 0.0) ? nova_infinity() : 0.0;
    } else if (magnitude == 0.0 || magnitude == nova_infinity()) {
        result = (magnitude == 0.0) == (y < 0.0) ? nova_infinity() : 0.0;
    } else if (x < 0.0 && parity == 0) {
        return nova_nan();
    } else if (magnitude == 1.0) {
        result = 1.0;
    } else {
        result = nova_pow_positive(magnitude, y);
    }
    return negative ? -result : result;
}

/* 2/pi in words of 32 bits, the first of weight 2^-32. */
static const uint32_t nova_two_over_pi[40] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
    0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
    0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
    0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du
};

/* Puts the product of the integer m and the seven words from `first` of 2/pi into nine words, the
 * least significant first. */
static void nova_multiply_words(uint64_t m, int first, uint32_t *product)
{
    uint64_t low = m & 0xffffffffu, high = m >> 32;
    uint64_t carry = 0;
    for (int k = 0; k < 9; k++)
        product[k] = 0;
    for (int k = 0; k < 7; k++) {
        uint64_t sum = low * nova_two_over_pi[first + 6 - k] + carry;
        product[k] = (uint32_t)sum;
        carry = sum >> 32;
    }
    product[7] = (uint32_t)carry;
    carry = 0;
    for (int k = 0; k < 7; k++) {
        uint64_t sum = high * nova_two_over_pi[first + 6 - k] + product[k + 1] + carry;
        product[k + 1] = (uint32_t)sum;
        carry = sum >> 32;
    }
    product[8] = (uint32_t)carry;
}

/* A word of nine; 0 outside. */
static uint64_t nova_word(const uint32_t *words, int k)
{
    return k >= 0 && k < 9 ? words[k] : 0;
}

/* The 64 bits of nine words that start at bit `position` >= -288, counted from the least
 * significant; bits outside are 0. */
static uint64_t nova_extract(const uint32_t *words, int position)
{
    int word = (position + 288) / 32 - 9, bit = (position + 288) % 32;
    uint64_t low = nova_word(words, word) | nova_word(words, word + 1) << 32;
    if (bit == 0)
        return low;
    return low >> bit | nova_word(words, word + 2) << (64 - bit);
}

/* fraction * pi/2, for a fraction of 128 bits (of weight 2^-64 and 2^-128) and 64 bits more. */
static nova_dd nova_fraction_angle(uint64_t first, uint64_t second, uint64_t third)
{
    int shift = 0;
    if ((first | second) == 0)
        return nova_make_dd(0.0, 0.0);
    while ((first >> 63) == 0) {
        first = first << 1 | second >> 63;
        second = second << 1 | third >> 63;
        third = third << 1;
        shift += 1;
    }
    double scale = nova_power_of_2(-shift);
    double hi = (double)(first >> 11) * nova_power_of_2(-53);
    uint64_t rest = (first & 0x7ffu) << 42 | second >> 22;
    double lo = (double)rest * nova_power_of_2(-106);
    nova_dd fraction = nova_quick_sum(hi * scale, lo * scale);
    return nova_dd_multiply(fraction, nova_make_dd(1.5707963267948966, 6.123233995736766e-17));
}

/* A finite magnitude as turn * pi/2 + rest with |rest| <= pi/4, exact to 2^-70 of the rest (Payne
 * and Hanek): x = m * 2^e times the words of 2/pi that decide the quarter turn and the fraction. */
static nova_angle nova_reduce(double x)
{
    nova_angle angle;
    if (x <= 0.7853981633974483) {
        angle.turn = 0;
        angle.rest = nova_make_dd(x, 0.0);
        return angle;
    }
    uint64_t bits = nova_bits(x);
    uint64_t m = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    int e = (int)(bits >> 52) - 1075;
    int first = e > 2 ? (e - 2) / 32 : 0;
    uint32_t product[9];
    nova_multiply_words(m, first, product);
    int point = 32 * (first + 7) - e;
    uint64_t a = nova_extract(product, point - 64);
    uint64_t b = nova_extract(product, point - 128);
    uint64_t c = nova_extract(product, point - 192);
    angle.turn = (int)(nova_extract(product, point) & 3u);
    if ((a >> 63) == 0) {
        angle.rest = nova_fraction_angle(a, b, c);
        return angle;
    }
    /* Above one half: one turn more, less the rest to the next. */
    angle.turn = (angle.turn + 1) & 3;
    c = ~c + 1;
    b = ~b + (c == 0);
    a = ~a + (b == 0 && c == 0);
    angle.rest = nova_dd_negate(nova_fraction_angle(a, b, c));
    return angle;
}

/* -1/3!, 1/5!, ... */
static const double nova_sin_series[9] = {
    -0.16666666666666666, 0.008333333333333333, -0.0001984126984126984, 2.7557319223985893e-06,
    -2.505210838544172e-08, 1.6059043836821613e-10, -7.647163731819816e-13, 2.8114572543455206e-15,
    -8.22063524662433e-18
};

/* 1/4!, -1/6!, ... */
static const double nova_cos_series[8] = {
    0.041666666666666664, -0.001388888888888889, 2.48015873015873e-05, -2.755731922398589e-07,
    2.08767569878681e-09, -1.1470745597729725e-11, 4.779477332387385e-14, -1.5619206968586225e-16
};

/* sin r for |r| <= pi/4. */
static nova_dd nova_sin_small(nova_dd r)
{
    double z = r.hi * r.hi;
    double tail = r.hi * z * nova_polynomial(nova_sin_series, 9, z);
    return nova_quick_sum(r.hi, tail + r.lo * (1.0 - 0.5 * z));
}

/* cos r for |r| <= pi/4. */
static nova_dd nova_cos_small(nova_dd r)
{
    nova_dd z = nova_two_product(r.hi, r.hi);
    double low = z.lo + 2.0 * (r.hi * r.lo);
    nova_dd w = nova_two_sum(1.0, -0.5 * z.hi);
    double tail = z.hi * z.hi * nova_polynomial(nova_cos_series, 8, z.hi);
    return nova_quick_sum(w.hi, (w.lo - 0.5 * low) + tail);
}

static double nova_sin(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || magnitude == nova_infinity())
        return nova_nan();
    if (magnitude < 7.450580596923828e-09)
        return x;
    nova_angle a = nova_reduce(magnitude);
    double r = (a.turn & 1) != 0 ? nova_cos_small(a.rest).hi : nova_sin_small(a.rest).hi;
    return ((a.turn & 2) != 0) != (x < 0.0) ? -r : r;
}

static double nova_cos(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || magnitude == nova_infinity())
        return nova_nan();
    nova_angle a = nova_reduce(magnitude);
    double r = (a.turn & 1) != 0 ? nova_sin_small(a.rest).hi : nova_cos_small(a.rest).hi;
    return a.turn == 1 || a.turn == 2 ? -r : r;
}

static double nova_tan(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || magnitude == nova_infinity())
        return nova_nan();
    if (magnitude < 7.450580596923828e-09)
        return x;
    nova_angle a = nova_reduce(magnitude);
    nova_dd s = nova_sin_small(a.rest), c = nova_cos_small(a.rest);
    double r = (a.turn & 1) != 0 ? -nova_dd_divide(c, s).hi : nova_dd_divide(s, c).hi;
    return x < 0.0 ? -r : r;
}

/* arctan(k/8). */
static const nova_dd nova_atan_table[9] = {
    {0.0, 0.0}, {0.12435499454676144, -3.1253241424539383e-18},
    {0.24497866312686414, 1.0698755618734451e-17}, {0.35877067027057225, -2.4623815582638635e-17},
    {0.4636476090008061, 2.2698777452961687e-17}, {0.5585993153435624, -5.4556305485916264e-18},
    {0.6435011087932844, 1.5834785051444286e-17}, {0.7188299996216245, -2.1478388444456983e-17},
    {0.7853981633974483, 3.061616997868383e-17}
};

/* -1/3, 1/5, ... */
static const double nova_atan_series[8] = {
    -0.3333333333333333, 0.2, -0.14285714285714285, 0.1111111111111111, -0.09090909090909091,
    0.07692307692307693, -0.06666666666666667, 0.058823529411764705
};

/* arctan(n/d) for 0 <= n, 0 <= d, not both 0: the quotient q <= 1 of smaller and larger is near
 * c = k/8, and arctan q = arctan c + arctan((q - c) / (1 + q c)). */
static nova_dd nova_atan_quotient(nova_dd n, nova_dd d)
{
    int swap = n.hi > d.hi;
    if (swap) {
        nova_dd t = n;
        n = d;
        d = t;
    }
    int k = nova_nearest(8.0 * (n.hi / d.hi));
    nova_dd c = nova_make_dd(0.125 * (double)k, 0.0);
    nova_dd above = nova_dd_add(n, nova_dd_negate(nova_dd_multiply(c, d)));
    nova_dd below = nova_dd_add(d, nova_dd_multiply(c, n));
    nova_dd t = nova_dd_divide(above, below);
    double z = t.hi * t.hi;
    double tail = t.hi * z * nova_polynomial(nova_atan_series, 8, z);
    nova_dd angle = nova_dd_add(nova_atan_table[k], nova_dd_add(t, nova_make_dd(tail, 0.0)));
    if (!swap)
        return angle;
    nova_dd quarter = nova_make_dd(1.5707963267948966, 6.123233995736766e-17);
    return nova_dd_add(quarter, nova_dd_negate(angle));
}

/* pi less an angle. */
static nova_dd nova_supplement(nova_dd angle)
{
    nova_dd straight = nova_make_dd(3.141592653589793, 1.2246467991473532e-16);
    return nova_dd_add(straight, nova_dd_negate(angle));
}

static double nova_atan(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || magnitude < 7.450580596923828e-09)
        return x;
    if (magnitude > 1e17)
        return nova_with_sign(1.5707963267948966, x);
    nova_dd angle = nova_atan_quotient(nova_make_dd(magnitude, 0.0), nova_make_dd(1.0, 0.0));
    return nova_with_sign(angle.hi, x);
}

/* The angle of (x, y) for magnitudes not both 0, finite. */
static nova_dd nova_atan_magnitudes(double y, double x)
{
    if (y < x * 9.094947017729282e-13)
        return nova_make_dd(y / x, 0.0);
    double larger = y > x ? y : x;
    double scale = 1.0;
    if (larger > nova_power_of_2(500))
        scale = nova_power_of_2(-600);
    if (larger < nova_power_of_2(-500))
        scale = nova_power_of_2(600);
    return nova_atan_quotient(nova_make_dd(y * scale, 0.0), nova_make_dd(x * scale, 0.0));
}

static double nova_atan2(double y, double x)
{
    if (x != x || y != y)
        return nova_nan();
    double v = nova_magnitude(y), h = nova_magnitude(x);
    int left = (nova_bits(x) >> 63) != 0;
    nova_dd angle;
    if (v == nova_infinity() && h == nova_infinity())
        angle = nova_make_dd(0.7853981633974483, 3.061616997868383e-17);
    else if (v == 0.0 || h == nova_infinity())
        angle = nova_make_dd(0.0, 0.0);
    else if (h == 0.0 || v == nova_infinity())
        angle = nova_make_dd(1.5707963267948966, 6.123233995736766e-17);
    else
        angle = nova_atan_magnitudes(v, h);
    if (left)
        angle = nova_supplement(angle);
    return nova_with_sign(angle.hi, y);
}

/* The square root of 1 - x^2 for 0 <= x <= 1. */
static nova_dd nova_cathetus(double x)
{
    return nova_dd_sqrt(nova_dd_multiply(nova_two_sum(1.0, -x), nova_two_sum(1.0, x)));
}

static double nova_asin(double x)
{
    double magnitude = nova_magnitude(x);
    if (magnitude < 7.450580596923828e-09)
        return x;
    if (!(magnitude <= 1.0))
        return nova_nan();
    nova_dd angle = nova_atan_quotient(nova_make_dd(magnitude, 0.0), nova_cathetus(magnitude));
    return nova_with_sign(angle.hi, x);
}

static double nova_acos(double x)
{
    double magnitude = nova_magnitude(x);
    if (!(magnitude <= 1.0))
        return nova_nan();
    nova_dd angle = nova_atan_quotient(nova_cathetus(magnitude), nova_make_dd(magnitude, 0.0));
    return x < 0.0 ? nova_supplement(angle).hi : angle.hi;
}

/* 1/3!, 1/5!, ... */
static const double nova_sinh_series[9] = {
    0.16666666666666666, 0.008333333333333333, 0.0001984126984126984, 2.7557319223985893e-06,
    2.505210838544172e-08, 1.6059043836821613e-10, 7.647163731819816e-13, 2.8114572543455206e-15,
    8.22063524662433e-18
};

/* sinh x for |x| < 1. */
static nova_dd nova_sinh_small(double x)
{
    double z = x * x;
    return nova_quick_sum(x, x * z * nova_polynomial(nova_sinh_series, 9, z));
}

/* (e^x + sign * e^-x) / 2 for 0 <= x < 40. */
static nova_dd nova_hyperbolic(double x, double sign)
{
    nova_dd up = nova_apply_exponent(nova_exp_scaled(nova_make_dd(x, 0.0)));
    nova_dd down = nova_apply_exponent(nova_exp_scaled(nova_make_dd(-x, 0.0)));
    nova_dd sum = nova_dd_add(up, nova_make_dd(sign * down.hi, sign * down.lo));
    return nova_make_dd(0.5 * sum.hi, 0.5 * sum.lo);
}

/* e^x / 2 for x >= 40. */
static double nova_half_exp(double x)
{
    if (x > 711.0)
        return nova_infinity();
    nova_scaled power = nova_exp_scaled(nova_make_dd(x, 0.0));
    power.exponent -= 1;
    return nova_round_scaled(power);
}

static double nova_sinh(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || magnitude < 7.450580596923828e-09)
        return x;
    double r;
    if (magnitude < 1.0)
        r = nova_sinh_small(magnitude).hi;
    else if (magnitude < 40.0)
        r = nova_hyperbolic(magnitude, -1.0).hi;
    else
        r = nova_half_exp(magnitude);
    return nova_with_sign(r, x);
}

static double nova_cosh(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x)
        return x;
    return magnitude < 40.0 ? nova_hyperbolic(magnitude, 1.0).hi : nova_half_exp(magnitude);
}

static double nova_tanh(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || magnitude < 7.450580596923828e-09)
        return x;
    if (magnitude > 22.0)
        return nova_with_sign(1.0, x);
    nova_dd s = magnitude < 1.0 ? nova_sinh_small(magnitude) : nova_hyperbolic(magnitude, -1.0);
    nova_dd r = nova_dd_divide(s, nova_hyperbolic(magnitude, 1.0));
    return nova_with_sign(r.hi, x);
}

/* The series of erf x / x - 2/sqrt(pi) in powers of x^2, divided by x^2. */
static const double nova_erf_series[19] = {
    -0.37612638903183754, 0.11283791670955126, -0.026866170645131252, 0.005223977625442188,
    -0.0008548327023450853, 0.00012055332981789664, -1.492565035840625e-05, 1.6462114365889248e-06,
    -1.6365844691234924e-07, 1.4807192815879218e-08, -1.2290555301717928e-09,
    9.422759064650411e-11, -6.7113668551641105e-12, 4.4632242632864775e-13,
    -2.7835162072109215e-14, 1.6342614095367152e-15, -9.063970842808673e-17, 4.763348040515068e-18,
    -2.3784598852774293e-19
};

/* 1 - erf x around 1.5, 2.5, ... 5.5. */
static const double nova_erfc_table[5][20] = {
    {
        0.033894853524689274, -0.11893028922362937, 0.17839543383544404, -0.13875200409423427,
        0.04459885845886157, 0.014866286152952818, -0.019326171998868175, 0.004743053201224184,
        0.0023626776214740177, -0.0017098195527248622, 9.291427749394218e-05,
        0.0002544484104441952, -7.768992174369104e-05, -1.7955436799289365e-05,
        1.4091845601479276e-05, -5.945663758763461e-07, -1.5306178650310634e-06,
        3.33097498557903e-07, 1.008753271016733e-07, -4.4105890028319014e-08
    },
    {
        0.0004069520174449589, -0.0021782842303527095, 0.005445710575881772, -0.008350089549685386,
        0.008622375078479705, -0.006117348213573979, 0.0027984901570386415, -0.000542410061321808,
        -0.0002606701735907387, 0.0002502853861522771, -7.880133344883084e-05,
        -5.137002244419589e-06, 1.4080055105420633e-05, -4.690962247196687e-06,
        -1.8160060560414687e-07, 6.413619742783505e-07, -1.784441182673888e-07,
        -1.843062762339582e-08, 2.2284128877917768e-08, -3.655479614834168e-09
    },
    {
        7.43098372341413e-07, -5.399426777384783e-06, 1.8897993720846575e-05,
        -4.229550975618076e-05, 6.771781083305595e-05, -8.211628223939792e-05,
        7.774424638936709e-05, -5.819275061897632e-05, 3.4259175451446264e-05,
        -1.5330768269504774e-05, 4.641017275609629e-06, -4.4470364859584147e-07,
        -4.4377004087098873e-07, 3.016690591364062e-07, -9.233752635258898e-08,
        5.73537185871582e-09, 8.338685673326946e-09, -4.049972274017224e-09, 5.614496006155073e-10,
        1.714384872112228e-10
    },
    {
        1.9661604415428964e-10, -1.8113058959086892e-09, 8.150876531588388e-09,
        -2.38488609627983e-08, 5.094297832252676e-08, -8.454270269146592e-08,
        1.1322925981311228e-07, -1.2545126198598073e-07, 1.168692570397569e-07,
        -9.247595587520114e-08, 6.24516016593462e-08, -3.596433883894869e-08,
        1.7510906720252907e-08, -7.051016451277842e-09, 2.2235734023356287e-09,
        -4.6129310119174477e-10, 3.732444821723292e-13, 5.110646813388328e-11,
        -2.6179082125046454e-11, 6.551541973322031e-12
    },
    {
        7.357847917947517e-15, -8.223316045262618e-14, 4.5228238251096584e-13,
        -1.6309576823129091e-12, 4.334372829351468e-12, -9.0463329258052e-12,
        1.5429111088064807e-11, -2.2091856991563983e-11, 2.7070061498681067e-11,
        -2.878999605774477e-11, 2.685659662426016e-11, -2.2145456213047333e-11,
        1.6230308264191754e-11, -1.0610637707059837e-11, 6.199548633003005e-12,
        -3.230840868834966e-12, 1.488135433151259e-12, -6.118329912034704e-13,
        2.3669331685244416e-13, -6.755230198016838e-14
    }
};

static double nova_erf(double x)
{
    double magnitude = nova_magnitude(x);
    if (x != x || x == 0.0)
        return x;
    if (magnitude >= 6.0)
        return nova_with_sign(1.0, x);
    if (magnitude >= 1.0) {
        int k = (int)magnitude;
        double rest = magnitude - ((double)k + 0.5);
        return nova_with_sign(1.0 - nova_polynomial(nova_erfc_table[k - 1], 20, rest), x);
    }
    double z = x * x;
    nova_dd p = nova_two_product(x, 1.1283791670955126);
    double tail = x * z * nova_polynomial(nova_erf_series, 19, z);
    return p.hi + ((p.lo + x * 1.533545961316588e-17) + tail);
}

#endif
