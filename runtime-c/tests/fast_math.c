/* Tests of functions of floats against those of doubles, and of doubles against the C library's. */
#include "../common/fast_math.h"
#include "test.h"

/* The distance of a result from the value, in units in the last place of a float. */
static double distance(float result, double value)
{
    if (isnan(value))
        return isnan(result) ? 0.0 : INFINITY;
    if (isinf((float)value))
        return result == (float)value ? 0.0 : INFINITY;
    int exponent;
    frexp(value, &exponent);
    return fabs(result - value) / ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

static void check(float x)
{
    CHECK(distance(nova_exp_f32(x), exp((double)x)) < 1.1);
    CHECK(distance(nova_log_f32(x), log((double)x)) < 1.0);
}

/* Checks the exponential of a double: within 2 units in the last place of the C library's. */
static void check_exp(double x)
{
    double result = nova_exp_f64(x), value = exp(x);
    int exponent;
    frexp(value, &exponent);
    if (isnan(value) || isinf(value))
        CHECK(isnan(value) ? isnan(result) : result == value);
    else
        CHECK(fabs(result - value) <= ldexp(2.0, (exponent < -1021 ? -1021 : exponent) - 53));
}

/* Checks exponentials at all signs and exponents, and where results become infinite, denormal, zero. */
static void check_exps(void)
{
    for (uint64_t bits = 0; bits < UINT64_MAX - (UINT64_C(1) << 43); bits += (UINT64_C(1) << 43) - 3)
        check_exp(nova_from_bits(bits));
    for (int64_t i = -3000000; i < 3000000; i++)
        check_exp((double)i * 0.00025);
    for (uint64_t i = 0; i < 2000; i++) {
        check_exp(nova_from_bits(UINT64_C(0x40862e42fefa39ef) - 1000 + i));
        check_exp(nova_from_bits(UINT64_C(0xc086232bdd7abcd2) - 1000 + i));
        check_exp(nova_from_bits(UINT64_C(0xc0874910d52d3051) - 1000 + i));
        check_exp(nova_from_bits(i));
    }
    check_exp(INFINITY);
    check_exp(-INFINITY);
    check_exp(NAN);
    CHECK(nova_exp_f64(0.0) == 1.0 && nova_exp_f64(-0.0) == 1.0);
}

/* Checks reciprocal square roots of `count` floats from `bits` on. Elements after them do not change. */
static void check_roots(uint32_t bits, int64_t count)
{
    float v[101];
    for (int64_t i = 0; i < 101; i++)
        v[i] = nova_from_bits_f32(bits + (uint32_t)i);
    nova_reciprocal_roots_f32(v, count);
    for (int64_t i = 0; i < 101; i++) {
        float x = nova_from_bits_f32(bits + (uint32_t)i);
        if (i >= count)
            CHECK(nova_bits_f32(v[i]) == nova_bits_f32(x));
        else if (x == 0.0f)
            CHECK(v[i] == (signbit(x) ? -INFINITY : INFINITY));
        else
            CHECK(distance(v[i], 1.0 / sqrt((double)x)) < 2.0);
    }
}

/* The same for doubles, next to roots as long doubles. */
static void check_double_roots(uint64_t bits, int64_t count)
{
    double v[50];
    for (int64_t i = 0; i < 50; i++)
        v[i] = nova_from_bits(bits + (uint64_t)i * UINT64_C(0x10000c0ffee));
    nova_reciprocal_roots_f64(v, count);
    for (int64_t i = 0; i < 50; i++) {
        double x = nova_from_bits(bits + (uint64_t)i * UINT64_C(0x10000c0ffee));
        if (i >= count)
            CHECK(nova_bits(v[i]) == nova_bits(x));
        else if (x == 0.0)
            CHECK(v[i] == (signbit(x) ? -INFINITY : INFINITY));
        else if (isnan(x) || x < 0.0)
            CHECK(isnan(v[i]));
        else if (isinf(x))
            CHECK(v[i] == 0.0 && !signbit(v[i]));
        else {
            int exponent;
            long double root = 1.0L / sqrtl((long double)x);
            frexp((double)root, &exponent);
            CHECK(fabsl(v[i] - root) < 1.5L * ldexpl(1.0L, exponent - 53));
        }
    }
}

int main(void)
{
    check_exps();
    for (int64_t count = 0; count <= 50; count++)
        check_double_roots(UINT64_C(0x3fefffff00000000), count);
    for (uint64_t k = 0; k < 100000; k++)
        check_double_roots(k * UINT64_C(0xa3b1c9e5f017), 50);
    for (uint64_t k = 0; k < 50; k++) {
        check_double_roots(k, 50);
        check_double_roots(UINT64_C(0x7ff0000000000000) - k * UINT64_C(0x10000c0ffee), 50);
        check_double_roots(UINT64_C(0x8000000000000000) - k * UINT64_C(0x10000c0ffee), 50);
        check_double_roots(UINT64_C(0xfff0000000000000) - k * UINT64_C(0x10000c0ffee), 50);
    }
    for (int64_t count = 0; count <= 100; count++)
        check_roots(0x3f7fffd0u, count);
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 40093)
        check_roots((uint32_t)bits, 100);
    check_roots(0xffffffd0u, 100);
    check_roots(0x007fffd0u, 100);
    check_roots(0x7f7fffd0u, 100);
    check_roots(0x7fffffd0u, 100);
    CHECK(nova_exp_f32(0.0f) == 1.0f && nova_exp_f32(-0.0f) == 1.0f);
    CHECK(nova_exp_f32(INFINITY) == INFINITY && nova_exp_f32(-INFINITY) == 0.0f);
    CHECK(nova_exp_f32(3e38f) == INFINITY && nova_exp_f32(-3e38f) == 0.0f);
    CHECK(isnan(nova_exp_f32(NAN)) && isnan(nova_log_f32(NAN)));
    CHECK(nova_log_f32(0.0f) == -INFINITY && nova_log_f32(-0.0f) == -INFINITY);
    CHECK(nova_log_f32(INFINITY) == INFINITY && isnan(nova_log_f32(-INFINITY)));
    CHECK(isnan(nova_log_f32(-1.0f)) && isnan(nova_log_f32(-1e-45f)));
    CHECK(nova_log_f32(1.0f) == 0.0f);
    /* All signs, exponents and some digits; then the ranges where results become infinite, denormal,
     * zero. */
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4093)
        check(nova_from_bits_f32((uint32_t)bits));
    for (uint32_t i = 0; i < 5000; i++) {
        check(nova_from_bits_f32(0x42b17218u - 2500 + i));
        check(nova_from_bits_f32(0xc2aeac50u - 2500 + i));
        check(nova_from_bits_f32(0xc2cff1b5u - 2500 + i));
        check(nova_from_bits_f32(0x00800000u - 2500 + i));
        check(nova_from_bits_f32(0x3f800000u - 2500 + i));
        check(nova_from_bits_f32(0x7f800000u - 2500 + i));
        check(nova_from_bits_f32(i));
    }
    return 0;
}
