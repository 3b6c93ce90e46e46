#include "../forms.h"
#include "centred.h"

#define FAMILY "columns less their means"

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

static int hand(void)
{
    static float *means;
    if (means == NULL)
        means = malloc((size_t)m * sizeof *means + 1);
    memset(means, 0, (size_t)m * sizeof *means);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            means[j] += x[i * m + j];
    for (int64_t j = 0; j < m; j++)
        means[j] /= (float)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = x[i * m + j] - means[j];
    return 0;
}

static int run_by_columns(void)
{
    int64_t r = n, c = m;
    return by_columns(&r, &c, &out, n, m, x);
}

static int run_by_tabulate(void)
{
    int64_t r = n, c = m;
    return by_tabulate(&r, &c, &out, n, m, x);
}

static int run_by_sums_of_rows(void)
{
    int64_t r = n, c = m;
    return by_sums_of_rows(&r, &c, &out, n, m, x);
}

static int run_by_index(void)
{
    int64_t length = n * m;
    return by_index(&length, &out, (int32_t)m, n * m, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"columns, a function", run_by_columns},
    {"tabulate", run_by_tabulate},
    {"sums of rows", run_by_sums_of_rows},
    {"index arithmetic, a function", run_by_index},
};

FORMS
