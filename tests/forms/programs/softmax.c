#include "../forms.h"
#include "softmax.h"

#define FAMILY "softmax of rows"

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
    for (int64_t i = 0; i < n; i++) {
        const float *row = x + i * m;
        float *to = out + i * m, most = -1e30f, sum = 0;
        for (int64_t j = 0; j < m; j++)
            most = row[j] > most ? row[j] : most;
        for (int64_t j = 0; j < m; j++)
            to[j] = expf(row[j] - most);
        for (int64_t j = 0; j < m; j++)
            sum += to[j];
        for (int64_t j = 0; j < m; j++)
            to[j] /= sum;
    }
    return 0;
}

static int run_by_rows(void)
{
    int64_t r = n, c = m;
    return by_rows(&r, &c, &out, n, m, x);
}

static int run_by_lambda(void)
{
    int64_t r = n, c = m;
    return by_lambda(&r, &c, &out, n, m, x);
}

static int run_by_tabulate(void)
{
    int64_t r = n, c = m;
    return by_tabulate(&r, &c, &out, n, m, x);
}

static int run_by_index(void)
{
    int64_t length = n * m;
    return by_index(&length, &out, (int32_t)m, n * m, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"rows, a function", run_by_rows},
    {"rows, exponentials twice", run_by_lambda},
    {"tabulate", run_by_tabulate},
    {"index arithmetic", run_by_index},
};

FORMS
