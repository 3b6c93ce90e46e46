// Minimum and maximum over the first columns of a padded grid with Thrust: of each row by a plain
// loop, which vectorises, and of all rows. (Its example padded_grid_reduction reads the padding too.)
#include "thrust.h"

struct extremes {
    float least, greatest;
};

struct join {
    extremes operator()(const extremes &a, const extremes &b) const
    {
        return {b.least < a.least ? b.least : a.least,
                b.greatest > a.greatest ? b.greatest : a.greatest};
    }
};

struct extremes_of_row {
    const float *grid;
    int64_t stride, width;
    extremes nothing;
    extremes operator()(int64_t r) const
    {
        const float *row = grid + r * stride;
        float least = nothing.least, greatest = nothing.greatest;
        for (int64_t c = 0; c < width; c++) {
            least = row[c] < least ? row[c] : least;
            greatest = row[c] > greatest ? row[c] : greatest;
        }
        return {least, greatest};
    }
};

extern "C" int peer_gridred_thrust(extremes *result, int64_t grid_dim0, int64_t grid_dim1,
                                   const float *grid, int32_t width)
{
    const float far = std::numeric_limits<float>::infinity();
    const extremes nothing = {far, -far};
    *result = thrust::transform_reduce(thrust::device, index_iterator(0), index_iterator(grid_dim0),
                                       extremes_of_row{grid, grid_dim1, width, nothing}, nothing,
                                       join());
    return 0;
}
