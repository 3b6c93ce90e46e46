/* Sparse matrix times vector in ELL format. Limited by gathering from x, which lies in the second
 * or third cache, then by the bandwidth of reading values and columns. One element at a time, in four
 * sums for each row: what is put together to vectors fills the processor's window with shuffles, so
 * that fewer loads are under way, and takes longer by two thirds. */
#include "peer.h"

/* Writes the sums of some rows. */
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) static void
multiply_rows(float *out, const float *values, const int32_t *columns, int64_t rows, int64_t width,
              const float *x)
{
    for (int64_t r = 0; r < rows; r++) {
        float s[4] = {0};
        int64_t i = r * width, end = i + width;
        for (; i + 16 <= end; i += 16) {
            prefetch(values + i, 2048);
            prefetch(columns + i, 2048);
#pragma GCC unroll 16
            for (int k = 0; k < 16; k++)
                s[k % 4] += values[i + k] * x[columns[i + k]];
        }
        for (; i < end; i++)
            s[i % 4] += values[i] * x[columns[i]];
        out[r] = (s[0] + s[1]) + (s[2] + s[3]);
    }
}

int peer_spmv(int64_t *result_len, float **result, int64_t values_dim0, int64_t values_dim1,
              const float *values, int64_t columns_dim0, int64_t columns_dim1,
              const int32_t *columns, int64_t x_len, const float *x)
{
    (void)columns_dim0, (void)columns_dim1, (void)x_len;
    int code = result_vector(result_len, (void **)result, values_dim0, sizeof **result);
    if (code != 0)
        return code;
    multiply_rows(*result, values, columns, values_dim0, values_dim1, x);
    return 0;
}
