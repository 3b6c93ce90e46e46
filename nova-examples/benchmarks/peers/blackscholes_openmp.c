/* European call and put prices with OpenMP: chunks as one thread prices them. */
#include "blackscholes.c"
#include "openmp.h"

int peer_blackscholes_openmp(int64_t *result_len, prices **result, int64_t S_len, const float *S,
                             int64_t X_len, const float *X, int64_t T_len, const float *T, float R,
                             float V)
{
    (void)X_len, (void)T_len;
    int code = result_vector(result_len, (void **)result, S_len, sizeof **result);
    if (code != 0)
        return code;
    prices *out = *result;
    chunks all = cut(S_len, 2 * PART, PART);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c);
        price(out + i, S + i, X + i, T + i, chunk_length(all, c), R, V);
    }
    return 0;
}
