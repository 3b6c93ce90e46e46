/* The Euclidean norm with OpenMP: chunks as one thread sums them. */
#include "norm.c"
#include "openmp.h"

int peer_norm_openmp(float *result, int64_t X_len, const float *X)
{
    chunks all = cut(X_len, CHEAP, BLOCK);
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        sum += sum_of_squares(X + chunk_begin(all, c), chunk_length(all, c));
    *result = (float)sqrt(sum);
    return 0;
}
