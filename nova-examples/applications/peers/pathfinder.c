/* The cheapest path through a grid for each end. Limited by the bandwidth of reading the costs
 * once: tiles of columns take many rows at once, with as many more columns on both sides, so that
 * the sums of a tile stay in the first-level cache and threads meet once for all these rows. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* Columns of a tile, and rows that it takes at once. */
    TILE = 4096,
    ROWS = 48,
    /* The columns of the narrowest tile. */
    NARROW = 512,
    /* Room for one column beside a tile. */
    MARGIN = 16,
    ROOM = MARGIN + TILE + 2 * ROWS + MARGIN,
};

/* One row of a tile of n columns: the sums up to it, from those up to the row before. */
static inline void row(int32_t *restrict next, const int32_t *restrict best,
                       const int32_t *restrict costs, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        int32_t beside = best[j - 1] < best[j + 1] ? best[j - 1] : best[j + 1];
        next[j] = costs[j] + (best[j] < beside ? best[j] : beside);
    }
}

/* Takes the columns from `begin` to `end` through some rows of costs. Outside of the grid sums are
 * larger than all others. The columns that are computed beside them go wrong from outside, one more
 * with each row. */
static void tile(int32_t *to, const int32_t *from, const int32_t *costs, int64_t rows,
                 int64_t width, int64_t begin, int64_t end)
{
    _Alignas(64) int32_t room[2][ROOM];
    int64_t low = begin > ROWS ? begin - ROWS : 0;
    int64_t high = end + ROWS < width ? end + ROWS : width, n = high - low;
    int32_t *best = room[0] + MARGIN, *next = room[1] + MARGIN;
    best[-1] = next[-1] = best[n] = next[n] = INT32_MAX;
    memcpy(best, from + low, (size_t)n * sizeof *best);
    for (int64_t r = 0; r < rows; r++) {
        row(next, best, costs + r * width + low, n);
        int32_t *swap = best;
        best = next;
        next = swap;
    }
    memcpy(to + begin, best + (begin - low), (size_t)(end - begin) * sizeof *to);
}

/* The columns of a tile, whole vectors of them: each thread has as many tiles. */
static int64_t columns_of_tile(int64_t width)
{
    int64_t threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    int64_t tiles = threads * ((width + threads * TILE - 1) / (threads * TILE));
    int64_t columns = (width + tiles * LANES - 1) / (tiles * LANES) * LANES;
    return columns < NARROW ? NARROW : columns;
}

/* Takes the first row of costs through all others. What is the result after an even number of
 * exchanges of the two vectors becomes the first one. */
static void all_rows(int32_t *result, int32_t *spare, const int32_t *costs, int64_t height,
                     int64_t width)
{
    int64_t columns = columns_of_tile(width), blocks = (height - 1 + ROWS - 1) / ROWS;
    int32_t *from = blocks % 2 == 0 ? result : spare, *to = blocks % 2 == 0 ? spare : result;
    memcpy(from, costs, (size_t)width * sizeof *from);
#pragma omp parallel firstprivate(from, to) if (columns < width)
    for (int64_t i = 1; i < height; i += ROWS) {
        int64_t rows = height - i < ROWS ? height - i : ROWS;
#pragma omp for schedule(static)
        for (int64_t j = 0; j < width; j += columns)
            tile(to, from, costs + i * width, rows, width, j,
                 j + columns < width ? j + columns : width);
        int32_t *swap = from;
        from = to;
        to = swap;
    }
}

int peer_pathfinder(int64_t *result_len, int32_t **result, int64_t costs_dim0, int64_t costs_dim1,
                    const int32_t *costs)
{
    int64_t width = costs_dim0 == 0 ? 0 : costs_dim1;
    int32_t *spare = malloc((size_t)width * sizeof *spare + 1);
    int code = spare == NULL ? 2 : result_vector(result_len, (void **)result, width, sizeof *spare);
    if (code == 0 && width > 0)
        all_rows(*result, spare, costs, costs_dim0, width);
    free(spare);
    return code;
}
