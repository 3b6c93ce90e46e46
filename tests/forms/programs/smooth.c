#include "../forms.h"
#include "smooth.h"

#define FAMILY "a smoothed signal"

static int64_t n, m;
static float *x, *out;

static void prepare(int64_t size)
{
    n = size;
    m = 1;
    x = random_floats(n);
    out = malloc((size_t)n * sizeof *out + 1);
}

static double checked(void)
{
    double found = sum_of(out, n * m);
    memset(out, 0, (size_t)(n * m) * sizeof *out);
    return found;
}

static inline float at(int64_t i)
{
    return x[i < 0 ? 0 : i >= n ? n - 1 : i];
}

static inline float smoothed(float a, float b, float c, float d, float e)
{
    return 0.1f * (a + e) + 0.2f * (b + d) + 0.4f * c;
}

static int hand(void)
{
    for (int64_t i = 0; i < n; i++)
        if (i < 2 || i >= n - 2)
            out[i] = smoothed(at(i - 2), at(i - 1), at(i), at(i + 1), at(i + 2));
        else
            i = n - 3;
    for (int64_t i = 2; i < n - 2; i++)
        out[i] = smoothed(x[i - 2], x[i - 1], x[i], x[i + 1], x[i + 2]);
    return 0;
}

static int run_by_tabulate(void)
{
    int64_t length = n;
    return by_tabulate(&length, &out, n, x);
}

static int run_by_function(void)
{
    int64_t length = n;
    return by_function(&length, &out, n, x);
}

static int run_by_padding(void)
{
    int64_t length = n;
    return by_padding(&length, &out, n, x);
}

static int run_by_weights(void)
{
    int64_t length = n;
    return by_weights(&length, &out, n, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"tabulate, max and min", run_by_tabulate},
    {"a function that clamps", run_by_function},
    {"a longer vector", run_by_padding},
    {"weights, conditions", run_by_weights},
};

FORMS
