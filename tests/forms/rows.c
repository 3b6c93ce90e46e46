#include "forms.h"
#include "rows.h"

#define FAMILY "rows of one length"

enum { LENGTH = 63 };

static float *x, *result;
static int64_t n, rows;

static void prepare(int64_t size)
{
    rows = size / LENGTH;
    n = rows * LENGTH;
    x = random_floats(n);
    result = random_floats(rows * (LENGTH + 1));
}

static double checked(void)
{
    double sum = sum_of(result, rows * (LENGTH + 1));
    memset(result, 0, (size_t)(rows * (LENGTH + 1)) * sizeof *result);
    return sum;
}

static int hand(void)
{
    for (int64_t i = 0; i < rows; i++) {
        float *restrict row = result + i * (LENGTH + 1);
        const float *part = x + i * LENGTH;
        float sum = 0;
        row[0] = 1;
        for (int k = 0; k < LENGTH; k++)
            row[k + 1] = sum += part[k];
    }
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t count = rows * (LENGTH + 1);                                                       \
        float *made = result;                                                                      \
        return entry(&count, &made, n, x);                                                         \
    }

RUN(by_scan)
RUN(by_scanl)
RUN(by_foldl)
RUN(by_nest)
RUN(by_index)

static const form forms[] = {
    {"by hand", hand},
    {"concat of a scan", run_by_scan},
    {"concat of a scanl", run_by_scanl},
    {"foldl of updates", run_by_foldl},
    {"maps behind each other", run_by_nest},
    {"indices of the vector", run_by_index},
};

FORMS
