/* Sparse matrix times vector with irregular rows with OpenMP: shared by elements, a long row among
 * several threads. */
#include "spmv_csr.c"
#include "rows_openmp.h"

typedef struct {
    float *out;
    const int64_t *offsets;
    const entry *entries;
    const float *x;
} task;

static void some(const void *data, int64_t begin, int64_t end)
{
    const task *t = data;
    sum_rows(t->out, t->offsets, t->entries, t->x, begin, end);
}

static double part(const void *data, int64_t begin, int64_t end)
{
    const task *t = data;
    return one_row(t->entries + begin, end - begin, t->x);
}

int peer_spmv_csr_openmp(int64_t *result_len, float **result, int64_t rows_len,
                         const int64_t *rows_seg1, const entry *rows, int64_t x_len, const float *x)
{
    (void)x_len;
    int code = result_vector(result_len, (void **)result, rows_len, sizeof **result);
    if (code != 0)
        return code;
    task t = {*result, rows_seg1, rows, x};
    irregular all = {rows_seg1, rows_len, some, part, &t, *result};
    return sum_irregular(&all);
}
