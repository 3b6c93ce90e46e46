/* Prefix scans of sixteen elements, inclusive or exclusive. In vectors a scan takes a step for each
 * doubling, not one for each element. */
#ifndef NOVA_PREFIX_SCANS_H
#define NOVA_PREFIX_SCANS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fixed_blocks.h"

/* The number of elements of a scan. */
#define NOVA_PREFIX 16

/* The size of vectors in bytes: the size that compilers use in the loops that call these functions. A
 * vector that was stored in parts cannot be loaded as a whole before it has reached the cache. 0
 * without constant shuffles. Tests define it. */
#if defined(NOVA_PREFIX_BYTES)
#elif !defined(__clang__) && (!defined(__GNUC__) || __GNUC__ < 12)
# define NOVA_PREFIX_BYTES 0
#elif NOVA_MASKED_LOADS && !defined(__clang__)
# define NOVA_PREFIX_BYTES 64
#elif defined(__AVX2__)
# define NOVA_PREFIX_BYTES 32
#else
# define NOVA_PREFIX_BYTES 16
#endif

/* True if minima and maxima of vectors are instructions that gcc must be told of. */
#if NOVA_PREFIX_BYTES >= 32 && defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
# include <immintrin.h>
# define NOVA_OWN_EXTREMA 1
#else
# define NOVA_OWN_EXTREMA 0
#endif

/* The number of lanes of vectors of each type; 0 where elements are scanned one by one, which is as
 * fast. */
#if NOVA_PREFIX_BYTES == 64
# define NOVA_LANES_8 16
# define NOVA_LANES_16 16
# define NOVA_LANES_32 16
# define NOVA_LANES_64 8
# define NOVA_LANES_PRODUCT_64 8
# define NOVA_LANES_F64 8
#elif NOVA_PREFIX_BYTES == 32
# define NOVA_LANES_8 16
# define NOVA_LANES_16 16
# define NOVA_LANES_32 8
# define NOVA_LANES_64 4
# define NOVA_LANES_PRODUCT_64 0
# define NOVA_LANES_F64 4
#elif NOVA_PREFIX_BYTES == 16 && (defined(__SSSE3__) || !defined(__SSE2__))
# define NOVA_LANES_8 16
# define NOVA_LANES_16 8
# define NOVA_LANES_32 4
# define NOVA_LANES_64 0
# define NOVA_LANES_PRODUCT_64 0
# define NOVA_LANES_F64 2
#elif NOVA_PREFIX_BYTES == 16
# define NOVA_LANES_8 0
# define NOVA_LANES_16 0
# define NOVA_LANES_32 4
# define NOVA_LANES_64 0
# define NOVA_LANES_PRODUCT_64 0
# define NOVA_LANES_F64 2
#else
# define NOVA_LANES_8 0
# define NOVA_LANES_16 0
# define NOVA_LANES_32 0
# define NOVA_LANES_64 0
# define NOVA_LANES_PRODUCT_64 0
# define NOVA_LANES_F64 0
#endif

/* Sums, products, minima and maxima, and bitwise operations: of numbers and of vectors. */
#define NOVA_SUM(a, b) ((a) + (b))
#define NOVA_INTEGER_SUM(a, b) (0u + (a) + (b))
#define NOVA_PRODUCT(a, b) ((a) * (b))
#define NOVA_INTEGER_PRODUCT(a, b) (1u * (a) * (b))
#define NOVA_BITS_AND(a, b) ((a) & (b))
#define NOVA_BITS_OR(a, b) ((a) | (b))
#define NOVA_BITS_XOR(a, b) ((a) ^ (b))
#define NOVA_LESSER(a, b) ((a) < (b) ? (a) : (b))
#define NOVA_GREATER(a, b) ((a) > (b) ? (a) : (b))
#define NOVA_LESSER_FLOAT(a, b) ((a) < (b) || (b) != (b) ? (a) : (b))
#define NOVA_GREATER_FLOAT(a, b) ((a) > (b) || (b) != (b) ? (a) : (b))
#define NOVA_CHOSEN(mask, a, b)                                                                    \
    (vector)(((__typeof__(mask))(a) & (mask)) | ((__typeof__(mask))(b) & ~(mask)))
