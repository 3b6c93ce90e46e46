#include "forms.h"
#include "element.h"

#define FAMILY "an element in each round"

static double *x, *out;
static int32_t *at;
static int64_t n, rounds;

static void prepare(int64_t size)
{
    n = size / 64 + 1;
    rounds = size / 16;
    float *numbers = random_floats(n);
    x = malloc((size_t)n * sizeof *x);
    out = malloc((size_t)n * sizeof *out);
    at = malloc((size_t)rounds * sizeof *at);
    for (int64_t k = 0; k < n; k++)
        x[k] = numbers[k];
    for (int64_t k = 0; k < rounds; k++)
        at[k] = (int32_t)(k * 7919 % n);
    free(numbers);
}

static double checked(void)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += out[k];
    memset(out, 0, (size_t)n * sizeof *out);
    return sum;
}

static int hand(void)
{
    memcpy(out, x, (size_t)n * sizeof *out);
    for (int64_t k = 0; k < rounds; k++)
        out[at[k]] = 1.0 + 0.5 * out[at[k]];
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        double *result = out;                                                                      \
        int64_t count = n;                                                                         \
        return entry(&count, &result, n, x, rounds, at);                                           \
    }

RUN(by_update)
RUN(by_tabulate)
RUN(by_map)
RUN(by_scatter)

static const form forms[] = {
    {"by hand", hand},
    {"update", run_by_update},
    {"a tabulate with a condition", run_by_tabulate},
    {"a map with a condition", run_by_map},
    {"scatter of one", run_by_scatter},
};

FORMS
