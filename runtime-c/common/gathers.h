/* Gathers of sixteen elements, and of rows. Elements at a stride or at indices are copied into local
 * arrays before the loop that uses them, and the indices are checked where they lie. Compilers make
 * slower code of loops that read such elements directly. */
#ifndef NOVA_GATHERS_H
#define NOVA_GATHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fixed_blocks.h"

#define NOVA_GATHER_WIDTH 16

/* Copies sixteen words of a size; stride is the distance of the sources in words. */
static inline void nova_stride_words(void *to, const void *from, int64_t stride, size_t size)
{
    for (int64_t k = 0; k < NOVA_GATHER_WIDTH; k++)
        memcpy((char *)to + k * (int64_t)size, (const char *)from + k * stride * (int64_t)size, size);
}

/* Copies sixteen words of four bytes. Reads nothing between them, since there may be nothing after the
 * last one. */
static inline void nova_gather_strided_4(void *to, const void *from, int64_t stride)
{
#if NOVA_MASKED_LOADS
    if (stride == 2) {
        const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
                                               28, 30);
        const __m512i low = _mm512_maskz_loadu_epi32(0x5555, from);
        const __m512i high = _mm512_maskz_loadu_epi32(0x5555, nova_vector_at(from, 1));
        _mm512_storeu_si512(to, _mm512_permutex2var_epi32(low, even, high));
        return;
    }
#endif
    nova_stride_words(to, from, stride, 4);
}

/* Copies sixteen words of eight bytes. */
static inline void nova_gather_strided_8(void *to, const void *from, int64_t stride)
{
#if NOVA_MASKED_LOADS
    if (stride == 2) {
        const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        for (int k = 0; k < 2; k++) {
            const __m512i low = _mm512_maskz_loadu_epi64(0x55, nova_vector_at(from, 2 * k));
            const __m512i high = _mm512_maskz_loadu_epi64(0x55, nova_vector_at(from, 2 * k + 1));
            _mm512_storeu_si512((int64_t *)to + 8 * k,
                                _mm512_permutex2var_epi64(low, even, high));
        }
        return;
    }
#endif
    nova_stride_words(to, from, stride, 8);
}

/* True if one of sixteen indices, at a stride, is negative or not below a limit. */
static inline bool nova_gather_precheck_i32(const int32_t *indices, int64_t stride, uint64_t limit)
{
    /* As unsigned numbers, negative indices are not below this limit. */
    const uint32_t least = limit < 0x80000000u ? (uint32_t)limit : 0x80000000u;
#if NOVA_MASKED_LOADS
    const __m512i all = _mm512_set1_epi32((int32_t)least);
    if (stride == 1)
        return _mm512_cmpge_epu32_mask(_mm512_loadu_si512(indices), all) != 0;
    if (stride == 2) {
        const __m512i low = _mm512_maskz_loadu_epi32(0x5555, indices);
        const __m512i high = _mm512_maskz_loadu_epi32(0x5555, nova_vector_at(indices, 1));
        return (_mm512_mask_cmpge_epu32_mask(0x5555, low, all) |
                _mm512_mask_cmpge_epu32_mask(0x5555, high, all)) != 0;
    }
#endif
    bool outside = false;
    for (int64_t k = 0; k < NOVA_GATHER_WIDTH; k++)
        outside |= (uint32_t)indices[k * stride] >= least;
    return outside;
}

static inline bool nova_gather_precheck_i64(const int64_t *indices, int64_t stride, uint64_t limit)
{
    bool outside = false;
    for (int64_t k = 0; k < NOVA_GATHER_WIDTH; k++)
        outside |= (uint64_t)indices[k * stride] >= limit;
    return outside;
}

/* Defines a function that reads the elements of an array at sixteen indices, which lie at a stride.
 * Where compilers know vectors, single loads fill one. The gather instruction of many processors is
 * slow, and a loop would become it. */
