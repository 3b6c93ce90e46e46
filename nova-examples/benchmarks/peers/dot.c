/* The dot product of two vectors. Limited by the bandwidth of reading. Eight accumulators of single
 * precision over blocks, which are added as doubles, so that the sum is right for any length. */
#include "peer.h"

/* The sum of n products. */
static double sum_of_products(const float *X, const float *Y, int64_t n)
{
    double sum = 0;
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        lanes s[8] = {{0}};
        for (int64_t j = 0; j < PAGE; j += 2 * LANES)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                int64_t at = i + of_quarters(PAGE, j, k);
                prefetch(X + at, AHEAD_OF_FOUR);
                prefetch(Y + at, AHEAD_OF_FOUR);
                s[k] += load(X + at) * load(Y + at);
            }
        sum += lanes_sum(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
    }
    for (; i < n; i++)
        sum += (double)X[i] * Y[i];
    return sum;
}

int peer_dot(float *result, int64_t X_len, const float *X, int64_t Y_len, const float *Y)
{
    (void)Y_len;
    *result = (float)sum_of_products(X, Y, X_len);
    return 0;
}
