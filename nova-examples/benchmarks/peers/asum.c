/* The sum of absolute values. Limited by the bandwidth of reading. Eight accumulators of single
 * precision over blocks, which are added as doubles, so that the sum is right for any length. */
#include "peer.h"

/* The sum of n absolute values. */
static double sum_of_magnitudes(const float *X, int64_t n)
{
    double sum = 0;
    int64_t i = 0;
    while (i + 128 <= n) {
        int64_t eighth = eighth_of(n - i);
        for (int64_t j = 0; j < eighth;) {
            lanes s[8] = {{0}};
            int64_t end = j + BLOCK / 8 < eighth ? j + BLOCK / 8 : eighth;
            for (; j < end; j += LANES)
#pragma GCC unroll 8
                for (int k = 0; k < 8; k++) {
                    const float *at = X + i + of_eighths(eighth, j, k);
                    prefetch(at, AHEAD_OF_EIGHT);
                    s[k] += lanes_abs(load(at));
                }
            sum += lanes_sum(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
        }
        i += 8 * eighth;
    }
    for (; i < n; i++)
        sum += fabsf(X[i]);
    return sum;
}

int peer_asum(float *result, int64_t X_len, const float *X)
{
    *result = (float)sum_of_magnitudes(X, X_len);
    return 0;
}
