/* The sum of absolute values. Limited by the bandwidth of reading. Eight accumulators of single
 * precision over blocks, which are added as doubles, so that the sum is right for any length. */
#include "peer.h"

/* The sum of n absolute values. */
static double sum_of_magnitudes(const float *X, int64_t n)
{
    double sum = 0;
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        lanes s[8] = {{0}};
        for (int64_t j = i; j < i + PAGE; j += 2 * LANES)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                prefetch(X + j + in_turn(PAGE, k), PAGES);
                s[k] += lanes_abs(load(X + j + in_turn(PAGE, k)));
            }
        sum += lanes_sum(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
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
