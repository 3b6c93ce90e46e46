/* Sparse matrix times vector in ELL format with OpenMP: chunks of rows. */
#include "spmv.c"
#include "openmp.h"

int peer_spmv_openmp(int64_t *result_len, float **result, int64_t values_dim0, int64_t values_dim1,
                     const float *values, int64_t columns_dim0, int64_t columns_dim1,
                     const int32_t *columns, int64_t x_len, const float *x)
{
    (void)columns_dim0, (void)columns_dim1, (void)x_len;
    int code = result_vector(result_len, (void **)result, values_dim0, sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
    int64_t width = values_dim1;
    chunks all = cut(values_dim0, CHEAP / 8 / (width + 1) + 1, LANES);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t r = chunk_begin(all, c);
        multiply_rows(out + r, values + r * width, columns + r * width, chunk_length(all, c), width,
                      x);
    }
    return 0;
}
