/* The lengths of the shortest paths between all nodes. Limited by arithmetic: the matrix is kept as
 * square tiles, and all nodes of a tile are taken at once, first within their own tile, then in its
 * row and column, then everywhere else, as in a product of matrices whose registers hold parts of a
 * tile. Lengths that are negative or could overflow are taken node by node. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
    VECTORS = 4,
#else
    WIDTH = 8,
    VECTORS = 2,
#endif
    /* Rows and vectors of them that are held in registers. */
    ROWS = 4,
    PART = VECTORS * WIDTH,
    TILE = 64,
    /* More than any length, and less than half of the largest number. */
    FAR = INT32_MAX / 2,
    /* Nodes that are worth a second thread. */
    WORTHWHILE = 192,
};

typedef int32_t vec __attribute__((vector_size(4 * WIDTH)));

static inline vec get(const int32_t *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline vec smaller(vec a, vec b)
{
#if defined(__AVX512F__)
    return (vec)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec)_mm256_min_epi32((__m256i)a, (__m256i)b);
#else
    vec less = a < b;
    return (a & less) | (b & ~less);
#endif
}

/* Paths of one step in `a` and then one in `b`, where they are shorter than those in `c`. */
static void join_tiles(int32_t *c, const int32_t *a, const int32_t *b)
{
    for (int i = 0; i < TILE; i += ROWS)
        for (int j = 0; j < TILE; j += PART) {
            vec best[ROWS][VECTORS];
#pragma GCC unroll 4
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; v++)
                    best[r][v] = get(c + (i + r) * TILE + j + v * WIDTH);
            for (int k = 0; k < TILE; k++)
#pragma GCC unroll 4
                for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
                    for (int v = 0; v < VECTORS; v++)
                        best[r][v] = smaller(best[r][v], a[(i + r) * TILE + k]
                                                             + get(b + k * TILE + j + v * WIDTH));
#pragma GCC unroll 4
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; v++)
                    memcpy(c + (i + r) * TILE + j + v * WIDTH, &best[r][v], sizeof(vec));
        }
}

/* The shortest paths within a tile. */
static void close_tile(int32_t *c)
{
    for (int k = 0; k < TILE; k++)
        for (int i = 0; i < TILE; i++) {
            int32_t first = c[i * TILE + k];
            for (int j = 0; j < TILE; j += WIDTH) {
                vec best = smaller(get(c + i * TILE + j), first + get(c + k * TILE + j));
                memcpy(c + i * TILE + j, &best, sizeof best);
            }
        }
}

/* All nodes in turn, a tile of them at once. A product may replace one of its factors: lengths of
 * paths through the closed tile stay lengths of paths. */
static void join_all(int32_t *tiles, int64_t count)
{
    const int64_t size = TILE * TILE;
    for (int64_t k = 0; k < count; k++) {
        int32_t *middle = tiles + (k * count + k) * size;
#pragma omp single
        close_tile(middle);
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < 2 * count; t++) {
            int32_t *in_row = tiles + (k * count + t / 2) * size;
            int32_t *in_column = tiles + (t / 2 * count + k) * size;
            if (t / 2 == k)
                continue;
            if (t % 2 == 0)
                join_tiles(in_row, middle, in_row);
            else
                join_tiles(in_column, in_column, middle);
        }
#pragma omp for collapse(2) schedule(dynamic, 4)
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < count; j++)
                if (i != k && j != k)
                    join_tiles(tiles + (i * count + j) * size, tiles + (i * count + k) * size,
                               tiles + (k * count + j) * size);
    }
}

/* Copies a part of a tile that is in the matrix, whose rows are `stride` apart; the rest is far. */
static void fill_tile(int32_t *tile, const int32_t *from, int64_t stride, int64_t rows,
                      int64_t columns)
{
    for (int64_t i = 0; i < TILE; i++)
        for (int64_t j = 0; j < TILE; j++)
            tile[i * TILE + j] = i < rows && j < columns ? from[i * stride + j] : FAR;
}

static int in_tiles(int32_t *result, const int32_t *lengths, int64_t n, int64_t stride)
{
    int64_t count = (n + TILE - 1) / TILE;
    int32_t *tiles = aligned_alloc(64, (size_t)(count * count) * TILE * TILE * sizeof *tiles);
    if (tiles == NULL)
        return 2;
#pragma omp parallel if (n >= WORTHWHILE)
    {
#pragma omp for collapse(2)
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < count; j++)
                fill_tile(tiles + (i * count + j) * TILE * TILE, lengths + (i * stride + j) * TILE,
                          stride, n - i * TILE, n - j * TILE);
        join_all(tiles, count);
#pragma omp for
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j += TILE)
                memcpy(result + i * n + j,
                       tiles + (i / TILE * count + j / TILE) * TILE * TILE + i % TILE * TILE,
                       (size_t)(n - j < TILE ? n - j : TILE) * sizeof *tiles);
    }
    free(tiles);
    return 0;
}

/* Node by node, with the lengths as they were before each node. */
static int by_nodes(int32_t *result, const int32_t *lengths, int64_t n, int64_t stride)
{
    int32_t *row = malloc((size_t)n * sizeof *row);
    if (row == NULL)
        return 2;
    for (int64_t i = 0; i < n; i++)
        memcpy(result + i * n, lengths + i * stride, (size_t)n * sizeof *row);
    for (int64_t k = 0; k < n; k++) {
        memcpy(row, result + k * n, (size_t)n * sizeof *row);
#pragma omp parallel for if (n >= WORTHWHILE)
        for (int64_t i = 0; i < n; i++) {
            int32_t *to = result + i * n;
            uint32_t first = (uint32_t)to[k];
            for (int64_t j = 0; j < n; j++) {
                int32_t through = (int32_t)(first + (uint32_t)row[j]);
                to[j] = to[j] < through ? to[j] : through;
            }
        }
    }
    free(row);
    return 0;
}

int peer_floyd_warshall(int64_t *result_dim0, int64_t *result_dim1, int32_t **result,
                        int64_t lengths_dim0, int64_t lengths_dim1, const int32_t *lengths)
{
    int64_t n = lengths_dim0;
    int own = *result == NULL;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, n, n > 0 ? n : lengths_dim1,
                             sizeof **result);
    if (code != 0 || n == 0)
        return code;
    uint32_t most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            most |= (uint32_t)lengths[i * lengths_dim1 + j];
    code = (most <= FAR ? in_tiles : by_nodes)(*result, lengths, n, lengths_dim1);
    if (code != 0 && own)
        free(*result), *result = NULL;
    return code;
}
