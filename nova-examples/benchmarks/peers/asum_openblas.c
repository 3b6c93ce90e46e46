/* The sum of absolute values by OpenBLAS. */
#include "openblas.h"

typedef float sum_magnitudes(int n, const float *x, int step);

int peer_asum_openblas(float *result, int64_t X_len, const float *X)
{
    static sum_magnitudes *library;
    if (library == NULL)
        library = (sum_magnitudes *)openblas("cblas_sasum");
    if (library == NULL)
        return NO_LIBRARY;
    double sum = 0;
    for (int64_t i = 0; i < X_len; i += LONGEST)
        sum += library(part_of(X_len, i), X + i, 1);
    *result = (float)sum;
    return 0;
}