#define NOVA_LESSERS(a, b) NOVA_CHOSEN((a) < (b), a, b)
#define NOVA_GREATERS(a, b) NOVA_CHOSEN((a) > (b), a, b)
#define NOVA_LESSER_FLOATS(a, b) NOVA_CHOSEN(((a) < (b)) | ((b) != (b)), a, b)
#define NOVA_GREATER_FLOATS(a, b) NOVA_CHOSEN(((a) > (b)) | ((b) != (b)), a, b)

/* The same with the processor's own instructions, which gcc does not make of masks. An extremum of
 * floats is its second operand where one is not a number, and must not be. */
#if NOVA_OWN_EXTREMA
# define NOVA_OWN_8(name, other, a, b) (vector)_mm_##name((__m128i)(a), (__m128i)(b))
# define NOVA_OWN_16(name, other, a, b) (vector)_mm256_##name((__m256i)(a), (__m256i)(b))
# if NOVA_PREFIX_BYTES == 64
/* With a mask, since compilers warn of the functions without one. */
#  define NOVA_OWN_32(name, other, a, b)                                                           \
      (vector)_mm512_maskz_##name(0xffff, (__m512i)(a), (__m512i)(b))
#  define NOVA_OWN_64(name, other, a, b)                                                           \
      (vector)_mm512_maskz_##name(0xff, (__m512i)(a), (__m512i)(b))
#  define NOVA_OWN_FLOATS(name, number, other, a, b)                                               \
      (vector)_mm512_mask_##name##_##number(                                                       \
          a, _mm512_cmp_##number##_mask(b, b, _CMP_ORD_Q), a, b)
# else
#  define NOVA_OWN_32(name, other, a, b) (vector)_mm256_##name((__m256i)(a), (__m256i)(b))
#  define NOVA_OWN_64(name, other, a, b) other(a, b)
#  define NOVA_OWN_FLOATS(name, number, other, a, b)                                               \
      (vector)_mm256_blendv_##number(                                                              \
          _mm256_##name##_##number(a, b), a, _mm256_cmp_##number(b, b, _CMP_UNORD_Q))
# endif
#else
# define NOVA_OWN_8(name, other, a, b) other(a, b)
# define NOVA_OWN_16(name, other, a, b) other(a, b)
# define NOVA_OWN_32(name, other, a, b) other(a, b)
# define NOVA_OWN_64(name, other, a, b) other(a, b)
# define NOVA_OWN_FLOATS(name, number, other, a, b) other(a, b)
#endif
#define NOVA_LESSERS_I8(a, b) NOVA_OWN_8(min_epi8, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_I16(a, b) NOVA_OWN_16(min_epi16, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_I32(a, b) NOVA_OWN_32(min_epi32, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_I64(a, b) NOVA_OWN_64(min_epi64, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_U8(a, b) NOVA_OWN_8(min_epu8, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_U16(a, b) NOVA_OWN_16(min_epu16, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_U32(a, b) NOVA_OWN_32(min_epu32, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_U64(a, b) NOVA_OWN_64(min_epu64, NOVA_LESSERS, a, b)
#define NOVA_LESSERS_F32(a, b) NOVA_OWN_FLOATS(min, ps, NOVA_LESSER_FLOATS, a, b)
#define NOVA_LESSERS_F64(a, b) NOVA_OWN_FLOATS(min, pd, NOVA_LESSER_FLOATS, a, b)
#define NOVA_GREATERS_I8(a, b) NOVA_OWN_8(max_epi8, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_I16(a, b) NOVA_OWN_16(max_epi16, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_I32(a, b) NOVA_OWN_32(max_epi32, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_I64(a, b) NOVA_OWN_64(max_epi64, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_U8(a, b) NOVA_OWN_8(max_epu8, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_U16(a, b) NOVA_OWN_16(max_epu16, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_U32(a, b) NOVA_OWN_32(max_epu32, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_U64(a, b) NOVA_OWN_64(max_epu64, NOVA_GREATERS, a, b)
#define NOVA_GREATERS_F32(a, b) NOVA_OWN_FLOATS(max, ps, NOVA_GREATER_FLOATS, a, b)
#define NOVA_GREATERS_F64(a, b) NOVA_OWN_FLOATS(max, pd, NOVA_GREATER_FLOATS, a, b)

