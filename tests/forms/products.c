#include "forms.h"
#include "products.h"

#define FAMILY "products of matrices"

static float *a, *b, *c;
static int64_t n;

/* As many rows as the cube root of the size allows for. */
static void prepare(int64_t size)
{
    n = 1;
    while (8 * n * n * n <= size)
        n *= 2;
    n *= 4;
    a = random_floats(n * n);
    b = random_floats(n * n);
    c = random_floats(n * n);
}

static double checked(void)
{
    double sum = sum_of(c, n * n);
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    return sum;
}

/* Three loops, the innermost over a row of the result. */
static int hand(void)
{
    for (int64_t i = 0; i < n; i++) {
        float *restrict row = c + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = 0;
        for (int64_t l = 0; l < n; l++) {
            for (int64_t j = 0; j < n; j++)
                row[j] += a[i * n + l] * b[l * n + j];
        }
    }
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t rows = n, columns = n;                                                             \
        float *result = c;                                                                         \
        return entry(&rows, &columns, &result, n, n, a, n, n, b);                                  \
    }

RUN(by_tabulate)
RUN(by_range)
RUN(in_functions)
RUN(by_columns)

static const form forms[] = {
    {"three loops by hand", hand},
    {"tabulate", run_by_tabulate},
    {"map over a range", run_by_range},
    {"functions", run_in_functions},
    {"a transposed operand", run_by_columns},
};

FORMS
