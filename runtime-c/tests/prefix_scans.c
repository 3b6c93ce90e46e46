/* Tests of prefix scans: sixteen elements at a time give the same results as one element after the
 * other, for every operator. Those of floating-point numbers have the bracketing that prefix_scans.h
 * describes. */
#include "../common/prefix_scans.h"
#include <math.h>
#include "test.h"

enum { SCANS = 9, COUNT = SCANS * NOVA_PREFIX };

/* Elements of all sizes, whose last and first bits are set or not. */
static uint64_t drawn(int k)
{
    uint64_t x = (uint64_t)(k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 32);
}

/* Each check is a function that is not inlined: compilers take minutes for all of them in one. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* Integers: consecutive scans, in place and to another array, from any address. */
#define CHECK_INTEGERS(name, type, both)                                                \
    APART static void check_##name(void)                                                \
    {                                                                                   \
        for (int offset = 0; offset < 3; offset++)                                      \
            for (int exclusive = 0; exclusive < 2; exclusive++) {                       \
                type from[COUNT + 3], to[COUNT + 3];                                    \
                type last = (type)drawn(1000), wanted = last;                           \
                for (int k = 0; k < COUNT + 3; k++)                                     \
                    from[k] = (type)drawn(k);                                           \
                for (int k = 0; k < COUNT; k += NOVA_PREFIX) {                          \
                    type *place = (k / NOVA_PREFIX % 2 == 0 ? to : from) + offset + k;  \
                    type first[NOVA_PREFIX];                                            \
                    memcpy(first, from + offset + k, sizeof first);                     \
                    last = name(place, from + offset + k, last, exclusive != 0);        \
                    for (int l = 0; l < NOVA_PREFIX; l++) {                             \
                        type before = wanted;                                           \
                        wanted = (type)both(wanted, first[l]);                          \
                        CHECK(place[l] == (exclusive != 0 ? before : wanted));          \
                    }                                                                   \
                    CHECK(last == wanted);                                              \
                }                                                                       \
            }                                                                           \
    }

#define SAME(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)))

/* Floating-point numbers: sums and products of sixteen elements by themselves first. */
#define CHECK_FLOATS(name, type, both, element)                                         \
    do {                                                                                \
        for (int exclusive = 0; exclusive < 2; exclusive++) {                           \
            type from[COUNT], to[COUNT], last = (type)0.75;                             \
            for (int k = 0; k < COUNT; k++)                                             \
                from[k] = element;                                                      \
            for (int k = 0; k < COUNT; k += NOVA_PREFIX) {                              \
                type tree[NOVA_PREFIX], before = last, wanted = last;                   \
                memcpy(tree, from + k, sizeof tree);                                    \
                for (int h = 1; h < NOVA_PREFIX; h *= 2)                                \
                    for (int l = 0; l < NOVA_PREFIX; l++)                               \
                        if (l & h)                                                      \
                            tree[l] = both(tree[(l & -h) - 1], tree[l]);                \
                last = name(to + k, from + k, last, exclusive != 0);                    \
                for (int l = 0; l < NOVA_PREFIX; l++) {                                 \
                    type left = wanted;                                                 \
                    wanted = both(before, tree[l]);                                     \
                    CHECK(SAME(to[k + l], exclusive != 0 ? left : wanted));             \
                }                                                                       \
                CHECK(SAME(last, wanted));                                              \
            }                                                                           \
        }                                                                               \
    } while (0)

/* The operators of each type. */
#define UNSIGNED(each, name, both)                                                         \
    each(nova_##name##_prefix_u8, uint8_t, both)                                           \
    each(nova_##name##_prefix_u16, uint16_t, both)                                         \
    each(nova_##name##_prefix_u32, uint32_t, both)                                         \
    each(nova_##name##_prefix_u64, uint64_t, both)
#define SIGNED(each, name, both)                                                           \
    each(nova_##name##_prefix_i8, int8_t, both)                                            \
    each(nova_##name##_prefix_i16, int16_t, both)                                          \
    each(nova_##name##_prefix_i32, int32_t, both)                                          \
    each(nova_##name##_prefix_i64, int64_t, both)
#define INTEGERS(each)                                                                  \
    UNSIGNED(each, add, PLUS)                                                           \
    UNSIGNED(each, mul, TIMES)                                                          \
    UNSIGNED(each, and, AND)                                                            \
    UNSIGNED(each, or, OR)                                                              \
    UNSIGNED(each, xor, XOR)                                                            \
    UNSIGNED(each, min, LEAST)                                                          \
    UNSIGNED(each, max, GREATEST)                                                       \
    SIGNED(each, min, LEAST)                                                            \
    SIGNED(each, max, GREATEST)

/* Definitions that are separate from the functions under test. */
#define PLUS(a, b) ((a) + (uint64_t)(b))
#define TIMES(a, b) ((a) * (uint64_t)(b))
#define FLOAT_PLUS(a, b) ((a) + (b))
#define FLOAT_TIMES(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define LEAST(a, b) ((b) < (a) ? (b) : (a))
#define GREATEST(a, b) ((b) > (a) ? (b) : (a))

/* A multiple of a quarter; if `all` is true, sometimes nan or infinity. */
static double some(int k, bool all)
{
    double quarters = (double)(drawn(k) % 64) / 4.0 - 8.0;
    return !all ? quarters : k % 13 == 5 ? (double)NAN : k % 29 == 7 ? (double)INFINITY : quarters;
}

INTEGERS(CHECK_INTEGERS)

#define CALL(name, type, both) check_##name();

int main(void)
{
    INTEGERS(CALL)
    CHECK_FLOATS(nova_add_prefix_f32, float, FLOAT_PLUS, (float)some(k, false) / 3);
    CHECK_FLOATS(nova_add_prefix_f64, double, FLOAT_PLUS, some(k, false) / 3);
    CHECK_FLOATS(nova_mul_prefix_f32, float, FLOAT_TIMES, 1 + (float)some(k, false) / 99);
    CHECK_FLOATS(nova_mul_prefix_f64, double, FLOAT_TIMES, 1 + some(k, false) / 99);
    CHECK_FLOATS(nova_add_prefix_f32, float, FLOAT_PLUS, k > 70 ? (float)some(k, true) : (float)k);
    CHECK_FLOATS(nova_min_prefix_f32, float, fminf, (float)some(k, true));
    CHECK_FLOATS(nova_max_prefix_f32, float, fmaxf, (float)some(k, true));
    CHECK_FLOATS(nova_min_prefix_f64, double, fmin, some(k, true));
    CHECK_FLOATS(nova_max_prefix_f64, double, fmax, some(k, true));
    /* A sum of -0.0 is one. */
    float zeros[NOVA_PREFIX];
    for (int k = 0; k < NOVA_PREFIX; k++)
        zeros[k] = -0.0f;
    CHECK(signbit(nova_add_prefix_f32(zeros, zeros, -0.0f, false)));
    CHECK(signbit(zeros[0]) && signbit(zeros[NOVA_PREFIX - 1]));
    return 0;
}