#if defined(__GNUC__)
#define NOVA_GATHER_INDEXED(name, type, index)                                                     \
    static inline void name(type *to, const type *from, const index *at, int64_t stride)           \
    {                                                                                              \
        typedef type all __attribute__((vector_size(NOVA_GATHER_WIDTH * sizeof(type))));           \
        const all v = {NOVA_FOUR_AT(0), NOVA_FOUR_AT(4), NOVA_FOUR_AT(8), NOVA_FOUR_AT(12)};       \
        memcpy(to, &v, sizeof v);                                                                  \
    }
#define NOVA_AT(k) from[at[(k) * stride]]
#define NOVA_FOUR_AT(k) NOVA_AT(k), NOVA_AT((k) + 1), NOVA_AT((k) + 2), NOVA_AT((k) + 3)
#else
#define NOVA_GATHER_INDEXED(name, type, index)                                                     \
    static inline void name(type *to, const type *from, const index *at, int64_t stride)           \
    {                                                                                              \
        for (int64_t k = 0; k < NOVA_GATHER_WIDTH; k++)                                            \
            to[k] = from[at[k * stride]];                                                          \
    }
#endif

/* For floats, compilers make more instructions of a vector than these. */
#if NOVA_MASKED_LOADS
#define NOVA_GATHER_INDEXED_F32(name, index)                                                       \
    static inline void name(float *to, const float *from, const index *at, int64_t stride)         \
    {                                                                                              \
        const __m128 a = NOVA_FOUR_F32(0), b = NOVA_FOUR_F32(4);                                   \
        const __m128 c = NOVA_FOUR_F32(8), d = NOVA_FOUR_F32(12);                                  \
        const __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);                  \
        const __m256 high = _mm256_insertf128_ps(_mm256_castps128_ps256(c), d, 1);                 \
        _mm512_storeu_ps(to, _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1));            \
    }
#define NOVA_INSERT_F32(v, k, lane) _mm_insert_ps(v, _mm_load_ss(&NOVA_AT(k)), (lane) << 4)
#define NOVA_FOUR_F32(k)                                                                           \
    NOVA_INSERT_F32(NOVA_INSERT_F32(NOVA_INSERT_F32(_mm_load_ss(&NOVA_AT(k)), (k) + 1, 1),         \
                                    (k) + 2, 2),                                                   \
                    (k) + 3, 3)
#else
#define NOVA_GATHER_INDEXED_F32(name, index) NOVA_GATHER_INDEXED(name, float, index)
#endif

NOVA_GATHER_INDEXED_F32(nova_gather_indexed_f32_i32, int32_t)

NOVA_GATHER_INDEXED_F32(nova_gather_indexed_f32_i64, int64_t)

NOVA_GATHER_INDEXED(nova_gather_indexed_f64_i32, double, int32_t)

NOVA_GATHER_INDEXED(nova_gather_indexed_f64_i64, double, int64_t)

NOVA_GATHER_INDEXED(nova_gather_indexed_i32_i32, int32_t, int32_t)

NOVA_GATHER_INDEXED(nova_gather_indexed_i32_i64, int32_t, int64_t)

NOVA_GATHER_INDEXED(nova_gather_indexed_i64_i32, int64_t, int32_t)

NOVA_GATHER_INDEXED(nova_gather_indexed_i64_i64, int64_t, int64_t)

/* The rows that are copied so that their elements of one index lie side by side. */
#define NOVA_GATHERED_ROWS 32

