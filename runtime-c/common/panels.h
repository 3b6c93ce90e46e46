/* The inner loop of contractions: products of two panels, a narrow and a wide one, added to totals. The
 * sums of six rows stay in vector registers for all steps. Compilers do not find that by themselves in
 * loops over arrays. */
#ifndef NOVA_PANELS_H
#define NOVA_PANELS_H

#include <stdint.h>
#include <string.h>

/* The rows of totals, and the bytes of a row of the wide panel. */
#define NOVA_PANEL_ROWS 6
#define NOVA_PANEL_BYTES 128

#if defined(__GNUC__)
# if defined(__AVX512F__)
#  define NOVA_PANEL_VECTOR 64
# elif defined(__AVX__)
#  define NOVA_PANEL_VECTOR 32
# else
#  define NOVA_PANEL_VECTOR 16
# endif
typedef float nova_panel_f32 __attribute__((vector_size(NOVA_PANEL_VECTOR)));
typedef double nova_panel_f64 __attribute__((vector_size(NOVA_PANEL_VECTOR)));
#else
typedef float nova_panel_f32;
typedef double nova_panel_f64;
#endif

/* Adds one step to the sums of row r, of two vectors of lanes. */
#define NOVA_PANEL_STEP(r)                                                                         \
    low##r += factors[r] * first;                                                                  \
    high##r += factors[r] * second;

/* Defines a function that adds left[6 s + r] right[LANES s + l], summed over s from 0 to steps - 1, to
 * totals[LANES r + l]. */
#define NOVA_MULTIPLY_PANELS(name, type, vector)                                                   \
    static inline void name(double *totals, const type *left, const type *right, int64_t steps)    \
    {                                                                                              \
        enum { WIDTH = sizeof(vector) / sizeof(type), LANES = NOVA_PANEL_BYTES / sizeof(type) };   \
        for (int lane = 0; lane < LANES; lane += 2 * WIDTH) {                                      \
            const vector zero = -(vector){0};                                                      \
            vector low0 = zero, low1 = zero, low2 = zero, low3 = zero, low4 = zero, low5 = zero;   \
            vector high0 = zero, high1 = zero, high2 = zero;                                       \
            vector high3 = zero, high4 = zero, high5 = zero;                                       \
            for (int64_t s = 0; s < steps; s++) {                                                  \
                const type *factors = left + s * NOVA_PANEL_ROWS;                                  \
                vector first, second;                                                              \
                memcpy(&first, right + s * LANES + lane, sizeof first);                            \
                memcpy(&second, right + s * LANES + lane + WIDTH, sizeof second);                  \
                NOVA_PANEL_STEP(0)                                                                 \
                NOVA_PANEL_STEP(1)                                                                 \
                NOVA_PANEL_STEP(2)                                                                 \
                NOVA_PANEL_STEP(3)                                                                 \
                NOVA_PANEL_STEP(4)                                                                 \
                NOVA_PANEL_STEP(5)                                                                 \
            }                                                                                      \
            type sums[NOVA_PANEL_ROWS][2 * WIDTH];                                                 \
            memcpy(sums[0], &low0, sizeof low0);                                                   \
            memcpy(sums[0] + WIDTH, &high0, sizeof high0);                                         \
            memcpy(sums[1], &low1, sizeof low1);                                                   \
            memcpy(sums[1] + WIDTH, &high1, sizeof high1);                                         \
            memcpy(sums[2], &low2, sizeof low2);                                                   \
            memcpy(sums[2] + WIDTH, &high2, sizeof high2);                                         \
            memcpy(sums[3], &low3, sizeof low3);                                                   \
            memcpy(sums[3] + WIDTH, &high3, sizeof high3);                                         \
            memcpy(sums[4], &low4, sizeof low4);                                                   \
            memcpy(sums[4] + WIDTH, &high4, sizeof high4);                                         \
            memcpy(sums[5], &low5, sizeof low5);                                                   \
            memcpy(sums[5] + WIDTH, &high5, sizeof high5);                                         \
            for (int r = 0; r < NOVA_PANEL_ROWS; r++)                                              \
                for (int k = 0; k < 2 * WIDTH; k++)                                                \
                    totals[r * LANES + lane + k] += (double)sums[r][k];                            \
        }                                                                                          \
    }

NOVA_MULTIPLY_PANELS(nova_multiply_panels_f32, float, nova_panel_f32)

NOVA_MULTIPLY_PANELS(nova_multiply_panels_f64, double, nova_panel_f64)

#endif
