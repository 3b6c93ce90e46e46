/* A vector times a number. Limited by the bandwidth of copying: the result is streamed, so that its
 * lines are not read before they are written. Four lines are read before four are written: a write
 * and a read at the same place of two pages look alike to the processor, and the read would wait. */
#include "peer.h"

/* Writes n products. */
static void scale(float *out, float a, const float *X, int64_t n)
{
    int64_t i = 0;
    for (; i < n && ((uintptr_t)(out + i) & 63) != 0; i++)
        out[i] = a * X[i];
    for (; IN_TURN && i + BLOCK <= n; i += BLOCK)
        for (int64_t j = i; j < i + PAGE; j += LANES) {
            lanes v[4];
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
                prefetch(X + j + PAGE * k, AHEAD_OF_FOUR);
                v[k] = a * load(X + j + PAGE * k);
            }
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++)
                stream(out + j + PAGE * k, v[k]);
        }
    for (; i + 64 <= n; i += 64)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            prefetch(X + i + 16 * k, AHEAD);
            stream(out + i + 16 * k, a * load(X + i + 16 * k));
        }
    for (; i < n; i++)
        out[i] = a * X[i];
    stream_end();
}

int peer_scal(int64_t *result_len, float **result, float a, int64_t X_len, const float *X)
{
    int code = result_vector(result_len, (void **)result, X_len, sizeof **result);
    if (code != 0)
        return code;
    scale(*result, a, X, X_len);
    return 0;
}
