#include "graph.h"
#include "gathered.h"

#define FAMILY "sums over neighbours"

static int32_t *x, result;

static void prepare(int64_t size)
{
    make_graph(size);
    x = malloc((size_t)nodes * sizeof *x);
    for (int64_t i = 0; i < nodes; i++)
        x[i] = (int32_t)(drawn() % 1000);
}

static double checked(void)
{
    return result;
}

static int hand(void)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < choices; i++)
        for (int64_t k = offsets[chosen[i]]; k < offsets[chosen[i] + 1]; k++)
            sum += x[neighbours[k]];
    result = sum;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                              \
        return entry(&result, nodes, x, nodes, offsets, neighbours, choices, chosen);              \
    }

RUN(by_flatten)
RUN(by_values)
RUN(by_sums)
RUN(by_folds)

static const form forms[] = {
    {"by hand", hand},
    {"a sum of what all neighbours have", run_by_flatten},
    {"a sum of all that neighbours have", run_by_values},
    {"a sum of sums", run_by_sums},
    {"a fold of folds", run_by_folds},
};

FORMS
