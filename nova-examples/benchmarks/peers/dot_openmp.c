/* The dot product with OpenMP: chunks as one thread sums them. */
#include "dot.c"
#include "openmp.h"

int peer_dot_openmp(float *result, int64_t X_len, const float *X, int64_t Y_len, const float *Y)
{
    (void)Y_len;
    chunks all = cut(X_len, CHEAP, BLOCK);
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c);
        sum += sum_of_products(X + i, Y + i, chunk_length(all, c));
    }
    *result = (float)sum;
    return 0;
}
