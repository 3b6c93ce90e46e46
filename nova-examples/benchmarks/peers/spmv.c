/* Sparse matrix times vector in ELL format. Limited by gathering from x, which lies in the second
 * or third cache, then by the bandwidth of reading values and columns. Sixteen rows at a time, a
 * vector of partial sums each, added in one transposition. */
#include "peer.h"

static inline lanes sixteen_rows(const float *values, const int32_t *columns, int64_t width,
                                 const float *x)
{
    lanes parts[LANES] = {{0}};
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES)
#pragma GCC unroll 16
        for (int k = 0; k < LANES; k++) {
            int64_t at = k * width + c;
            prefetch(values + at, AHEAD);
            prefetch(columns + at, AHEAD);
            parts[k] += load(values + at) * gather(x, columns + at, 1);
        }
    if (c < width)
        for (int k = 0; k < LANES; k++) {
            int64_t at = k * width + c;
            int32_t indices[LANES] = {0};
            memcpy(indices, columns + at, (size_t)(width - c) * sizeof *indices);
            parts[k] += load_first(values + at, width - c) * gather(x, indices, 1);
        }
    return sums_of_each(parts);
}

/* Writes the sums of some rows. */
static void multiply_rows(float *out, const float *values, const int32_t *columns, int64_t rows,
                          int64_t width, const float *x)
{
    int64_t r = 0;
    for (; r + LANES <= rows; r += LANES)
        stream(out + r, sixteen_rows(values + r * width, columns + r * width, width, x));
    for (; r < rows; r++) {
        double sum = 0;
        for (int64_t i = r * width; i < (r + 1) * width; i++)
            sum += values[i] * x[columns[i]];
        out[r] = (float)sum;
    }
    stream_end();
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
