/* alpha times a matrix times a vector, plus beta times another, by OpenBLAS: y is copied to the
 * result, which the library then changes. */
#include "openblas.h"

typedef void multiply(int order, int transpose, int m, int n, float alpha, const float *a, int lda,
                      const float *x, int x_step, float beta, float *y, int y_step);

int peer_gemv_openblas(int64_t *result_len, float **result, int64_t A_dim0, int64_t A_dim1,
                       const float *A, int64_t x_len, const float *x, int64_t y_len, const float *y,
                       float alpha, float beta)
{
    (void)x_len, (void)y_len;
    static multiply *library;
    if (library == NULL)
        library = (multiply *)openblas("cblas_sgemv");
    if (library == NULL)
        return NO_LIBRARY;
    int code = result_vector(result_len, (void **)result, A_dim0, sizeof **result);
    if (code != 0)
        return code;
    for (int64_t r = 0; r < A_dim0; r++)
        (*result)[r] = A_dim1 > 0 ? y[r] : beta * y[r];
    if (A_dim0 > 0 && A_dim1 > 0)
        library(ROW_MAJOR, AS_IT_IS, (int)A_dim0, (int)A_dim1, alpha, A, (int)A_dim1, x, 1, beta,
                *result, 1);
    return 0;
}
