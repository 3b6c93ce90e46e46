/* Tests of numbers at the ends of their types. */
#include "../common/floats.h"
#include "../common/integers.h"
#include "test.h"

int main(void)
{
    CHECK(nova_divide_i32(INT32_MIN, -1) == INT32_MIN && nova_divide_i32(-7, 2) == -3);
    CHECK(nova_divide_i64(INT64_MIN, -1) == INT64_MIN && nova_divide_i64(7, -2) == -3);
    CHECK(nova_remainder_i32(INT32_MIN, -1) == 0 && nova_remainder_i32(-7, 2) == -1);
    CHECK(nova_remainder_i64(INT64_MIN, -1) == 0 && nova_remainder_i64(7, -2) == 1);
    CHECK(nova_popcount_u32(0) == 0 && nova_popcount_u32(UINT32_MAX) == 32);
    CHECK(nova_popcount_u32(0x12345678) == 13 && nova_popcount_u32(UINT32_C(1) << 31) == 1);
    CHECK(nova_popcount_u64(0) == 0 && nova_popcount_u64(UINT64_MAX) == 64);
    CHECK(nova_popcount_u64(UINT64_C(1) << 63) == 1 && nova_popcount_u64(~UINT64_C(1)) == 63);
    CHECK(nova_absolute_i32(INT32_MIN) == INT32_MIN && nova_absolute_i64(-5) == 5);
    CHECK(nova_wrap(-1.5) == UINT64_MAX && nova_wrap(1e300) == 0 && nova_wrap(NAN) == 0);
    CHECK(nova_wrap(INFINITY) == 0 && nova_wrap(-INFINITY) == 0);
    CHECK(nova_wrap(3.0 * 9223372036854775808.0) == UINT64_C(1) << 63);
    CHECK(nova_wrap(-18446744073709555712.0) == (uint64_t)-4096);
    CHECK(nova_between(-128.9, -129.0, 128.0) && !nova_between(128.0, -129.0, 128.0));
    CHECK(!nova_between(NAN, -1.0, 1.0));
    CHECK(nova_minimum_f64(NAN, 1.0) == 1.0 && nova_maximum_f64(1.0, NAN) == 1.0);
    CHECK(nova_minimum_f32(1.0f, NAN) == 1.0f && nova_maximum_f32(NAN, 1.0f) == 1.0f);
    CHECK(isnan(nova_minimum_f32(NAN, NAN)) && nova_maximum_f32(-INFINITY, 2.0f) == 2.0f);
    CHECK(signbit(nova_strict_minimum_f32(0.0f, -0.0f)));
    CHECK(signbit(nova_strict_minimum_f32(-0.0f, 0.0f)));
    CHECK(!signbit(nova_strict_maximum_f64(0.0, -0.0)));
    CHECK(!signbit(nova_strict_maximum_f64(-0.0, 0.0)));
    CHECK(nova_strict_minimum_f64(NAN, 1.0) == 1.0 && nova_strict_maximum_f64(1.0, NAN) == 1.0);
    CHECK(isnan(nova_strict_minimum_f32(NAN, NAN)));
    CHECK(nova_strict_maximum_f32(-INFINITY, 2.0f) == 2.0f);
    return 0;
}
