/* The dot product of each pair with OpenMP: chunks as one thread writes them. */
#include "dot3.c"
#include "openmp.h"

int peer_dot3_openmp(int64_t *result_len, float **result, int64_t A_len, const triple *A,
                     int64_t B_len, const triple *B)
{
    (void)B_len;
    int code = result_vector(result_len, (void **)result, A_len, sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
    chunks all = cut(A_len, CHEAP / 4, BLOCK);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c);
        multiply_pairs(out + i, A + i, B + i, chunk_length(all, c));
    }
    return 0;
}
