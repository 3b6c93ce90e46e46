/* Tests of bounded sines and cosines of floats against those of doubles. */
#include "../common/bounded_math.h"
#include "test.h"
#include <math.h>

/* The distance of a result from the value, in units in the last place of a float. */
static double distance(float result, double value)
{
    int exponent;
    frexp(value, &exponent);
    return fabs(result - value) / ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

static void check(float x)
{
    CHECK(distance(nova_sin_bounded_f32(x), sin((double)x)) < 1.6);
    CHECK(distance(nova_cos_bounded_f32(x), cos((double)x)) < 1.6);
    CHECK(nova_sin_bounded_f32(-x) == -nova_sin_bounded_f32(x));
    CHECK(nova_cos_bounded_f32(-x) == nova_cos_bounded_f32(x));
}

int main(void)
{
    const uint32_t bound = 0x47800000u; /* 2^16 */
    CHECK(nova_from_bits_f32(bound) == 65536.0f);
    CHECK(nova_cos_bounded_f32(0.0f) == 1.0f && nova_sin_bounded_f32(0.0f) == 0.0f);
    CHECK(isnan(nova_sin_bounded_f32(NAN)) && isnan(nova_cos_bounded_f32(NAN)));
    CHECK(isnan(nova_sin_bounded_f32(INFINITY)) && isnan(nova_cos_bounded_f32(-INFINITY)));
    /* All exponents and some digits. */
    for (uint32_t bits = 0; bits <= bound; bits += 1021)
        check(nova_from_bits_f32(bits));
    /* All floats around each multiple of pi/4 that is in range, where results are least exact. */
    for (int32_t k = 0; k <= 83442; k++) {
        uint32_t nearest = nova_bits_f32((float)(k * 0.78539816339744831));
        for (uint32_t i = 0; i < 8; i++)
            if (nearest + i >= 4 && nearest + i - 4 <= bound)
                check(nova_from_bits_f32(nearest + i - 4));
    }
    return 0;
}
