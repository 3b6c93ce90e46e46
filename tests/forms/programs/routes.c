#include "../forms.h"
#include "routes.h"

#define FAMILY "shortest ways"

static int64_t n;
static int32_t *x, *out;

/* A graph of so few nodes that there are as many steps. */
static void prepare(int64_t size)
{
    n = (int64_t)(2 * cbrt((double)size));
    x = malloc((size_t)(n * n) * sizeof *x + 1);
    float *drawn = random_floats(n * n);
    for (int64_t i = 0; i < n * n; i++)
        x[i] = 1 + (int32_t)(drawn[i] * 1000);
    free(drawn);
    out = malloc((size_t)(n * n) * sizeof *out + 1);
}

static double checked(void)
{
    double found = 0;
    for (int64_t i = 0; i < n * n; i++)
        found += out[i] * (double)(i % 7 + 1);
    memset(out, 255, (size_t)(n * n) * sizeof *out);
    return found;
}

static int hand(void)
{
    memcpy(out, x, (size_t)(n * n) * sizeof *out);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            int32_t there = out[i * n + k];
            const int32_t *through = out + k * n;
            int32_t *row = out + i * n;
            if (i == k)
                continue;
            for (int64_t j = 0; j < n; j++)
                row[j] = row[j] < there + through[j] ? row[j] : there + through[j];
        }
    return 0;
}

static int run_by_tabulate(void)
{
    int64_t r = n, c = n;
    return by_tabulate(&r, &c, &out, n, n, x);
}

static int run_by_maps(void)
{
    int64_t r = n, c = n;
    return by_maps(&r, &c, &out, n, n, x);
}

static int run_by_rows(void)
{
    int64_t r = n, c = n;
    return by_rows(&r, &c, &out, n, n, x);
}

static int run_by_index(void)
{
    int64_t length = n * n;
    return by_index(&length, &out, (int32_t)n, n * n, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"tabulate", run_by_tabulate},
    {"maps of maps, a function", run_by_maps},
    {"rows", run_by_rows},
    {"index arithmetic", run_by_index},
};

FORMS
