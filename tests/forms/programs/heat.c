#include "../forms.h"
#include "heat.h"

#define FAMILY "heat in a plate"

static int64_t n, m;
static float *x, *out;

/* A square matrix of so many elements. */
static void prepare(int64_t size)
{
    n = m = (int64_t)sqrt((double)size);
    x = random_floats(n * m);
    out = malloc((size_t)(n * m) * sizeof *out + 1);
}

static double checked(void)
{
    double found = sum_of(out, n * m);
    memset(out, 0, (size_t)(n * m) * sizeof *out);
    return found;
}

/* One step: the rows above and below, and the columns beside, are those of the edges beyond these. */
static void step(const float *restrict from, float *restrict to)
{
    for (int64_t i = 0; i < n; i++) {
        const float *row = from + i * m;
        const float *above = i > 0 ? row - m : row, *below = i + 1 < n ? row + m : row;
        for (int64_t j = 0; j < m; j++) {
            int64_t west = j > 0 ? j - 1 : 0, east = j + 1 < m ? j + 1 : j;
            if (j > 0 && j + 1 < m)
                continue;
            to[i * m + j] =
                row[j] + 0.1f * (above[j] + below[j] + row[west] + row[east] - 4 * row[j]);
        }
        for (int64_t j = 1; j < m - 1; j++)
            to[i * m + j] =
                row[j] + 0.1f * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
    }
}

static int hand(void)
{
    static float *beside;
    if (beside == NULL)
        beside = malloc((size_t)(n * m) * sizeof *beside + 1);
    step(x, beside);
    step(beside, out);
    step(out, beside);
    step(beside, out);
    return 0;
}

static int run_by_tabulate(void)
{
    int64_t r = n, c = m;
    return by_tabulate(&r, &c, &out, n, m, x);
}

static int run_by_maps(void)
{
    int64_t r = n, c = m;
    return by_maps(&r, &c, &out, n, m, x);
}

static int run_by_rows(void)
{
    int64_t r = n, c = m;
    return by_rows(&r, &c, &out, n, m, x);
}

static int run_by_index(void)
{
    int64_t length = n * m;
    return by_index(&length, &out, (int32_t)m, n * m, x);
}

static const form forms[] = {
    {"by hand", hand},
    {"tabulate, max and min", run_by_tabulate},
    {"maps of maps, conditions, a function", run_by_maps},
    {"rows, double clamps, a function", run_by_rows},
    {"index arithmetic, functions", run_by_index},
};

FORMS
