/* The bounding box of points. Limited by the bandwidth of reading: a minimum and a maximum for each
 * 64 bytes. Eight accumulators of each hide their latency. Coordinates that are nan are left out,
 * so that the compiler may not assume there are none. */
#pragma GCC optimize("no-finite-math-only")
#include "peer.h"

typedef struct {
    float x, y;
} point;

typedef struct {
    point lower, upper;
} box;

/* The box of some points. */
static box box_of(const point *points, int64_t count)
{
    const float *x = (const float *)points;
    int64_t n = 2 * count, i = 0;
    lanes low[8], high[8];
    for (int k = 0; k < 8; k++) {
        low[k] = splat(INFINITY);
        high[k] = splat(-INFINITY);
    }
    while (i + 128 <= n) {
        int64_t eighth = eighth_of(n - i);
        for (int64_t j = 0; j < eighth; j += LANES)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                const float *at = x + i + of_eighths(eighth, j, k);
                prefetch(at, AHEAD_OF_EIGHT);
                lanes v = load(at);
                low[k] = lanes_min(v, low[k]);
                high[k] = lanes_max(v, high[k]);
            }
        i += 8 * eighth;
    }
    for (int k = 1; k < 8; k++) {
        low[0] = lanes_min(low[k], low[0]);
        high[0] = lanes_max(high[k], high[0]);
    }
    float least[2] = {INFINITY, INFINITY}, greatest[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < LANES; k++) {
        least[k & 1] = low[0][k] < least[k & 1] ? low[0][k] : least[k & 1];
        greatest[k & 1] = high[0][k] > greatest[k & 1] ? high[0][k] : greatest[k & 1];
    }
    for (; i < n; i++) {
        least[i & 1] = x[i] < least[i & 1] ? x[i] : least[i & 1];
        greatest[i & 1] = x[i] > greatest[i & 1] ? x[i] : greatest[i & 1];
    }
    return (box){{least[0], least[1]}, {greatest[0], greatest[1]}};
}

int peer_bbox(box *result, int64_t points_len, const point *points)
{
    *result = box_of(points, points_len);
    return 0;
}
