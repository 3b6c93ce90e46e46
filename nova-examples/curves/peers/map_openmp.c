/* A small computation for every element, with OpenMP: chunks of full vectors; results too large for
 * the caches are streamed. */
#include "../../benchmarks/peers/openmp.h"

enum { STREAMED = 1 << 22 };

static void some(float *out, const float *X, int64_t n, int streamed)
{
    int64_t i = 0;
    for (; i < n && ((uintptr_t)(out + i) & 63) != 0; i++)
        out[i] = 2.0f * X[i] + 1.0f;
    if (streamed) {
        for (; IN_TURN && i + BLOCK <= n; i += BLOCK)
            for (int64_t j = i; j < i + PAGE; j += LANES) {
                lanes v[4];
#pragma GCC unroll 4
                for (int k = 0; k < 4; k++) {
                    prefetch(X + j + PAGE * k, AHEAD_OF_FOUR);
                    v[k] = 2.0f * load(X + j + PAGE * k) + 1.0f;
                }
#pragma GCC unroll 4
                for (int k = 0; k < 4; k++)
                    stream(out + j + PAGE * k, v[k]);
            }
        for (; i + 64 <= n; i += 64)
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
                prefetch(X + i + 16 * k, AHEAD);
                stream(out + i + 16 * k, 2.0f * load(X + i + 16 * k) + 1.0f);
            }
        stream_end();
    }
    for (; i < n; i++)
        out[i] = 2.0f * X[i] + 1.0f;
}

int peer_map_openmp(int64_t *result_len, float **result, int64_t X_len, const float *X)
{
    int code = result_vector(result_len, (void **)result, X_len, sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
    chunks all = cut(X_len, CHEAP, BLOCK);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c);
        some(out + i, X + i, chunk_length(all, c), X_len >= STREAMED);
    }
    return 0;
}
