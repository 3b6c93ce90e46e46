/* The dot product of two vectors. Limited by the bandwidth of reading. Eight accumulators of single
 * precision over blocks, which are added as doubles, so that the sum is right for any length. */
#include "peer.h"

int peer_dot(float *result, int64_t X_len, const float *X, int64_t Y_len, const float *Y)
{
    (void)Y_len;
    double sum = 0;
    int64_t i = 0;
    for (; i + BLOCK <= X_len; i += BLOCK) {
        lanes s[8] = {{0}};
        for (int64_t j = i; j < i + BLOCK; j += 128)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                prefetch(X + j + 16 * k, AHEAD);
                prefetch(Y + j + 16 * k, AHEAD);
                s[k] += load(X + j + 16 * k) * load(Y + j + 16 * k);
            }
        sum += lanes_sum(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
    }
    for (; i < X_len; i++)
        sum += (double)X[i] * Y[i];
    *result = (float)sum;
    return 0;
}
