/* Minimum and maximum over the first columns of a padded grid. Limited by the bandwidth of reading,
 * if the gap between rows is jumped over by the prefetch too: the same column of the next row is
 * asked for. The end of a row is one vector that overlaps the one before. nan is left out. */
#pragma GCC optimize("no-finite-math-only")
#include "peer.h"

typedef struct {
    float least, greatest;
} extremes;

/* The extremes of some rows that are `stride` floats apart. */
static extremes extremes_of(const float *grid, int64_t rows, int64_t stride, int64_t width)
{
    lanes low[8], high[8];
    for (int k = 0; k < 8; k++) {
        low[k] = splat(INFINITY);
        high[k] = splat(-INFINITY);
    }
    float least = INFINITY, greatest = -INFINITY;
    for (int64_t r = 0; r < rows; r++) {
        const float *row = grid + r * stride;
        int64_t c = 0;
        while (c + 128 <= width) {
            int64_t quarter = quarter_of(width - c);
            for (int64_t j = 0; j < quarter; j += 2 * LANES)
#pragma GCC unroll 8
                for (int k = 0; k < 8; k++) {
                    const float *at = row + c + of_quarters(quarter, j, k);
                    prefetch(at, stride * (int64_t)sizeof(float));
                    lanes v = load(at);
                    low[k] = lanes_min(v, low[k]);
                    high[k] = lanes_max(v, high[k]);
                }
            c += 4 * quarter;
        }
        for (; c < width && width >= LANES; c += LANES) {
            lanes v = load(row + (c + LANES <= width ? c : width - LANES));
            prefetch(row + c, stride * (int64_t)sizeof(float));
            low[0] = lanes_min(v, low[0]);
            high[0] = lanes_max(v, high[0]);
        }
        for (; c < width; c++) {
            least = row[c] < least ? row[c] : least;
            greatest = row[c] > greatest ? row[c] : greatest;
        }
    }
    for (int j = 0; j < 8; j++)
        for (int k = 0; k < LANES; k++) {
            least = low[j][k] < least ? low[j][k] : least;
            greatest = high[j][k] > greatest ? high[j][k] : greatest;
        }
    return (extremes){least, greatest};
}

int peer_gridred(extremes *result, int64_t grid_dim0, int64_t grid_dim1, const float *grid,
                 int32_t width)
{
    *result = extremes_of(grid, grid_dim0, grid_dim1, width);
    return 0;
}