/* Defines a function that computes a prefix scan of sixteen elements, starting from `last`, and returns
 * the last result.
 *
 * It combines the last element of the lower half with all elements of the upper half: first in two,
 * four, eight, sixteen lanes, then in vectors. The bracketing is the same for all numbers of lanes,
 * including 0. Lanes of the lower half are combined with the other vector, which must not change them.
 * The result may be written over the elements. */
#define NOVA_DEFINE_PREFIX(name, type, lanes, other, combined, both, alone)                           \
    NOVA_DEFINE_PREFIX_OF(name, type, lanes, other, combined, both, alone)
#define NOVA_DEFINE_PREFIX_OF(name, type, lanes, other, combined, both, alone)                        \
    NOVA_PREFIX_IN_##lanes(name, type, other, combined, both, alone)
#define NOVA_PREFIX_IN_0(name, type, other, combined, both, alone) alone(name, type, both)
#define NOVA_PREFIX_IN_2(name, type, other, combined, both, alone)                                    \
    NOVA_PREFIX_IN_VECTORS(name, type, 2, other, combined, both)
#define NOVA_PREFIX_IN_4(name, type, other, combined, both, alone)                                    \
    NOVA_PREFIX_IN_VECTORS(name, type, 4, other, combined, both)
#define NOVA_PREFIX_IN_8(name, type, other, combined, both, alone)                                    \
    NOVA_PREFIX_IN_VECTORS(name, type, 8, other, combined, both)
#define NOVA_PREFIX_IN_16(name, type, other, combined, both, alone)                                   \
    NOVA_PREFIX_IN_VECTORS(name, type, 16, other, combined, both)
#define NOVA_PREFIX_LANES_2(v, other, combined)                                                       \
    lower = NOVA_SHUFFLED(v, other, 2, 0);                                                            \
    v = combined(lower, v)
#define NOVA_PREFIX_LANES_4(v, other, combined)                                                    \
    lower = NOVA_SHUFFLED(v, other, 4, 0, 6, 2);                                                   \
    v = combined(lower, v);                                                                        \
    lower = NOVA_SHUFFLED(v, other, 4, 5, 1, 1);                                                   \
    v = combined(lower, v)
#define NOVA_PREFIX_LANES_8(v, other, combined)                                                    \
    lower = NOVA_SHUFFLED(v, other, 8, 0, 10, 2, 12, 4, 14, 6);                                    \
    v = combined(lower, v);                                                                        \
    lower = NOVA_SHUFFLED(v, other, 8, 9, 1, 1, 12, 13, 5, 5);                                     \
    v = combined(lower, v);                                                                        \
    lower = NOVA_SHUFFLED(v, other, 8, 9, 10, 11, 3, 3, 3, 3);                                     \
    v = combined(lower, v)
