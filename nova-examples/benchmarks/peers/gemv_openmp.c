/* alpha times a matrix times a vector, plus beta times another, with OpenMP: chunks of rows; where
 * rows are few and long, chunks of each row. */
#include "gemv.c"
#include "openmp.h"

/* One row, by all threads. */
static double long_product(const float *row, const float *x, int64_t n)
{
    chunks all = cut(n, CHEAP, BLOCK);
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        sum += product(row + chunk_begin(all, c), x + chunk_begin(all, c), chunk_length(all, c));
    return sum;
}

int peer_gemv_openmp(int64_t *result_len, float **result, int64_t A_dim0, int64_t A_dim1,
                     const float *A, int64_t x_len, const float *x, int64_t y_len, const float *y,
                     float alpha, float beta)
{
    (void)x_len, (void)y_len;
    int code = result_vector(result_len, (void **)result, A_dim0, sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
    if (A_dim0 < 4 * omp_get_max_threads()) {
        for (int64_t r = 0; r < A_dim0; r++)
            out[r] = (float)(alpha * long_product(A + r * A_dim1, x, A_dim1) + beta * y[r]);
        return 0;
    }
    chunks all = cut(A_dim0, CHEAP / (A_dim1 + 1) + 1, 1);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        for (int64_t r = chunk_begin(all, c); r < chunk_begin(all, c + 1); r++)
            out[r] = (float)(alpha * product(A + r * A_dim1, x, A_dim1) + beta * y[r]);
    return 0;
}
