/* alpha times a matrix times a vector, plus beta times another. Limited by the bandwidth of reading
 * the matrix: one stream, row after row, while x stays in the first-level cache. Eight accumulators
 * of single precision over blocks, which are added as doubles. Without prefetch four rows at a time, so that
 * x is read a quarter as often: it fills that cache if it has 8192 elements. */
#include "peer.h"

static inline double product(const float *row, const float *x, int64_t n)
{
    double sum = 0;
    int64_t i = 0;
    while (i + 128 <= n) {
        lanes s[8] = {{0}};
        int64_t quarter = quarter_of(n - i);
        for (int64_t j = 0; j < quarter; j += 2 * LANES)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                int64_t at = i + of_quarters(quarter, j, k);
                prefetch(row + at, AHEAD_OF_FOUR);
                s[k] += load(row + at) * load(x + at);
            }
        i += 4 * quarter;
        sum += lanes_sum(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
    }
    for (; i < n; i++)
        sum += (double)row[i] * x[i];
    return sum;
}

#ifdef NO_PREFETCH
/* The same for four rows, n elements apart. */
static inline void four_products(double *sums, const float *rows, const float *x, int64_t n)
{
    enum { BLOCK = 64 * LANES };
    for (int k = 0; k < 4; k++)
        sums[k] = 0;
    int64_t whole = n - n % LANES;
    for (int64_t block = 0; block < whole; block += BLOCK) {
        int64_t end = whole - block < BLOCK ? whole : block + BLOCK;
        lanes s[4] = {{0}};
        for (int64_t j = block; j < end; j += LANES) {
            lanes at = load(x + j);
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++)
                s[k] += load(rows + k * n + j) * at;
        }
        for (int k = 0; k < 4; k++)
            sums[k] += lanes_sum(s[k]);
    }
    for (int k = 0; k < 4; k++)
        for (int64_t j = whole; j < n; j++)
            sums[k] += (double)rows[k * n + j] * x[j];
}
#endif

int peer_gemv(int64_t *result_len, float **result, int64_t A_dim0, int64_t A_dim1, const float *A,
              int64_t x_len, const float *x, int64_t y_len, const float *y, float alpha, float beta)
{
    (void)x_len, (void)y_len;
    int code = result_vector(result_len, (void **)result, A_dim0, sizeof **result);
    if (code != 0)
        return code;
    int64_t r = 0;
#ifdef NO_PREFETCH
    for (; r + 4 <= A_dim0; r += 4) {
        double sums[4];
        four_products(sums, A + r * A_dim1, x, A_dim1);
        for (int k = 0; k < 4; k++)
            (*result)[r + k] = (float)(alpha * sums[k] + beta * y[r + k]);
    }
#endif
    for (; r < A_dim0; r++)
        (*result)[r] = (float)(alpha * product(A + r * A_dim1, x, A_dim1) + beta * y[r]);
    return 0;
}
