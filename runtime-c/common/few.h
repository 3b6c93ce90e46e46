/* Arrays of 64 numbers: what loops over a few elements, up to 64, are made of, so that nothing in
 * them depends on how many there are. */
#ifndef NOVA_FEW_H
#define NOVA_FEW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NOVA_FEW 64

/* Whether there are loads of the first elements of a vector. */
#if defined(__AVX512F__) && defined(__BMI2__)
# include <immintrin.h>
# define NOVA_MASKED_LOADS 1

/* The vector number k from here, of which the mask may leave nothing in the array. */
static inline const void *nova_vector_at(const void *from, int k)
{
    return (const void *)((uintptr_t)from + (uintptr_t)k * 64);
}
#else
# define NOVA_MASKED_LOADS 0
#endif

/* Copies count floats, 0 to 64, and writes pad behind them, so that there are 64. */
static inline void nova_copy_few_f32(float *to, const float *from, int64_t count, float pad)
{
#if NOVA_MASKED_LOADS
    const uint64_t mask = _bzhi_u64(~(uint64_t)0, (unsigned)count);
    const __m512 pads = _mm512_set1_ps(pad);
    for (int k = 0; k < 4; k++) {
        __mmask16 some = (__mmask16)(mask >> (16 * k));
        _mm512_storeu_ps(to + 16 * k, _mm512_mask_loadu_ps(pads, some, nova_vector_at(from, k)));
    }
#else
    for (int k = 0; k < NOVA_FEW; k++)
        to[k] = pad;
    if (count != 0)
        memcpy(to, from, (size_t)count * sizeof *to);
#endif
}

/* Copies count doubles, 0 to 64, and writes pad behind them, so that there are 64. */
static inline void nova_copy_few_f64(double *to, const double *from, int64_t count, double pad)
{
#if NOVA_MASKED_LOADS
    const uint64_t mask = _bzhi_u64(~(uint64_t)0, (unsigned)count);
    const __m512d pads = _mm512_set1_pd(pad);
    for (int k = 0; k < 8; k++) {
        __mmask8 some = (__mmask8)(mask >> (8 * k));
        _mm512_storeu_pd(to + 8 * k, _mm512_mask_loadu_pd(pads, some, nova_vector_at(from, k)));
    }
#else
    for (int k = 0; k < NOVA_FEW; k++)
        to[k] = pad;
    if (count != 0)
        memcpy(to, from, (size_t)count * sizeof *to);
#endif
}

/* Vectors of 64, 32 and 16 bytes, which compilers that know no such registers take apart. */
#if defined(__GNUC__)
typedef float nova_f32x16 __attribute__((vector_size(64)));
typedef float nova_f32x8 __attribute__((vector_size(32)));
typedef float nova_f32x4 __attribute__((vector_size(16)));
typedef double nova_f64x8 __attribute__((vector_size(64)));
typedef double nova_f64x4 __attribute__((vector_size(32)));
typedef double nova_f64x2 __attribute__((vector_size(16)));
#endif

/* Defines a function that combines 64 elements into the first, half of them with the other half
 * until one is left. In registers where there are vectors: halves are the same, and so is the
 * result. */
#if defined(__GNUC__)
#define NOVA_COMBINE_FEW(name, type, whole, half, quarter, operation)                             \
    static inline void name(type *elements)                                                       \
    {                                                                                              \
        enum { VECTORS = NOVA_FEW * sizeof(type) / 64, LAST = 16 / sizeof(type) };                 \
        whole all[VECTORS];                                                                        \
        half a, b;                                                                                 \
        quarter c, d;                                                                              \
        type last[LAST];                                                                           \
        memcpy(all, elements, sizeof all);                                                         \
        for (int h = VECTORS / 2; h > 0; h /= 2)                                                   \
            for (int k = 0; k < h; k++)                                                            \
                all[k] = all[k] operation all[k + h];                                              \
        memcpy(&a, all, sizeof a);                                                                 \
        memcpy(&b, (const char *)all + sizeof a, sizeof b);                                        \
        a = a operation b;                                                                         \
        memcpy(&c, &a, sizeof c);                                                                  \
        memcpy(&d, (const char *)&a + sizeof c, sizeof d);                                         \
        c = c operation d;                                                                         \
        memcpy(last, &c, sizeof last);                                                             \
        for (int h = LAST / 2; h > 0; h /= 2)                                                      \
            for (int k = 0; k < h; k++)                                                            \
                last[k] = last[k] operation last[k + h];                                           \
        elements[0] = last[0];                                                                     \
    }
#else
#define NOVA_COMBINE_FEW(name, type, whole, half, quarter, operation)                             \
    static inline void name(type *elements)                                                       \
    {                                                                                              \
        for (int h = NOVA_FEW / 2; h > 0; h /= 2)                                                  \
            for (int k = 0; k < h; k++)                                                            \
                elements[k] = elements[k] operation elements[k + h];                               \
    }
#endif

NOVA_COMBINE_FEW(nova_add_few_f32, float, nova_f32x16, nova_f32x8, nova_f32x4, +)

NOVA_COMBINE_FEW(nova_mul_few_f32, float, nova_f32x16, nova_f32x8, nova_f32x4, *)

NOVA_COMBINE_FEW(nova_add_few_f64, double, nova_f64x8, nova_f64x4, nova_f64x2, +)

NOVA_COMBINE_FEW(nova_mul_few_f64, double, nova_f64x8, nova_f64x4, nova_f64x2, *)

#endif
