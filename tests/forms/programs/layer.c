#include "../forms.h"
#include "layer.h"

#define FAMILY "a layer of a network"

static int64_t n, m;
static float *x, *out;
static int64_t columns;
static float *bias, *input;

/* So many weights, in rows of 1,024 or fewer. */
static void prepare(int64_t size)
{
    columns = size < 1024 ? size : 1024;
    n = size / columns;
    m = 1;
    x = random_floats(n * columns);
    bias = random_floats(n);
    input = random_floats(columns);
    for (int64_t i = 0; i < n; i++)
        bias[i] -= 0.3f * (float)columns * (i % 2 == 0 ? 0.5f : 1);
    out = malloc((size_t)n * sizeof *out + 1);
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
        float sum = bias[i];
        for (int64_t j = 0; j < columns; j++)
            sum += x[i * columns + j] * input[j];
        out[i] = sum > 0 ? sum : 0;
    }
    return 0;
}

static int run_by_rows(void)
{
    int64_t length = n;
    return by_rows(&length, &out, n, columns, x, n, bias, columns, input);
}

static int run_by_maps(void)
{
    int64_t length = n;
    return by_maps(&length, &out, n, columns, x, n, bias, columns, input);
}

static int run_by_tabulate(void)
{
    int64_t length = n;
    return by_tabulate(&length, &out, n, columns, x, n, bias, columns, input);
}

static int run_by_index(void)
{
    int64_t length = n;
    return by_index(&length, &out, n * columns, x, n, bias, columns, input);
}

static const form forms[] = {
    {"by hand", hand},
    {"rows, functions", run_by_rows},
    {"maps behind each other", run_by_maps},
    {"tabulate", run_by_tabulate},
    {"index arithmetic", run_by_index},
};

FORMS