/* Copies a square of words, so that a row becomes a column. Rows are stride words apart, and
 * columns become NOVA_GATHERED_ROWS words apart. A square is eight rows of four bytes, or four rows
 * of eight. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
typedef int32_t nova_eight_words __attribute__((vector_size(32)));
typedef int64_t nova_four_words __attribute__((vector_size(32)));

static inline void nova_turn_square_4(char *to, const char *from, int64_t stride)
{
    nova_eight_words a[8], b[8];
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
        memcpy(&a[r], from + r * stride * 4, sizeof a[r]);
#pragma GCC unroll 8
    for (int r = 0; r < 8; r += 2) {
        b[r] = __builtin_shufflevector(a[r], a[r + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[r + 1] = __builtin_shufflevector(a[r], a[r + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
#pragma GCC unroll 8
    for (int r = 0; r < 8; r += 4)
#pragma GCC unroll 8
        for (int k = 0; k < 2; k++) {
            const nova_eight_words x = b[r + k], y = b[r + k + 2];
            a[r + 2 * k] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
            a[r + 2 * k + 1] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
        }
#pragma GCC unroll 8
    for (int r = 0; r < 4; r++) {
        b[r] = __builtin_shufflevector(a[r], a[r + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[r + 4] = __builtin_shufflevector(a[r], a[r + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        memcpy(to + k * NOVA_GATHERED_ROWS * 4, &b[k], sizeof b[k]);
}

static inline void nova_turn_square_8(char *to, const char *from, int64_t stride)
{
    nova_four_words a[4], b[4];
#pragma GCC unroll 8
    for (int r = 0; r < 4; r++)
        memcpy(&a[r], from + r * stride * 8, sizeof a[r]);
#pragma GCC unroll 8
    for (int r = 0; r < 4; r += 2) {
        b[r] = __builtin_shufflevector(a[r], a[r + 1], 0, 4, 2, 6);
        b[r + 1] = __builtin_shufflevector(a[r], a[r + 1], 1, 5, 3, 7);
    }
#pragma GCC unroll 8
    for (int r = 0; r < 2; r++) {
        a[r] = __builtin_shufflevector(b[r], b[r + 2], 0, 1, 4, 5);
        a[r + 2] = __builtin_shufflevector(b[r], b[r + 2], 2, 3, 6, 7);
    }
#pragma GCC unroll 8
    for (int k = 0; k < 4; k++)
        memcpy(to + k * NOVA_GATHERED_ROWS * 8, &a[k], sizeof a[k]);
}
#else
#define NOVA_TURN_SQUARE(name, size)                                                               \
    static inline void name(char *to, const char *from, int64_t stride)                            \
    {                                                                                              \
        for (int r = 0; r < 32 / size; r++)                                                        \
            for (int k = 0; k < 32 / size; k++)                                                    \
                memcpy(to + (k * NOVA_GATHERED_ROWS + r) * size, from + (r * stride + k) * size,   \
                       size);                                                                      \
    }

NOVA_TURN_SQUARE(nova_turn_square_4, 4)

NOVA_TURN_SQUARE(nova_turn_square_8, 8)
#endif

/* Defines a function that copies count words of each of NOVA_GATHERED_ROWS rows, which are stride
 * words apart. Word k of row r becomes word r + k NOVA_GATHERED_ROWS. */
#define NOVA_GATHER_ROWS(name, turn_square, size)                                                  \
    static inline void name(void *to, const void *from, int64_t stride, int64_t count)             \
    {                                                                                              \
        char *packed = (char *)to;                                                                 \
        const char *rows = (const char *)from;                                                     \
        int64_t k = 0;                                                                             \
        for (; k + 32 / size <= count; k += 32 / size)                                             \
            for (int64_t r = 0; r < NOVA_GATHERED_ROWS; r += 32 / size)                            \
                turn_square(packed + (k * NOVA_GATHERED_ROWS + r) * size,                          \
                            rows + (r * stride + k) * size, stride);                               \
        for (; k < count; k++)                                                                     \
            for (int64_t r = 0; r < NOVA_GATHERED_ROWS; r++)                                       \
                memcpy(packed + (k * NOVA_GATHERED_ROWS + r) * size,                               \
                       rows + (r * stride + k) * size, size);                                      \
    }

NOVA_GATHER_ROWS(nova_gather_rows_4, nova_turn_square_4, 4)

NOVA_GATHER_ROWS(nova_gather_rows_8, nova_turn_square_8, 8)

#endif
