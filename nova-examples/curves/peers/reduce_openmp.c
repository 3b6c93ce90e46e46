/* The sum of a vector with OpenMP: chunks in eight accumulators of single precision over blocks,
 * which are added as doubles. Where pages are taken in turn, a block is four: eight would be read
 * from memory faster by some percent, but from the second-level cache slower by a quarter. */
#include "../../benchmarks/peers/openmp.h"

static double sum_of(const float *X, int64_t n)
{
    double sum = 0;
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        lanes s[8] = {{0}};
        for (int64_t j = 0; j < PAGE; j += 2 * LANES)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                const float *at = X + i + of_quarters(PAGE, j, k);
                prefetch(at, AHEAD_OF_FOUR);
                s[k] += load(at);
            }
        sum += lanes_sum(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
    }
    return sum + sum_of_long(X + i, n - i);
}

int peer_reduce_openmp(float *result, int64_t X_len, const float *X)
{
    chunks all = cut(X_len, CHEAP, BLOCK);
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        sum += sum_of(X + chunk_begin(all, c), chunk_length(all, c));
    *result = (float)sum;
    return 0;
}
