#include "forms.h"
#include "windows.h"

#define FAMILY "windows"

enum { WIDTH = 9 };

static float *x, *weights, *sums;
static int64_t n, width = WIDTH;

static void prepare(int64_t size)
{
    n = size;
    x = random_floats(n);
    weights = random_floats(WIDTH);
    sums = random_floats(n);
}

static double checked(void)
{
    double sum = 0;
    for (int64_t i = 0; i <= n - width; i++)
        sum += sums[i] * (double)(i % 17);
    memset(sums, 0, (size_t)n * sizeof *sums);
    return sum;
}

/* A tap at a time over a block of results, since the width is known only when it runs. */
static int hand(void)
{
    const float *restrict from = x;
    float *restrict to = sums;
    int64_t count = n - width + 1;
    enum { BLOCK = 256 };
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t length = count - first < BLOCK ? count - first : BLOCK;
        float block[BLOCK];
        for (int64_t k = 0; k < length; k++)
            block[k] = 0;
        for (int64_t j = 0; j < width; j++)
            for (int64_t k = 0; k < length; k++)
                block[k] += weights[j] * from[first + k + j];
        memcpy(to + first, block, (size_t)length * sizeof *to);
    }
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t length = n - width + 1;                                                            \
        return entry(&length, &sums, n, x, width, weights);                                        \
    }

RUN(by_imap)
RUN(by_slices)
RUN(by_range)
RUN(by_fold)

static const form forms[] = {
    {"by hand", hand},
    {"reduce of an imap", run_by_imap},
    {"reduce of a slice", run_by_slices},
    {"a map over a range", run_by_range},
    {"a fold", run_by_fold},
};

FORMS
