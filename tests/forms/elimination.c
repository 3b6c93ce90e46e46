#include "forms.h"
#include "elimination.h"

#define FAMILY "elimination"

static double *a, *b;
static int64_t n;

/* As many rows as the cube root of the size allows for, twice. */
static void prepare(int64_t size)
{
    n = 1;
    while (8 * n * n * n <= size)
        n *= 2;
    n *= 2;
    a = malloc((size_t)(n * n) * sizeof *a);
    b = malloc((size_t)(n * n) * sizeof *b);
    float *numbers = random_floats(n * n);
    for (int64_t k = 0; k < n * n; k++)
        a[k] = numbers[k] + (k % (n + 1) == 0 ? (double)n : 0);
    free(numbers);
}

static double checked(void)
{
    double sum = 0;
    for (int64_t k = 0; k < n * n; k++)
        sum += b[k];
    memset(b, 0, (size_t)(n * n) * sizeof *b);
    return sum;
}

static int hand(void)
{
    memcpy(b, a, (size_t)(n * n) * sizeof *b);
    for (int64_t k = 0; k < n; k++) {
        const double *pivot = b + k * n;
        for (int64_t i = k + 1; i < n; i++) {
            double *restrict row = b + i * n;
            double factor = row[k] / pivot[k];
            row[k] = factor;
            for (int64_t j = k + 1; j < n; j++)
                row[j] -= factor * pivot[j];
        }
    }
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t rows = n, columns = n;                                                             \
        double *result = b;                                                                        \
        return entry(&rows, &columns, &result, n, n, a);                                           \
    }

RUN(by_blocks)
RUN(by_slices)
RUN(of_the_whole)

static const form forms[] = {
    {"three loops by hand", hand},
    {"blocks by indices", run_by_blocks},
    {"blocks by slices", run_by_slices},
    {"the whole in each round", run_of_the_whole},
};

FORMS
