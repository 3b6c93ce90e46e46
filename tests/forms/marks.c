#include "graph.h"
#include "marks.h"

#define FAMILY "marks of neighbours"

static uint8_t *flags, *result;

static void prepare(int64_t size)
{
    make_graph(size);
    flags = calloc((size_t)nodes, sizeof *flags);
    result = malloc((size_t)nodes * sizeof *result);
}

static double checked(void)
{
    double sum = 0;
    for (int64_t i = 0; i < nodes; i++)
        sum += result[i] ? 1 + (double)(i % 7) : 0;
    return sum;
}

static int hand(void)
{
    memcpy(result, flags, (size_t)nodes * sizeof *result);
    for (int64_t i = 0; i < choices; i++)
        for (int64_t k = offsets[chosen[i]]; k < offsets[chosen[i] + 1]; k++)
            result[neighbours[k]] = 1;
    return 0;
}

#define RUN(entry)                                                                                 \
    static int run_##entry(void)                                                                   \
    {                                                                                              \
        int64_t count = nodes;                                                                     \
        return entry(&count, &result, nodes, flags, nodes, offsets, neighbours, choices, chosen);  \
    }

RUN(by_flatten)
RUN(by_filters)
RUN(by_rows)
RUN(by_updates)

static const form forms[] = {
    {"by hand", hand},
    {"a scatter of all neighbours", run_by_flatten},
    {"a scatter of what filters keep", run_by_filters},
    {"a fold of scatters", run_by_rows},
    {"a fold of updates", run_by_updates},
};

FORMS
