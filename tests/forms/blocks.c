#include "forms.h"
#include "blocks.h"

#define FAMILY "blocks in rounds"

static float *x, *y;
static int64_t n;
static int32_t length;

/* Sixteen blocks, and as many between them. */
static void prepare(int64_t size)
{
    length = (int32_t)(size / 16);
    n = (int64_t)length * 16;
    x = random_floats(n);
    y = random_floats(n);
}

static double checked(void)
{
    double sum = sum_of(y, n);
    memset(y, 0, (size_t)n * sizeof *y);
    return sum;
}

static int hand(void)
{
    memcpy(y, x, (size_t)n * sizeof *y);
    for (int64_t k = 0; k < 31; k++) {
        float *block = y + k * (length / 2);
        for (int64_t i = 0; i < length; i++)
            block[i] += 1;
    }
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t count = n;                                                                         \
        float *result = y;                                                                         \
        return entry(&count, &result, n, x, length);                                               \
    }

RUN(by_slices)
RUN(by_indices)
RUN(by_scatter)
RUN(one_by_one)

static const form forms[] = {
    {"by hand", hand},
    {"update_slice of a map", run_by_slices},
    {"update_slice of a tabulate", run_by_indices},
    {"scatter to a range", run_by_scatter},
    {"update of elements", run_one_by_one},
};

FORMS
