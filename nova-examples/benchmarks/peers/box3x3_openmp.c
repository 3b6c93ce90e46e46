/* The mean of each pixel's neighbourhood with OpenMP: strips of rows, each of which reads the row
 * above it and the row below it as well. */
#include "box3x3.c"
#include "openmp.h"

int peer_box3x3_openmp(int64_t *result_dim0, int64_t *result_dim1, float **result,
                       int64_t img_dim0, int64_t img_dim1, const float *img)
{
    int64_t height = img_dim0, width = img_dim1;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, height, width,
                             sizeof **result);
    if (code != 0)
        return code;
    float *out = *result;
    chunks all = cut(height, CHEAP / (width + 1) + 8, 1);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        rows_of_means(out, img, height, width, chunk_begin(all, c), chunk_begin(all, c + 1));
    return 0;
}
