#include "../forms.h"
#include "distances.h"

#define FAMILY "distances of points"

static int64_t n, m;
static float *x, *out;
/* The points by coordinate, for C by hand. */
static float *at[3];

/* As many points as give so many distances. */
static void prepare(int64_t size)
{
    n = m = (int64_t)sqrt((double)size);
    x = random_floats(3 * n);
    out = malloc((size_t)(n * n) * sizeof *out + 1);
    for (int k = 0; k < 3; k++) {
        at[k] = malloc((size_t)n * sizeof *at[k] + 1);
        for (int64_t i = 0; i < n; i++)
            at[k][i] = x[3 * i + k];
    }
}

static double checked(void)
{
    double found = sum_of(out, n * m);
    memset(out, 0, (size_t)(n * m) * sizeof *out);
    return found;
}

static int hand(void)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float a = at[0][i] - at[0][j], b = at[1][i] - at[1][j], c = at[2][i] - at[2][j];
            out[i * n + j] = sqrtf(a * a + b * b + c * c);
        }
    return 0;
}

static int run_by_rows(void)
{
    int64_t r = n, c = n;
    return by_rows(&r, &c, &out, n, 3, x);
}

static int run_by_tabulate(void)
{
    int64_t r = n, c = n;
    return by_tabulate(&r, &c, &out, n, 3, x);
}

static int run_by_maps(void)
{
    int64_t r = n, c = n;
    return by_maps(&r, &c, &out, n, 3, x);
}

static int run_by_index(void)
{
    int64_t length = n * n;
    return by_index(&length, &out, 3 * n, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"rows, functions", run_by_rows},
    {"tabulate, inline", run_by_tabulate},
    {"maps of maps, inline", run_by_maps},
    {"index arithmetic", run_by_index},
};

FORMS
