/* The sum of absolute values with OpenMP: chunks as one thread sums them. */
#include "asum.c"
#include "openmp.h"

int peer_asum_openmp(float *result, int64_t X_len, const float *X)
{
    chunks all = cut(X_len, CHEAP, BLOCK);
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        sum += sum_of_magnitudes(X + chunk_begin(all, c), chunk_length(all, c));
    *result = (float)sum;
    return 0;
}
