#include "forms.h"
#include "guards.h"

#define FAMILY "guards"

static float *x, *means;
static int64_t n;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
    means = random_floats(n);
}

static double checked(void)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += means[i] * (double)(i % 17);
    memset(means, 0, (size_t)n * sizeof *means);
    return sum;
}

static int hand(void)
{
    const float *restrict from = x;
    float *restrict to = means;
    to[0] = from[0];
    for (int64_t i = 1; i < n - 1; i++)
        to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    to[n - 1] = from[n - 1];
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t length = n;                                                                        \
        return entry(&length, &means, n, x);                                                       \
    }

RUN(by_conditionals)
RUN(by_or)
RUN(by_and)
RUN(by_not)
RUN(by_function)

static const form forms[] = {
    {"by hand", hand},
    {"two conditionals", run_by_conditionals},
    {"or", run_by_or},
    {"and", run_by_and},
    {"not of or, imap", run_by_not},
    {"and of functions", run_by_function},
};

FORMS
