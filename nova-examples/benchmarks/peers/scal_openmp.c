/* A vector times a number with OpenMP: chunks as one thread writes them, each from a line of the
 * result on. */
#include "scal.c"
#include "openmp.h"

int peer_scal_openmp(int64_t *result_len, float **result, float a, int64_t X_len, const float *X)
{
    int code = result_vector(result_len, (void **)result, X_len, sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
    chunks all = cut(X_len, CHEAP, BLOCK);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c);
        scale(out + i, a, X + i, chunk_length(all, c));
    }
    return 0;
}
