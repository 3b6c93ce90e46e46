/* Minimum and maximum of a padded grid with OpenMP: chunks of rows. nan is left out. */
#pragma GCC optimize("no-finite-math-only")
#include "gridred.c"
#include "openmp.h"

static extremes join(extremes a, extremes b)
{
    if (b.least < a.least)
        a.least = b.least;
    if (b.greatest > a.greatest)
        a.greatest = b.greatest;
    return a;
}

#pragma omp declare reduction(both:extremes : omp_out = join(omp_out, omp_in)) \
    initializer(omp_priv = {INFINITY, -INFINITY})

int peer_gridred_openmp(extremes *result, int64_t grid_dim0, int64_t grid_dim1, const float *grid,
                        int32_t width)
{
    chunks all = cut(grid_dim0, CHEAP / (width + 1) + 1, 1);
    extremes both = {INFINITY, -INFINITY};
#pragma omp parallel for schedule(dynamic) reduction(both : both) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        const float *rows = grid + chunk_begin(all, c) * grid_dim1;
        both = join(both, extremes_of(rows, chunk_length(all, c), grid_dim1, width));
    }
    *result = both;
    return 0;
}
