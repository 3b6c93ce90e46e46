#include "forms.h"
#include "moved.h"

#define FAMILY "elements moved"

static int32_t *places;
static float *a, *b;
static int64_t n;

/* Places in an order that is the same in each run. */
static void prepare(int64_t size)
{
    n = size;
    places = malloc((size_t)n * sizeof *places);
    a = random_floats(n);
    b = random_floats(n);
    uint64_t state = 1;
    for (int64_t k = 0; k < n; k++)
        places[k] = (int32_t)k;
    for (int64_t k = n - 1; k > 0; k--) {
        state = state * UINT64_C(6364136223846793005) + 1;
        int64_t other = (int64_t)((state >> 33) % (uint64_t)(k + 1));
        int32_t place = places[k];
        places[k] = places[other];
        places[other] = place;
    }
}

static double checked(void)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += b[k] * (double)(k % 1000);
    memset(b, 0, (size_t)n * sizeof *b);
    return sum;
}

/* Each place is checked off. */
static int hand(void)
{
    uint8_t *taken = calloc((size_t)n, 1);
    for (int64_t k = 0; k < n; k++) {
        int64_t place = places[k];
        if ((uint64_t)place >= (uint64_t)n || taken[place]) {
            free(taken);
            return 1;
        }
        taken[place] = 1;
        b[place] = a[k];
    }
    free(taken);
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                             \
        int64_t length = n;                                                                        \
        float *result = b;                                                                         \
        return entry(&length, &result, n, places, n, a);                                           \
    }

RUN(by_permute)
RUN(by_scatter)
RUN(by_updates)
RUN(by_pairs)

static const form forms[] = {
    {"by hand, each place checked off", hand},
    {"permute", run_by_permute},
    {"scatter", run_by_scatter},
    {"a fold of updates", run_by_updates},
    {"a fold of pairs", run_by_pairs},
};

FORMS
