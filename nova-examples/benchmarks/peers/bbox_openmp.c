/* The bounding box with OpenMP: boxes of chunks, joined by each thread, then all. nan is left out. */
#pragma GCC optimize("no-finite-math-only")
#include "bbox.c"
#include "openmp.h"

static box join(box a, box b)
{
    if (b.lower.x < a.lower.x)
        a.lower.x = b.lower.x;
    if (b.lower.y < a.lower.y)
        a.lower.y = b.lower.y;
    if (b.upper.x > a.upper.x)
        a.upper.x = b.upper.x;
    if (b.upper.y > a.upper.y)
        a.upper.y = b.upper.y;
    return a;
}

#pragma omp declare reduction(boxes:box : omp_out = join(omp_out, omp_in)) \
    initializer(omp_priv = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}})

int peer_bbox_openmp(box *result, int64_t points_len, const point *points)
{
    chunks all = cut(points_len, CHEAP / 2, BLOCK);
    box whole = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
#pragma omp parallel for schedule(dynamic) reduction(boxes : whole) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++)
        whole = join(whole, box_of(points + chunk_begin(all, c), chunk_length(all, c)));
    *result = whole;
    return 0;
}
