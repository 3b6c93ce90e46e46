/* Tests of products of panels: totals get exact sums of small integers, for all numbers of steps, and
 * nothing beyond the panels is read or written. */
#include "../common/panels.h"
#include "test.h"

#define CHECK_PANELS(name, type)                                                                   \
    do {                                                                                           \
        enum { LANES = NOVA_PANEL_BYTES / sizeof(type), ALL = NOVA_PANEL_ROWS * LANES };           \
        for (int64_t steps = 0; steps <= 70; steps++) {                                            \
            const size_t some = (size_t)(steps + (steps == 0));                                    \
            type *left = (type *)malloc(some * NOVA_PANEL_ROWS * sizeof(type));                    \
            type *right = (type *)malloc(some * LANES * sizeof(type));                             \
            double *totals = (double *)malloc(ALL * sizeof *totals);                               \
            CHECK(left != NULL && right != NULL && totals != NULL);                                \
            for (int64_t k = 0; k < steps * NOVA_PANEL_ROWS; k++)                                  \
                left[k] = (type)(k * 37 % 23 - 11);                                                \
            for (int64_t k = 0; k < steps * LANES; k++)                                            \
                right[k] = (type)(k * 41 % 19 - 9);                                                \
            for (int k = 0; k < ALL; k++)                                                          \
                totals[k] = k;                                                                     \
            name(totals, left, right, steps);                                                      \
            for (int r = 0; r < NOVA_PANEL_ROWS; r++)                                              \
                for (int l = 0; l < LANES; l++) {                                                  \
                    double wanted = r * LANES + l;                                                 \
                    for (int64_t s = 0; s < steps; s++)                                            \
                        wanted += (double)left[NOVA_PANEL_ROWS * s + r]                            \
                            * (double)right[LANES * s + l];                                        \
                    CHECK(totals[r * LANES + l] == wanted);                                        \
                }                                                                                  \
            free(left);                                                                            \
            free(right);                                                                           \
            free(totals);                                                                          \
        }                                                                                          \
    } while (0)

int main(void)
{
    CHECK_PANELS(nova_multiply_panels_f32, float);
    CHECK_PANELS(nova_multiply_panels_f64, double);
    return 0;
}
