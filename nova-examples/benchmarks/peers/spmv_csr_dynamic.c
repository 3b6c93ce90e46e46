/* Sparse matrix times vector with OpenMP as it is most often written: rows handed out dynamically,
 * some hundred at a time; a long row is one thread's. */
#include "spmv_csr.c"
#include <omp.h>

int peer_spmv_csr_dynamic(int64_t *result_len, float **result, int64_t rows_len,
                          const int64_t *rows_seg1, const entry *rows, int64_t x_len,
                          const float *x)
{
    (void)x_len;
    int code = result_vector(result_len, (void **)result, rows_len, sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
#pragma omp parallel for schedule(dynamic)
    for (int64_t r = 0; r < rows_len; r += 8 * ROWS) {
        int64_t end = r + 8 * ROWS;
        sum_rows(out, rows_seg1, rows, x, r, end < rows_len ? end : rows_len);
    }
    return 0;
}
