#include "forms.h"
#include "ragged.h"

#include <malloc.h>

#define FAMILY "rows of varying length"

enum { LONGEST = 31 };

static float *x, *result;
static int64_t *offsets, *result_offsets;
static int64_t rows;

static void prepare(int64_t size)
{
    /* Results are made anew each time: their pages stay. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    rows = size / (LONGEST / 2);
    offsets = malloc(((size_t)rows + 1) * sizeof *offsets);
    offsets[0] = 0;
    uint32_t state = 7;
    for (int64_t i = 0; i < rows; i++) {
        state = state * 1664525u + 1013904223u;
        offsets[i + 1] = offsets[i] + (int64_t)((state >> 16) % LONGEST);
    }
    x = random_floats(offsets[rows]);
}

static double checked(void)
{
    double sum = sum_of(result, offsets[rows]);
    for (int64_t i = 0; i <= rows; i++)
        sum += (double)result_offsets[i] / (double)(rows + 1);
    return sum;
}

/* Frees the result of the form before. */
static void release(void)
{
    free(result);
    free(result_offsets);
    result = NULL;
    result_offsets = NULL;
}

static int hand(void)
{
    release();
    int64_t n = offsets[rows];
    result = malloc((size_t)n * sizeof *result);
    result_offsets = malloc(((size_t)rows + 1) * sizeof *result_offsets);
    memcpy(result_offsets, offsets, ((size_t)rows + 1) * sizeof *result_offsets);
    for (int64_t i = 0; i < n; i++)
        result[i] = 1.0f + 3.0f * x[i];
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        release();                                                                                 \
        int64_t count = 0;                                                                         \
        return entry(&count, &result_offsets, &result, rows, offsets, x);                          \
    }

RUN(by_maps)
RUN(by_lambda)
RUN(behind_each_other)
RUN(by_indices)

static const form forms[] = {
    {"by hand, without rows", hand},
    {"a map of maps", run_by_maps},
    {"a map of functions of rows", run_by_lambda},
    {"maps of maps behind each other", run_behind_each_other},
    {"indices of rows", run_by_indices},
};

FORMS
