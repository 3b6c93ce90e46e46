/* The Euclidean norm. Limited by the bandwidth of reading. Squares are added as doubles, so that
 * none overflows: two conversions and two fused operations for each 64 bytes, less than the memory
 * needs; eight accumulators hide the latency. */
#include "peer.h"

/* The sum of n squares. */
static double sum_of_squares(const float *X, int64_t n)
{
    lanes_double s[8] = {{0}};
    int64_t i = 0;
    while (i + 128 <= n) {
        int64_t eighth = eighth_of(n - i);
        for (int64_t j = 0; j < eighth; j += LANES)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                const float *at = X + i + of_eighths(eighth, j, k);
                prefetch(at, AHEAD_OF_EIGHT);
                lanes_double low = load_double(at), high = load_double(at + 8);
                s[k] += low * low;
                s[k] += high * high;
            }
        i += 8 * eighth;
    }
    for (int k = 1; k < 8; k++)
        s[0] += s[k];
    double sum = lanes_double_sum(s[0]);
    for (; i < n; i++)
        sum += (double)X[i] * X[i];
    return sum;
}

int peer_norm(float *result, int64_t X_len, const float *X)
{
    *result = (float)sqrt(sum_of_squares(X, X_len));
    return 0;
}
