/* Fixed-size blocks of 64 numbers, for loops over at most 64 elements: nothing in these loops depends
 * on the number of elements. Tree reductions combine a block by halves: one half with the other, until
 * one element is left. */
#ifndef NOVA_FIXED_BLOCKS_H
#define NOVA_FIXED_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NOVA_FIXED_BLOCK 64

/* True if there are loads of the first elements of a vector. */
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__BMI2__)
/* A processor cannot load a vector that was stored in halves before both have reached the cache. So the
 * loops that use these functions must have vectors of this size too. */
# if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC target("prefer-vector-width=512")
# endif
# include <immintrin.h>
# define NOVA_MASKED_LOADS 1

/* The address of vector k, counted from `from`. The mask may exclude all of its elements. */
static inline const void *nova_vector_at(const void *from, int k)
{
    return (const void *)((uintptr_t)from + (uintptr_t)k * 64);
}
#else
# define NOVA_MASKED_LOADS 0
#endif

/* Copies count floats, 0 to 64, and pads them with `pad` to 64. */
static inline void nova_padded_copy_f32(float *to, const float *from, int64_t count, float pad)
{
#if NOVA_MASKED_LOADS
    const __mmask64 mask = _cvtu64_mask64(_bzhi_u64(~(uint64_t)0, (unsigned)count));
    const __m512 pads = _mm512_set1_ps(pad);
# define NOVA_COPY_VECTOR(k, some)                                                                  \
    _mm512_storeu_ps(to + 16 * (k),                                                                 \
                     _mm512_mask_loadu_ps(pads, (__mmask16)(some), nova_vector_at(from, k)))
    NOVA_COPY_VECTOR(0, mask);
    NOVA_COPY_VECTOR(1, _kshiftri_mask64(mask, 16));
    NOVA_COPY_VECTOR(2, _kshiftri_mask64(mask, 32));
    NOVA_COPY_VECTOR(3, _kshiftri_mask64(mask, 48));
# undef NOVA_COPY_VECTOR
#else
    for (int k = 0; k < NOVA_FIXED_BLOCK; k++)
        to[k] = pad;
    if (count != 0)
        memcpy(to, from, (size_t)count * sizeof *to);
#endif
}

/* Copies count doubles, 0 to 64, and pads them with `pad` to 64. */
static inline void nova_padded_copy_f64(double *to, const double *from, int64_t count, double pad)
{
#if NOVA_MASKED_LOADS
    const __mmask64 mask = _cvtu64_mask64(_bzhi_u64(~(uint64_t)0, (unsigned)count));
    const __m512d pads = _mm512_set1_pd(pad);
# define NOVA_COPY_VECTOR(k, some)                                                                  \
    _mm512_storeu_pd(to + 8 * (k),                                                                  \
                     _mm512_mask_loadu_pd(pads, (__mmask8)(some), nova_vector_at(from, k)))
    NOVA_COPY_VECTOR(0, mask);
    NOVA_COPY_VECTOR(1, _kshiftri_mask64(mask, 8));
    NOVA_COPY_VECTOR(2, _kshiftri_mask64(mask, 16));
    NOVA_COPY_VECTOR(3, _kshiftri_mask64(mask, 24));
    NOVA_COPY_VECTOR(4, _kshiftri_mask64(mask, 32));
    NOVA_COPY_VECTOR(5, _kshiftri_mask64(mask, 40));
    NOVA_COPY_VECTOR(6, _kshiftri_mask64(mask, 48));
    NOVA_COPY_VECTOR(7, _kshiftri_mask64(mask, 56));
# undef NOVA_COPY_VECTOR
#else
    for (int k = 0; k < NOVA_FIXED_BLOCK; k++)
        to[k] = pad;
    if (count != 0)
        memcpy(to, from, (size_t)count * sizeof *to);
#endif
}

/* Vectors of 64 and 32 bytes. Compilers split them for processors without such registers. */
#if defined(__GNUC__)
typedef float nova_f32x16 __attribute__((vector_size(64)));
typedef float nova_f32x8 __attribute__((vector_size(32)));
typedef double nova_f64x8 __attribute__((vector_size(64)));
#endif

/* Defines a function that combines 64 elements by halves until eight are left. */
#if defined(__GNUC__)
#define NOVA_TREE_REDUCE_TO_LANES(name, type, whole, eight, operation)                             \
    static inline void name(type *elements)                                                        \
    {                                                                                              \
        enum { WHOLES = NOVA_FIXED_BLOCK * sizeof(type) / sizeof(whole) };                         \
        enum { EIGHTS = sizeof(whole) / sizeof(eight) };                                           \
        whole all[WHOLES];                                                                         \
        eight parts[EIGHTS];                                                                       \
        memcpy(all, elements, sizeof all);                                                         \
        for (int h = WHOLES / 2; h > 0; h /= 2)                                                    \
            for (int k = 0; k < h; k++)                                                            \
                all[k] = all[k] operation all[k + h];                                              \
        memcpy(parts, all, sizeof parts);                                                          \
        for (int h = EIGHTS / 2; h > 0; h /= 2)                                                    \
            for (int k = 0; k < h; k++)                                                            \
                parts[k] = parts[k] operation parts[k + h];                                        \
        memcpy(elements, parts, sizeof *parts);                                                    \
    }
