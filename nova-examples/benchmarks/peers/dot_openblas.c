/* The dot product of two vectors by OpenBLAS. */
#include "openblas.h"

typedef float sum_products(int n, const float *x, int x_step, const float *y, int y_step);

int peer_dot_openblas(float *result, int64_t X_len, const float *X, int64_t Y_len, const float *Y)
{
    (void)Y_len;
    static sum_products *library;
    if (library == NULL)
        library = (sum_products *)openblas("cblas_sdot");
    if (library == NULL)
        return NO_LIBRARY;
    double sum = 0;
    for (int64_t i = 0; i < X_len; i += LONGEST)
        sum += library(part_of(X_len, i), X + i, 1, Y + i, 1);
    *result = (float)sum;
    return 0;
}
