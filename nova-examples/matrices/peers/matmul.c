/* The product of two matrices in three loops, ordered so that the innermost runs along rows and
 * becomes vector instructions: what is written where no library is at hand. Limited by the cache
 * that holds the second matrix, which is read once for each row of the first. */
#include "../../benchmarks/peers/peer.h"

int peer_matmul(int64_t *dim0, int64_t *dim1, float **result, int64_t A_dim0, int64_t A_dim1,
                const float *A, int64_t B_dim0, int64_t B_dim1, const float *B)
{
    if (A_dim1 != B_dim0 && A_dim0 != 0 && B_dim1 != 0)
        return 1;
    int64_t columns = A_dim0 != 0 ? B_dim1 : 0;
    int code = result_matrix(dim0, dim1, (void **)result, A_dim0, columns, sizeof **result);
    if (code != 0)
        return code;
    for (int64_t i = 0; i < A_dim0; i++) {
        float *restrict row = *result + i * B_dim1;
        for (int64_t j = 0; j < B_dim1; j++)
            row[j] = 0;
        for (int64_t k = 0; k < A_dim1; k++) {
            float a = A[i * A_dim1 + k];
            for (int64_t j = 0; j < B_dim1; j++)
                row[j] += a * B[k * B_dim1 + j];
        }
    }
    return 0;
}
