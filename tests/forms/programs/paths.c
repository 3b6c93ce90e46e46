#include "../forms.h"
#include "paths.h"

#define FAMILY "least paths"

static int64_t n, m;
static int32_t *x, *out;

/* So many numbers in a hundred rows or fewer. */
static void prepare(int64_t size)
{
    n = size < 100 ? 1 : 100;
    m = size / n;
    x = malloc((size_t)(n * m) * sizeof *x + 1);
    float *drawn = random_floats(n * m);
    for (int64_t i = 0; i < n * m; i++)
        x[i] = (int32_t)(drawn[i] * 10);
    free(drawn);
    out = malloc((size_t)m * sizeof *out + 1);
}

static double checked(void)
{
    double found = 0;
    for (int64_t i = 0; i < m; i++)
        found += out[i] * (double)(i % 7 + 1);
    memset(out, 255, (size_t)(m) * sizeof *out);
    return found;
}

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int hand(void)
{
    static int32_t *kept;
    if (kept == NULL)
        kept = malloc(2 * (size_t)m * sizeof *kept + 1);
    int32_t *best = kept, *next = kept + m;
    memcpy(best, x, (size_t)m * sizeof *best);
    for (int64_t i = 1; i < n; i++) {
        const int32_t *row = x + i * m;
        next[0] = row[0] + least(best[0], best[m > 1 ? 1 : 0]);
        for (int64_t j = 1; j < m - 1; j++)
            next[j] = row[j] + least(best[j - 1], least(best[j], best[j + 1]));
        if (m > 1)
            next[m - 1] = row[m - 1] + least(best[m - 2], best[m - 1]);
        int32_t *swapped = best;
        best = next;
        next = swapped;
    }
    memcpy(out, best, (size_t)m * sizeof *best);
    return 0;
}

static int run_by_rows(void)
{
    int64_t length = m;
    return by_rows(&length, &out, n, m, x);
}

static int run_by_tabulate(void)
{
    int64_t length = m;
    return by_tabulate(&length, &out, n, m, x);
}

static int run_by_branches(void)
{
    int64_t length = m;
    return by_branches(&length, &out, n, m, x);
}

static int run_by_index(void)
{
    int64_t length = m;
    return by_index(&length, &out, (int32_t)m, n * m, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"rows, max and min, a function", run_by_rows},
    {"tabulate, conditions", run_by_tabulate},
    {"branches", run_by_branches},
    {"index arithmetic, double clamps", run_by_index},
};

FORMS
