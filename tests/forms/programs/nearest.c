#include "../forms.h"
#include "nearest.h"

#define FAMILY "nearest centres"

enum { WIDTH = 8, CENTRES = 16 };
static int64_t n;
static float *x, *centres;
static int32_t *out;

/* Points of so many numbers together. */
static void prepare(int64_t size)
{
    n = size / WIDTH;
    x = random_floats(n * WIDTH);
    centres = random_floats(CENTRES * WIDTH + 1) + 1;
    out = malloc((size_t)n * sizeof *out + 1);
}

static double checked(void)
{
    double found = 0;
    for (int64_t i = 0; i < n; i++)
        found += out[i] * (double)(i % 7 + 1);
    memset(out, 255, (size_t)(n) * sizeof *out);
    return found;
}

static int hand(void)
{
    for (int64_t i = 0; i < n; i++) {
        float least = 1e30f;
        int32_t at = 0;
        for (int32_t k = 0; k < CENTRES; k++) {
            float sum = 0;
            for (int l = 0; l < WIDTH; l++) {
                float d = x[i * WIDTH + l] - centres[k * WIDTH + l];
                sum += d * d;
            }
            at = sum < least ? k : at;
            least = sum < least ? sum : least;
        }
        out[i] = at;
    }
    return 0;
}

static int run_by_rows(void)
{
    int64_t length = n;
    return by_rows(&length, &out, n, WIDTH, x, CENTRES, WIDTH, centres);
}

static int run_by_fold(void)
{
    int64_t length = n;
    return by_fold(&length, &out, n, WIDTH, x, CENTRES, WIDTH, centres);
}

static int run_by_tabulate(void)
{
    int64_t length = n;
    return by_tabulate(&length, &out, n, WIDTH, x, CENTRES, WIDTH, centres);
}

static int run_by_index(void)
{
    int64_t length = n;
    return by_index(&length, &out, WIDTH, n * WIDTH, x, CENTRES * WIDTH, centres);
}

static const form forms[] = {
    {"by hand", hand},
    {"rows, reduce of pairs, functions", run_by_rows},
    {"rows, a fold", run_by_fold},
    {"tabulate, a fold, inline", run_by_tabulate},
    {"index arithmetic, reduce of pairs", run_by_index},
};

FORMS
