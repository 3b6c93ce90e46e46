#include "forms.h"
#include "kept.h"

#define FAMILY "sums of filtered elements"

static float *x, sum;
static int64_t n;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
}

static double checked(void)
{
    double found = sum;
    sum = -1;
    return found;
}

static int hand(void)
{
    float all = 0;
    for (int64_t i = 0; i < n; i++)
        all += x[i] > 0.5f ? x[i] : 0;
    sum = all;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        return entry(&sum, n, x);                                                                  \
    }

RUN(chosen)
RUN(filtered)
RUN(filtered_twice)
RUN(mapped)

static const form forms[] = {
    {"by hand", hand},
    {"a choice for each", run_chosen},
    {"reduce of a filter", run_filtered},
    {"reduce of two filters", run_filtered_twice},
    {"reduce of a map of a filter", run_mapped},
};

FORMS
