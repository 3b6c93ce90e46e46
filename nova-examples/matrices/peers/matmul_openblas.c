/* The product of two matrices by OpenBLAS. */
#include "../../benchmarks/peers/openblas.h"

typedef void multiply(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

int peer_matmul_openblas(int64_t *dim0, int64_t *dim1, float **result, int64_t A_dim0,
                         int64_t A_dim1, const float *A, int64_t B_dim0, int64_t B_dim1,
                         const float *B)
{
    static multiply *library;
    if (A_dim1 != B_dim0 && A_dim0 != 0 && B_dim1 != 0)
        return 1;
    if (library == NULL)
        library = (multiply *)openblas("cblas_sgemm");
    if (library == NULL)
        return NO_LIBRARY;
    int64_t columns = A_dim0 != 0 ? B_dim1 : 0;
    int code = result_matrix(dim0, dim1, (void **)result, A_dim0, columns, sizeof **result);
    if (code != 0)
        return code;
    int m = (int)A_dim0, n = (int)B_dim1, k = (int)A_dim1;
    if (m > 0 && n > 0)
        library(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, A, k > 0 ? k : 1, B, n, 0, *result, n);
    return 0;
}
