/* A vector times a number by OpenBLAS. BLAS scales in place; the library's axpby, with nothing of the
 * result's old value, makes one pass where a copy and scal make two. */
#include "openblas.h"

typedef void scale_and_add(int n, float a, const float *x, int x_step, float b, float *y,
                           int y_step);

int peer_scal_openblas(int64_t *result_len, float **result, float a, int64_t X_len, const float *X)
{
    static scale_and_add *library;
    if (library == NULL)
        library = (scale_and_add *)openblas("cblas_saxpby");
    if (library == NULL)
        return NO_LIBRARY;
    int code = result_vector(result_len, (void **)result, X_len, sizeof **result);
    if (code != 0)
        return code;
    for (int64_t i = 0; i < X_len; i += LONGEST)
        library(part_of(X_len, i), a, X + i, 1, 0.0f, *result + i, 1);
    return 0;
}
