#include "forms.h"
#include "recursions.h"

#define FAMILY "recursions"

static float *x;
static int64_t n;
static int32_t count;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
}

static double checked(void)
{
    double result = count;
    count = 0;
    return result;
}

static int hand(void)
{
    int32_t low = 0;
    for (int64_t i = 0; i < n; i++)
        low += x[i] < 0.3f;
    count = low;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        return entry(&count, n, x);                                                                \
    }

RUN(by_fold)
RUN(by_recursion)
RUN(by_recursion_to_an_end)
RUN(by_recursion_downwards)
RUN(by_local_recursion)
RUN(by_while)

static const form forms[] = {
    {"by hand", hand},
    {"a fold", run_by_fold},
    {"recursion while an index is small", run_by_recursion},
    {"recursion until an index meets the end", run_by_recursion_to_an_end},
    {"recursion down to 0", run_by_recursion_downwards},
    {"recursion of a local function", run_by_local_recursion},
    {"rounds until an index meets the end", run_by_while},
};

FORMS