#define NOVA_PREFIX_LANES_16(v, other, combined)                                                   \
    lower = NOVA_SHUFFLED(v, other, 16, 0, 18, 2, 20, 4, 22, 6, 24, 8, 26, 10, 28, 12, 30, 14);    \
    v = combined(lower, v);                                                                        \
    lower = NOVA_SHUFFLED(v, other, 16, 17, 1, 1, 20, 21, 5, 5, 24, 25, 9, 9, 28, 29, 13, 13);     \
    v = combined(lower, v);                                                                        \
    lower = NOVA_SHUFFLED(v, other, 16, 17, 18, 19, 3, 3, 3, 3, 24, 25, 26, 27, 11, 11, 11, 11);   \
    v = combined(lower, v);                                                                        \
    lower = NOVA_SHUFFLED(v, other, 16, 17, 18, 19, 20, 21, 22, 23, 7, 7, 7, 7, 7, 7, 7, 7);       \
    v = combined(lower, v)
#define NOVA_SPREAD_LANE_2(v) NOVA_SHUFFLED(v, v, 1, 1)
#define NOVA_MOVED_LANES_2(v, before) NOVA_SHUFFLED(v, before, 3, 0)
#define NOVA_SPREAD_LANE_4(v) NOVA_SHUFFLED(v, v, 3, 3, 3, 3)
#define NOVA_MOVED_LANES_4(v, before) NOVA_SHUFFLED(v, before, 7, 0, 1, 2)
#define NOVA_SPREAD_LANE_8(v) NOVA_SHUFFLED(v, v, 7, 7, 7, 7, 7, 7, 7, 7)
#define NOVA_MOVED_LANES_8(v, before) NOVA_SHUFFLED(v, before, 15, 0, 1, 2, 3, 4, 5, 6)
#define NOVA_SPREAD_LANE_16(v)                                                                     \
    NOVA_SHUFFLED(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)
