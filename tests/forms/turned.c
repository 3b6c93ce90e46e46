#include "forms.h"
#include "turned.h"

#define FAMILY "turned matrices"

static float *a, *b;
static int64_t n;

/* A square matrix of as many elements. */
static void prepare(int64_t size)
{
    n = 1;
    while (4 * n * n <= size)
        n *= 2;
    a = random_floats(n * n);
    b = random_floats(n * n);
}

static double checked(void)
{
    double sum = 0;
    for (int64_t k = 0; k < n * n; k++)
        sum += b[k] * (double)(k % 1000);
    memset(b, 0, (size_t)(n * n) * sizeof *b);
    return sum;
}

/* In tiles of four lines by one. */
static int hand(void)
{
    enum { READ = 64, WRITTEN = 16 };
    for (int64_t first = 0; first < n; first += READ) {
        int64_t end = first + READ < n ? first + READ : n;
        for (int64_t begin = 0; begin < n; begin += WRITTEN) {
            int64_t last = begin + WRITTEN < n ? begin + WRITTEN : n;
            for (int64_t i = first; i < end; i++) {
                for (int64_t j = begin; j < last; j++)
                    b[i * n + j] = a[j * n + i];
            }
        }
    }
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t rows = n, columns = n;                                                             \
        float *result = b;                                                                         \
        return entry(&rows, &columns, &result, n, n, a);                                           \
    }

RUN(by_transpose)
RUN(by_tabulate)
RUN(by_columns)
RUN(by_rows)

static const form forms[] = {
    {"by hand, in tiles", hand},
    {"transpose", run_by_transpose},
    {"tabulate", run_by_tabulate},
    {"columns by a function", run_by_columns},
    {"rows of the turned matrix", run_by_rows},
};

FORMS