#else
#define NOVA_TREE_REDUCE_TO_LANES(name, type, whole, eight, operation)                             \
    static inline void name(type *elements)                                                        \
    {                                                                                              \
        for (int h = NOVA_FIXED_BLOCK / 2; h >= 8; h /= 2)                                         \
            for (int k = 0; k < h; k++)                                                            \
                elements[k] = elements[k] operation elements[k + h];                               \
    }
#endif

NOVA_TREE_REDUCE_TO_LANES(nova_add_tree_lanes_f32, float, nova_f32x16, nova_f32x8, +)

NOVA_TREE_REDUCE_TO_LANES(nova_mul_tree_lanes_f32, float, nova_f32x16, nova_f32x8, *)

NOVA_TREE_REDUCE_TO_LANES(nova_add_tree_lanes_f64, double, nova_f64x8, nova_f64x8, +)

NOVA_TREE_REDUCE_TO_LANES(nova_mul_tree_lanes_f64, double, nova_f64x8, nova_f64x8, *)

/* Defines a function that combines 64 elements by halves into the first. */
#define NOVA_TREE_REDUCE(name, type, to_lanes, operation)                                          \
    static inline void name(type *elements)                                                        \
    {                                                                                              \
        type last[8];                                                                              \
        to_lanes(elements);                                                                        \
        memcpy(last, elements, sizeof last);                                                       \
        for (int h = 4; h > 0; h /= 2)                                                             \
            for (int k = 0; k < h; k++)                                                            \
                last[k] = last[k] operation last[k + h];                                           \
        elements[0] = last[0];                                                                     \
    }

NOVA_TREE_REDUCE(nova_add_tree_f32, float, nova_add_tree_lanes_f32, +)

NOVA_TREE_REDUCE(nova_mul_tree_f32, float, nova_mul_tree_lanes_f32, *)

NOVA_TREE_REDUCE(nova_add_tree_f64, double, nova_add_tree_lanes_f64, +)

NOVA_TREE_REDUCE(nova_mul_tree_f64, double, nova_mul_tree_lanes_f64, *)

/* Defines a function that combines each of eight rows of eight elements by halves, row k into element
 * k. In vectors two rows become one in each step, which takes seven operations instead of three for
 * each row. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define NOVA_TREE_REDUCE_ROWS(name, type, eight, operation)                                        \
    static inline void name(type *elements)                                                        \
    {                                                                                              \
        eight v[8];                                                                                \
        memcpy(v, elements, sizeof v);                                                             \
        for (int k = 0; k < 4; k++)                                                                \
            v[k] = __builtin_shufflevector(v[k], v[k + 4], 0, 1, 2, 3, 8, 9, 10, 11)               \
                operation __builtin_shufflevector(v[k], v[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);     \
        for (int k = 0; k < 2; k++)                                                                \
            v[k] = __builtin_shufflevector(v[k], v[k + 2], 0, 1, 8, 9, 4, 5, 12, 13)               \
                operation __builtin_shufflevector(v[k], v[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);     \
        v[0] = __builtin_shufflevector(v[0], v[1], 0, 8, 2, 10, 4, 12, 6, 14)                      \
            operation __builtin_shufflevector(v[0], v[1], 1, 9, 3, 11, 5, 13, 7, 15);              \
        memcpy(elements, v, sizeof *v);                                                            \
    }
#else
#define NOVA_TREE_REDUCE_ROWS(name, type, eight, operation)                                        \
    static inline void name(type *elements)                                                        \
    {                                                                                              \
        for (int k = 0; k < 8; k++) {                                                              \
            type *row = elements + 8 * k;                                                          \
            for (int h = 4; h > 0; h /= 2)                                                         \
                for (int l = 0; l < h; l++)                                                        \
                    row[l] = row[l] operation row[l + h];                                          \
            elements[k] = row[0];                                                                  \
        }                                                                                          \
    }
#endif

NOVA_TREE_REDUCE_ROWS(nova_add_tree_rows_f32, float, nova_f32x8, +)

NOVA_TREE_REDUCE_ROWS(nova_mul_tree_rows_f32, float, nova_f32x8, *)

NOVA_TREE_REDUCE_ROWS(nova_add_tree_rows_f64, double, nova_f64x8, +)

NOVA_TREE_REDUCE_ROWS(nova_mul_tree_rows_f64, double, nova_f64x8, *)

/* True if the elements of adjacent rows are computed together. This is faster only with masked loads,
 * and with the vector code of gcc. Tests may define NOVA_JOIN_ROWS. */