#define NOVA_MOVED_LANES_16(v, before)                                                             \
    NOVA_SHUFFLED(v, before, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
#define NOVA_SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#if defined(__clang__)
# define NOVA_UNROLLED
#else
# define NOVA_UNROLLED _Pragma("GCC unroll 16")
#endif
#define NOVA_PREFIX_IN_VECTORS(name, type, lanes, other, combined, both)                           \
    static inline type name(void *to, const void *from, type last, bool exclusive)                 \
    {                                                                                              \
        typedef type vector __attribute__((vector_size(lanes * sizeof(type))));                    \
        typedef vector placed __attribute__((aligned(1), may_alias));                              \
        enum { COUNT = NOVA_PREFIX / lanes };                                                      \
        const vector zeros = {0}, before = last - zeros;                                           \
        vector v[COUNT], lower;                                                                    \
        NOVA_UNROLLED for (int k = 0; k < COUNT; k++) {                                            \
            v[k] = ((const placed *)from)[k];                                                      \
            NOVA_PREFIX_LANES_##lanes(v[k], other, combined);                                      \
        }                                                                                          \
        NOVA_UNROLLED for (int h = 1; h < COUNT; h *= 2)                                           \
            NOVA_UNROLLED for (int k = h; k < COUNT; k++)                                          \
                if (k & h) {                                                                       \
                    lower = NOVA_SPREAD_LANE_##lanes(v[(k & -h) - 1]);                             \
                    v[k] = combined(lower, v[k]);                                                  \
                }                                                                                  \
        last = (type)both(last, v[COUNT - 1][lanes - 1]);                                          \
        NOVA_UNROLLED for (int k = 0; k < COUNT; k++)                                              \
            v[k] = combined(before, v[k]);                                                         \
        if (exclusive) {                                                                           \
            NOVA_UNROLLED for (int k = COUNT - 1; k > 0; k--)                                      \
                v[k] = NOVA_MOVED_LANES_##lanes(v[k], v[k - 1]);                                   \
            v[0] = NOVA_MOVED_LANES_##lanes(v[0], before);                                         \
        }                                                                                          \
        NOVA_UNROLLED for (int k = 0; k < COUNT; k++)                                              \
            ((placed *)to)[k] = v[k];                                                              \
        return last;                                                                               \
    }
#define NOVA_PREFIX_ALONE(name, type, both)                                                        \
    static inline type name(void *to, const void *from, type last, bool exclusive)                 \
    {                                                                                              \
        type v[NOVA_PREFIX];                                                                       \
        memcpy(v, from, sizeof v);                                                                 \
        for (int k = 0; k < NOVA_PREFIX; k++) {                                                    \
            const type before = last;                                                              \
            last = (type)both(last, v[k]);                                                         \
            v[k] = exclusive ? before : last;                                                      \
        }                                                                                          \
        memcpy(to, v, sizeof v);                                                                   \
        return last;                                                                               \
    }
#define NOVA_PREFIX_TREE(name, type, both)                                                         \
    static inline type name(void *to, const void *from, type last, bool exclusive)                 \
    {                                                                                              \
        type v[NOVA_PREFIX];                                                                       \
        memcpy(v, from, sizeof v);                                                                 \
        for (int h = 1; h < NOVA_PREFIX; h *= 2)                                                   \
            for (int k = h; k < NOVA_PREFIX; k++)                                                  \
                if (k & h)                                                                         \
                    v[k] = both(v[(k & -h) - 1], v[k]);                                            \
        const type before = last;                                                                  \
        last = both(before, v[NOVA_PREFIX - 1]);                                                   \
        for (int k = 0; k < NOVA_PREFIX; k++)                                                      \
            v[k] = both(before, v[k]);                                                             \
        if (exclusive) {                                                                           \
            memmove(v + 1, v, sizeof v - sizeof *v);                                               \
            v[0] = before;                                                                         \
        }                                                                                          \
        memcpy(to, v, sizeof v);                                                                   \
        return last;                                                                               \
    }

NOVA_DEFINE_PREFIX(nova_add_prefix_u8, uint8_t, NOVA_LANES_8, zeros, NOVA_SUM, NOVA_INTEGER_SUM,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_add_prefix_u16, uint16_t, NOVA_LANES_16, zeros, NOVA_SUM, NOVA_INTEGER_SUM,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_add_prefix_u32, uint32_t, NOVA_LANES_32, zeros, NOVA_SUM, NOVA_INTEGER_SUM,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_add_prefix_u64, uint64_t, NOVA_LANES_64, zeros, NOVA_SUM, NOVA_INTEGER_SUM,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_add_prefix_f32, float, NOVA_LANES_32, -zeros, NOVA_SUM, NOVA_SUM, NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_add_prefix_f64, double, NOVA_LANES_F64, -zeros, NOVA_SUM, NOVA_SUM, NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_mul_prefix_u8, uint8_t, NOVA_LANES_8, zeros + 1, NOVA_PRODUCT,
                   NOVA_INTEGER_PRODUCT, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_mul_prefix_u16, uint16_t, NOVA_LANES_16, zeros + 1, NOVA_PRODUCT,
                   NOVA_INTEGER_PRODUCT, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_mul_prefix_u32, uint32_t, NOVA_LANES_32, zeros + 1, NOVA_PRODUCT,
                   NOVA_INTEGER_PRODUCT, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_mul_prefix_u64, uint64_t, NOVA_LANES_PRODUCT_64, zeros + 1, NOVA_PRODUCT,
                   NOVA_INTEGER_PRODUCT, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_mul_prefix_f32, float, NOVA_LANES_32, zeros + 1, NOVA_PRODUCT, NOVA_PRODUCT,
                   NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_mul_prefix_f64, double, NOVA_LANES_F64, zeros + 1, NOVA_PRODUCT, NOVA_PRODUCT,
                   NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_and_prefix_u8, uint8_t, NOVA_LANES_8, v[k], NOVA_BITS_AND, NOVA_BITS_AND,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_and_prefix_u16, uint16_t, NOVA_LANES_16, v[k], NOVA_BITS_AND, NOVA_BITS_AND,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_and_prefix_u32, uint32_t, NOVA_LANES_32, v[k], NOVA_BITS_AND, NOVA_BITS_AND,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_and_prefix_u64, uint64_t, NOVA_LANES_64, v[k], NOVA_BITS_AND, NOVA_BITS_AND,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_or_prefix_u8, uint8_t, NOVA_LANES_8, v[k], NOVA_BITS_OR, NOVA_BITS_OR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_or_prefix_u16, uint16_t, NOVA_LANES_16, v[k], NOVA_BITS_OR, NOVA_BITS_OR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_or_prefix_u32, uint32_t, NOVA_LANES_32, v[k], NOVA_BITS_OR, NOVA_BITS_OR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_or_prefix_u64, uint64_t, NOVA_LANES_64, v[k], NOVA_BITS_OR, NOVA_BITS_OR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_xor_prefix_u8, uint8_t, NOVA_LANES_8, zeros, NOVA_BITS_XOR, NOVA_BITS_XOR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_xor_prefix_u16, uint16_t, NOVA_LANES_16, zeros, NOVA_BITS_XOR, NOVA_BITS_XOR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_xor_prefix_u32, uint32_t, NOVA_LANES_32, zeros, NOVA_BITS_XOR, NOVA_BITS_XOR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_xor_prefix_u64, uint64_t, NOVA_LANES_64, zeros, NOVA_BITS_XOR, NOVA_BITS_XOR,
                   NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_i8, int8_t, NOVA_LANES_8, v[k], NOVA_LESSERS_I8,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_i16, int16_t, NOVA_LANES_16, v[k], NOVA_LESSERS_I16,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_i32, int32_t, NOVA_LANES_32, v[k], NOVA_LESSERS_I32,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_i64, int64_t, NOVA_LANES_64, v[k], NOVA_LESSERS_I64,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_u8, uint8_t, NOVA_LANES_8, v[k], NOVA_LESSERS_U8,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_u16, uint16_t, NOVA_LANES_16, v[k], NOVA_LESSERS_U16,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_u32, uint32_t, NOVA_LANES_32, v[k], NOVA_LESSERS_U32,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_u64, uint64_t, NOVA_LANES_64, v[k], NOVA_LESSERS_U64,
                   NOVA_LESSER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_min_prefix_f32, float, NOVA_LANES_32, v[k], NOVA_LESSERS_F32,
                   NOVA_LESSER_FLOAT, NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_min_prefix_f64, double, NOVA_LANES_F64, v[k], NOVA_LESSERS_F64,
                   NOVA_LESSER_FLOAT, NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_max_prefix_i8, int8_t, NOVA_LANES_8, v[k], NOVA_GREATERS_I8,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_i16, int16_t, NOVA_LANES_16, v[k], NOVA_GREATERS_I16,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_i32, int32_t, NOVA_LANES_32, v[k], NOVA_GREATERS_I32,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_i64, int64_t, NOVA_LANES_64, v[k], NOVA_GREATERS_I64,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_u8, uint8_t, NOVA_LANES_8, v[k], NOVA_GREATERS_U8,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_u16, uint16_t, NOVA_LANES_16, v[k], NOVA_GREATERS_U16,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_u32, uint32_t, NOVA_LANES_32, v[k], NOVA_GREATERS_U32,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_u64, uint64_t, NOVA_LANES_64, v[k], NOVA_GREATERS_U64,
                   NOVA_GREATER, NOVA_PREFIX_ALONE)

NOVA_DEFINE_PREFIX(nova_max_prefix_f32, float, NOVA_LANES_32, v[k], NOVA_GREATERS_F32,
                   NOVA_GREATER_FLOAT, NOVA_PREFIX_TREE)

NOVA_DEFINE_PREFIX(nova_max_prefix_f64, double, NOVA_LANES_F64, v[k], NOVA_GREATERS_F64,
                   NOVA_GREATER_FLOAT, NOVA_PREFIX_TREE)

#endif
