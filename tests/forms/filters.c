#include "forms.h"
#include "filters.h"

#define FAMILY "filters"

static float *x, *out;
static int64_t n, kept;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
    out = random_floats(n);
}

static double checked(void)
{
    double sum = sum_of(out, kept) + (double)kept;
    memset(out, 0, (size_t)n * sizeof *out);
    return sum;
}

/* Without a branch. */
static int hand(void)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        out[count] = x[i];
        count += (x[i] > 0.5f) & (x[i] < 0.7f);
    }
    kept = count;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        float *result = out;                                                                       \
        kept = n;                                                                                  \
        return entry(&kept, &result, n, x);                                                        \
    }

RUN(one_filter)
RUN(two_filters)
RUN(of_indices)
RUN(of_pairs)

static const form forms[] = {
    {"by hand, without a branch", hand}, {"one filter", run_one_filter},
    {"a filter of a filter", run_two_filters}, {"a filter of indices", run_of_indices},
    {"a filter of pairs", run_of_pairs},
};

FORMS