static inline bool nova_joins_rows(void)
{
#if defined(NOVA_JOIN_ROWS)
    return NOVA_JOIN_ROWS;
#elif NOVA_MASKED_LOADS && defined(__GNUC__) && !defined(__clang__)
    return true;
#else
    return false;
#endif
}

/* Defines a function that combines count elements into eight: in sixteen lanes first, then one half of
 * the lanes with the other. */
#define NOVA_LANE_REDUCE(name, type, identity, operation)                                          \
    static inline void name(type *to, const type *from, int64_t count)                             \
    {                                                                                              \
        type lanes[16];                                                                            \
        for (int l = 0; l < 16; l++)                                                               \
            lanes[l] = identity;                                                                   \
        for (; count >= 16; count -= 16, from += 16)                                               \
            for (int l = 0; l < 16; l++)                                                           \
                lanes[l] = lanes[l] operation from[l];                                             \
        for (int l = 0; l < count; l++)                                                            \
            lanes[l] = lanes[l] operation from[l];                                                 \
        for (int l = 0; l < 8; l++)                                                                \
            to[l] = lanes[l] operation lanes[l + 8];                                               \
    }

/* With masked loads, up to 32 elements are combined without a branch on the count. */
#if NOVA_MASKED_LOADS
#define NOVA_LANE_REDUCE_F32(name, identity, word, operation)                                      \
    static inline void name(float *to, const float *from, int64_t count)                           \
    {                                                                                              \
        __m512 all = _mm512_set1_ps(identity);                                                     \
        for (; count > 32; count -= 32, from += 32)                                                \
            for (int k = 0; k < 32; k += 16)                                                       \
                all = _mm512_##word##_ps(all, _mm512_loadu_ps(from + k));                          \
        const __mmask64 mask = _cvtu64_mask64(_bzhi_u64(~(uint64_t)0, (unsigned)count));           \
        all = NOVA_REDUCE_MASKED(ps, 16, word, all, mask, from, 0);                                \
        all = NOVA_REDUCE_MASKED(ps, 16, word, all, _kshiftri_mask64(mask, 16), from, 1);          \
        const __m256 high = _mm512_extractf32x8_ps(all, 1);                                        \
        _mm256_storeu_ps(to, _mm256_##word##_ps(_mm512_castps512_ps256(all), high));               \
    }
#define NOVA_LANE_REDUCE_F64(name, identity, word, operation)                                      \
    static inline void name(double *to, const double *from, int64_t count)                         \
    {                                                                                              \
        __m512d low = _mm512_set1_pd(identity), high = low;                                        \
        for (; count > 32; count -= 32, from += 32)                                                \
            for (int k = 0; k < 32; k += 16) {                                                     \
                low = _mm512_##word##_pd(low, _mm512_loadu_pd(from + k));                          \
                high = _mm512_##word##_pd(high, _mm512_loadu_pd(from + k + 8));                    \
            }                                                                                      \
        const __mmask64 mask = _cvtu64_mask64(_bzhi_u64(~(uint64_t)0, (unsigned)count));           \
        low = NOVA_REDUCE_MASKED(pd, 8, word, low, mask, from, 0);                                 \
        high = NOVA_REDUCE_MASKED(pd, 8, word, high, _kshiftri_mask64(mask, 8), from, 1);          \
        low = NOVA_REDUCE_MASKED(pd, 8, word, low, _kshiftri_mask64(mask, 16), from, 2);           \
        high = NOVA_REDUCE_MASKED(pd, 8, word, high, _kshiftri_mask64(mask, 24), from, 3);         \
        _mm512_storeu_pd(to, _mm512_##word##_pd(low, high));                                       \
    }
#define NOVA_REDUCE_MASKED(type, lanes, word, x, mask, from, k)                                    \
    _mm512_mask_##word##_##type(                                                                   \
        x, (__mmask##lanes)(mask), x,                                                              \
        _mm512_maskz_loadu_##type((__mmask##lanes)(mask), nova_vector_at(from, k)))
#else
#define NOVA_LANE_REDUCE_F32(name, identity, word, operation)                                      \
    NOVA_LANE_REDUCE(name, float, identity, operation)
#define NOVA_LANE_REDUCE_F64(name, identity, word, operation)                                      \
    NOVA_LANE_REDUCE(name, double, identity, operation)
#endif

NOVA_LANE_REDUCE_F32(nova_add_lanes_f32, -0.0f, add, +)

NOVA_LANE_REDUCE_F32(nova_mul_lanes_f32, 1.0f, mul, *)

NOVA_LANE_REDUCE_F64(nova_add_lanes_f64, -0.0, add, +)

NOVA_LANE_REDUCE_F64(nova_mul_lanes_f64, 1.0, mul, *)

#endif
