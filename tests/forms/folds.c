#include "forms.h"
#include "folds.h"

#define FAMILY "folds of filtered elements"

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

/* Chosen without a branch. */
static int hand(void)
{
    float state = 0;
    for (int64_t i = 0; i < n; i++) {
        float next = state * 0.5f + x[i];
        state = x[i] > 0.5f ? next : state;
    }
    sum = state;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        return entry(&sum, n, x);                                                                  \
    }

RUN(folded)
RUN(folded_if)
RUN(of_indices)
RUN(iterated)

static const form forms[] = {
    {"by hand", hand},
    {"foldl of a filter", run_folded},
    {"foldl with a condition", run_folded_if},
    {"foldl of kept indices", run_of_indices},
    {"iterate", run_iterated},
};

FORMS
