#include "forms.h"
#include "choices.h"

#define FAMILY "choices"

static float *x;
static int64_t n;
static nova_tuple3_int_int_int counts;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
}

static double checked(void)
{
    double sum = counts.e0 + 3.0 * counts.e1 + 9.0 * counts.e2;
    memset(&counts, 0, sizeof counts);
    return sum;
}

/* Without a branch. */
static int hand(void)
{
    int32_t low = 0, middle = 0, high = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t is_low = x[i] < 0.3f, is_below = x[i] < 0.6f;
        low += is_low;
        middle += is_below & !is_low;
        high += !is_below & !is_low;
    }
    counts = (nova_tuple3_int_int_int){low, middle, high};
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        return entry(&counts, n, x);                                                               \
    }

RUN(by_conditions)
RUN(by_sums)
RUN(by_filters)
RUN(by_rounds)
RUN(by_while)

static const form forms[] = {
    {"by hand, without a branch", hand},
    {"a fold with conditions", run_by_conditions},
    {"a sum of choices", run_by_sums},
    {"lengths of filters", run_by_filters},
    {"rounds with conditions", run_by_rounds},
    {"rounds while an index is small", run_by_while},
};

FORMS
