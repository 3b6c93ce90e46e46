#include "forms.h"
#include "functions.h"

#define FAMILY "functions"

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

static inline float ratio(float v)
{
    float above = 1 + v * (0.5f + v * (0.25f + v * (0.125f + v * (0.0625f + v * 0.03125f))));
    float below = 2 + v * (0.4f + v * (0.2f + v * (0.1f + v * (0.05f + v * 0.025f))));
    return above / below;
}

static inline float bounded(float v)
{
    float r = ratio(v), s = ratio(v * v);
    float least = r < s - r ? r : s - r;
    return r * s > least ? r * s : least;
}

static inline float both(float v, float w)
{
    float p = bounded(v), q = bounded(w), r = bounded(v * w);
    return p * q + r * (p - q);
}

static int hand(void)
{
    float all = 0;
    for (int64_t i = 0; i < n; i++)
        all += both(x[i], 0.5f) - both(0.25f, x[i]);
    sum = all;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        return entry(&sum, n, x);                                                                  \
    }

RUN(called)
RUN(by_index)
RUN(let_bound)
RUN(in_two_maps)

static const form forms[] = {
    {"by hand", hand},
    {"called in a map", run_called},
    {"called in a tabulate", run_by_index},
    {"bound by let", run_let_bound},
    {"called in two maps", run_in_two_maps},
};

FORMS
