#include "../forms.h"
#include "blur.h"

#define FAMILY "means of nine pixels"

static int64_t n, m;
static float *x, *out;

/* A square matrix of so many elements. */
static void prepare(int64_t size)
{
    n = m = (int64_t)sqrt((double)size);
    x = random_floats(n * m);
    out = malloc((size_t)(n * m) * sizeof *out + 1);
}

static double checked(void)
{
    double found = sum_of(out, n * m);
    memset(out, 0, (size_t)(n * m) * sizeof *out);
    return found;
}

/* The sums of three in each row, of the rows above, here and below. */
static void sums(const float *restrict row, float *restrict to)
{
    to[0] = row[0] + row[0] + row[m > 1 ? 1 : 0];
    for (int64_t j = 1; j < m - 1; j++)
        to[j] = row[j - 1] + row[j] + row[j + 1];
    if (m > 1)
        to[m - 1] = row[m - 2] + row[m - 1] + row[m - 1];
}

static int hand(void)
{
    static float *kept;
    if (kept == NULL)
        kept = malloc(3 * (size_t)m * sizeof *kept + 1);
    float *above = kept, *here = kept + m, *below = kept + 2 * m;
    sums(x, here);
    memcpy(above, here, (size_t)m * sizeof *above);
    for (int64_t i = 0; i < n; i++) {
        if (i + 1 < n)
            sums(x + (i + 1) * m, below);
        else
            memcpy(below, here, (size_t)m * sizeof *below);
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = (above[j] + here[j] + below[j]) * (1.0f / 9.0f);
        float *free_row = above;
        above = here;
        here = below;
        below = free_row;
    }
    return 0;
}

static int run_by_tabulate(void)
{
    int64_t r = n, c = m;
    return by_tabulate(&r, &c, &out, n, m, x);
}

static int run_by_reduce(void)
{
    int64_t r = n, c = m;
    return by_reduce(&r, &c, &out, n, m, x);
}

static int run_by_rows(void)
{
    int64_t r = n, c = m;
    return by_rows(&r, &c, &out, n, m, x);
}

static int run_by_index(void)
{
    int64_t length = n * m;
    return by_index(&length, &out, (int32_t)m, n * m, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"tabulate, max and min", run_by_tabulate},
    {"reductions, a clamp by conditions", run_by_reduce},
    {"rows, sums across first", run_by_rows},
    {"index arithmetic, double clamps, a function", run_by_index},
};

FORMS
