/* The sum of each row of irregular rows with OpenMP: shared by elements, a long row among several
 * threads. */
#include "sumrows.c"
#include "rows_openmp.h"

typedef struct {
    float *out;
    const int64_t *offsets;
    const float *elements;
} task;

static void some(const void *data, int64_t begin, int64_t end)
{
    const task *t = data;
    sum_rows(t->out, t->offsets, t->elements, begin, end);
}

static double part(const void *data, int64_t begin, int64_t end)
{
    const task *t = data;
    return sum_of_long(t->elements + begin, end - begin);
}

int peer_sumrows_openmp(int64_t *result_len, float **result, int64_t rows_len,
                        const int64_t *rows_seg1, const float *rows)
{
    int code = result_vector(result_len, (void **)result, rows_len, sizeof **result);
    if (code != 0)
        return code;
    task t = {*result, rows_seg1, rows};
    irregular all = {rows_seg1, rows_len, some, part, &t, *result};
    return sum_irregular(&all);
}
