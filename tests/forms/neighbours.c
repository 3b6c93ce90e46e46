#include "forms.h"
#include "neighbours.h"

#define FAMILY "neighbours"

static float *x, *out;
static int64_t n;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
    out = random_floats(n);
}

static double checked(void)
{
    double sum = sum_of(out, n);
    memset(out, 0, (size_t)n * sizeof *out);
    return sum;
}

static int hand(void)
{
    for (int64_t i = 1; i < n - 1; i++)
        out[i] = x[i - 1] + x[i + 1];
    out[0] = x[0] + x[n > 1];
    if (n > 1)
        out[n - 1] = x[n - 2] + x[n - 1];
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t count = n;                                                                         \
        float *result = out;                                                                       \
        return entry(&count, &result, n, x);                                                       \
    }

RUN(clamped)
RUN(one_side)
RUN(at_ends)
RUN(in_functions)

static const form forms[] = {
    {"by hand", hand},
    {"clamped on both sides", run_clamped},
    {"clamped on one side", run_one_side},
    {"conditions at the ends", run_at_ends},
    {"functions over a range", run_in_functions},
};

FORMS
