/* One V-cycle of a multigrid solver, and the norm of what is left. Limited by the bandwidth of
 * memory, or of the cache that the grids fit into: on its way up a level is one sweep, which
 * interpolates, takes the residual, smooths, and at the top takes the norm, each of them a plane
 * behind the one before it, in rings of planes that stay in the second-level cache. So a level
 * reads its right side twice and writes its solution once. Long planes are cut into tiles of rows;
 * threads take tiles. */
#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif
#include "../../benchmarks/peers/peer.h"
#include "multigrid.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* Bytes of the rings of a tile, and the fewest rows that it has. */
    RINGS = 3 << 18,
    FEWEST = 24,
    /* Numbers before a row and behind it; the nearest ones are those of its other end. */
    MARGIN = 8,
    /* Grids up to this extent are not worth a second thread. */
    SMALL = 16,
};

/* A ring of three planes, of so many rows from row `low` on. */
typedef struct {
    double *data;
    int64_t low, rows, stride;
} ring;

/* The right side of a level, the solution of the one below, and its own; and at the top the sum of
 * the squares of what is left. */
typedef struct {
    int64_t n;
    const double *right, *below;
    double *solution;
    int top;
} level;

static inline int64_t wrap(int64_t i, int64_t n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

static inline double *row_of(const ring *r, int64_t plane, int64_t row)
{
    return r->data + ((plane + 9) % 3 * r->rows + (row - r->low)) * r->stride + MARGIN;
}

/* Makes a row meet its other end. */
static inline void close_row(double *row, int64_t n)
{
    row[-1] = row[n - 1];
    row[n] = row[0];
}

/* For each place of a row: the sum of the four neighbours in other rows, and that of the four
 * diagonal ones. */
static inline void sums_beside(const ring *r, int64_t i, int64_t j, int64_t n,
                               double *restrict four, double *restrict diagonal)
{
    const double *north = row_of(r, i - 1, j), *south = row_of(r, i + 1, j);
    const double *west = row_of(r, i, j - 1), *east = row_of(r, i, j + 1);
    const double *nw = row_of(r, i - 1, j - 1), *ne = row_of(r, i - 1, j + 1);
    const double *sw = row_of(r, i + 1, j - 1), *se = row_of(r, i + 1, j + 1);
    for (int64_t k = 0; k < n; k++) {
        four[k] = (north[k] + south[k]) + (west[k] + east[k]);
        diagonal[k] = (nw[k] + ne[k]) + (sw[k] + se[k]);
    }
    close_row(four, n);
    close_row(diagonal, n);
}

/* A row of the interpolation of the level below: the mean of the nearest one, two or four rows, and
 * then of each two numbers. */
static void interpolate(double *restrict to, double *restrict means, const level *g, int64_t i,
                        int64_t j)
{
    int64_t half = g->n / 2, i1 = i / 2, j1 = j / 2;
    int64_t i0 = i % 2 == 1 ? i1 : wrap(i1 - 1, half), j0 = j % 2 == 1 ? j1 : wrap(j1 - 1, half);
    const double *a = g->below + (i0 * half + j0) * half, *b = g->below + (i0 * half + j1) * half;
    const double *c = g->below + (i1 * half + j0) * half, *d = g->below + (i1 * half + j1) * half;
    for (int64_t k = 0; k < half; k++)
        means[k] = 0.25 * ((a[k] + b[k]) + (c[k] + d[k]));
    means[-1] = means[half - 1];
    for (int64_t k = 0; k < half; k++) {
        to[2 * k] = 0.5 * (means[k - 1] + means[k]);
        to[2 * k + 1] = means[k];
    }
    close_row(to, g->n);
}

/* The memory of a sweep: rings of interpolated planes, of residuals and of solutions, and rows. */
typedef struct {
    ring fine, left, solution;
    double *four, *diagonal, *row;
} room;

/* The right side less the Laplacian of a ring's row i, j. */
static void residual(double *restrict to, const level *g, const room *s, const ring *of, int64_t i,
                     int64_t j)
{
    int64_t n = g->n;
    const double *right = g->right + (wrap(i, n) * n + wrap(j, n)) * n, *at = row_of(of, i, j);
    const double *four = s->four, *diagonal = s->diagonal;
    sums_beside(of, i, j, n, s->four, s->diagonal);
    for (int64_t k = 0; k < n; k++) {
        double edges = diagonal[k] + (four[k - 1] + four[k + 1]);
        double corners = diagonal[k - 1] + diagonal[k + 1];
        to[k] = right[k] + (8.0 / 3 * at[k] - (1.0 / 6 * edges + 1.0 / 12 * corners));
    }
}

/* The interpolation's row i, j and a smoothed residual. */
static void smooth(double *restrict to, const level *g, const room *s, int64_t i, int64_t j)
{
    const double *fine = row_of(&s->fine, i, j), *left = row_of(&s->left, i, j);
    const double *four = s->four, *diagonal = s->diagonal;
    sums_beside(&s->left, i, j, g->n, s->four, s->diagonal);
    for (int64_t k = 0; k < g->n; k++) {
        double faces = four[k] + (left[k - 1] + left[k + 1]);
        double edges = diagonal[k] + (four[k - 1] + four[k + 1]);
        to[k] = fine[k] + (1.0 / 32 * faces - (3.0 / 8 * left[k] + 1.0 / 64 * edges));
    }
}

static double sum_of_squares(const double *row, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += row[k] * row[k];
    return sum;
}

/* The solution of the planes from i0 to i1, of the rows from j0 to j1. At the top it is computed
 * for one more row and plane on each side, to take the norm of what is left. */
static double sweep(const level *g, const room *s, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    int64_t n = g->n, top = g->top;
    double squares = 0;
    for (int64_t i = i0 - 2 - top; i < i1 + 2 + top; i++) {
        for (int64_t j = j0 - 2 - top; j < j1 + 2 + top; j++)
            interpolate(row_of(&s->fine, i, j), s->row, g, wrap(i, n), wrap(j, n));
        if (i < i0 - top)
            continue;
        for (int64_t j = j0 - 1 - top; j < j1 + 1 + top; j++) {
            double *to = row_of(&s->left, i - 1, j);
            residual(to, g, s, &s->fine, i - 1, j);
            close_row(to, n);
        }
        if (i < i0 + 2 - top)
            continue;
        for (int64_t j = j0 - top; j < j1 + top; j++) {
            double *out = g->solution + (wrap(i - 2, n) * n + wrap(j, n)) * n;
            double *to = top ? row_of(&s->solution, i - 2, j) : out;
            smooth(to, g, s, i - 2, j);
            if (top)
                close_row(to, n);
            if (top && i - 2 >= i0 && i - 2 < i1 && j >= j0 && j < j1)
                memcpy(out, to, (size_t)n * sizeof *out);
        }
        for (int64_t j = j0; top && i - 3 >= i0 && j < j1; j++) {
            residual(s->row, g, s, &s->solution, i - 3, j);
            squares += sum_of_squares(s->row, n);
        }
    }
    return squares;
}

/* The rows of a tile at most, so that the rings fit their part of the cache. */
static int64_t rows_of_tile(int64_t n)
{
    int64_t fit = RINGS / (9 * (n + 2 * MARGIN) * (int64_t)sizeof(double)) - 6;
    fit = fit < FEWEST ? FEWEST : fit;
    return fit < n ? fit : n;
}

/* The numbers that the rings and rows of one thread have. */
static int64_t room_of_thread(int64_t n)
{
    return (9 * (rows_of_tile(n) + 6) + 3) * (n + 2 * MARGIN);
}

/* Lays out the rings for a tile of rows from j0 on. */
static room lay_out(double *memory, int64_t n, int64_t j0)
{
    int64_t stride = n + 2 * MARGIN, rows = rows_of_tile(n) + 6, size = 3 * rows * stride;
    double *behind = memory + 3 * size + MARGIN;
    return (room){{memory, j0 - 3, rows, stride},
                  {memory + size, j0 - 3, rows, stride},
                  {memory + 2 * size, j0 - 3, rows, stride},
                  behind, behind + stride, behind + 2 * stride};
}

/* The solution of a level, from that of the one below; at the top, the sum of squares. */
static double rise(const level *g, double *rooms, int threads)
{
    int64_t n = g->n, size = room_of_thread(n);
    int64_t rows = rows_of_tile(n), tiles = (n + rows - 1) / rows;
    /* As many parts of the planes as keep all threads busy, of sixteen planes or more. */
    int64_t parts = (threads + tiles - 1) / tiles;
    parts = parts * 16 > n ? (n + 15) / 16 : parts;
    double squares = 0;
    (void)threads;
#pragma omp parallel for collapse(2) reduction(+ : squares) schedule(dynamic) if (n > SMALL)
    for (int64_t part = 0; part < parts; part++)
        for (int64_t tile = 0; tile < tiles; tile++) {
            int64_t j0 = n * tile / tiles, j1 = n * (tile + 1) / tiles, me = 0;
#ifdef _OPENMP
            me = omp_get_thread_num();
#endif
            room s = lay_out(rooms + me * size, n, j0);
            squares += sweep(g, &s, n * part / parts, n * (part + 1) / parts, j0, j1);
        }
    return squares;
}

/* A row of a coarser right side: three planes are brought to one, three rows of these to one, and
 * then each three numbers. `last` is the third row of the row before. */
static void coarse_row(double *restrict to, const double *planes[3], int64_t n, int64_t j,
                       double *restrict last, double *restrict row)
{
    int64_t middle = (2 * j + 1) * n, third = wrap(2 * j + 2, n) * n;
    const double *a = planes[0], *b = planes[1], *c = planes[2];
    for (int64_t k = 0; k < n; k++) {
        double of_middle = 0.5 * (a[middle + k] + c[middle + k]) + b[middle + k];
        double of_third = 0.5 * (a[third + k] + c[third + k]) + b[third + k];
        row[k] = 0.25 * (last[k] + of_third) + 0.5 * of_middle;
        last[k] = of_third;
    }
    row[n] = row[0];
    for (int64_t k = 0; k < n / 2; k++)
        to[k] = 0.5 * (row[2 * k] + row[2 * k + 2]) + row[2 * k + 1];
}

/* The right side of the level below. */
static void coarsen(double *to, const double *right, int64_t n, double *rooms)
{
    int64_t half = n / 2, size = room_of_thread(n);
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int64_t i = 0; i < half; i++) {
        int64_t me = 0;
#ifdef _OPENMP
        me = omp_get_thread_num();
#endif
        double *last = rooms + me * size + MARGIN, *row = last + n + 2 * MARGIN;
        const double *planes[3];
        for (int p = 0; p < 3; p++)
            planes[p] = right + wrap(2 * i + p, n) * n * n;
        for (int64_t k = 0; k < n; k++)
            last[k] = 0.5 * (planes[0][k] + planes[2][k]) + planes[1][k];
        for (int64_t j = 0; j < half; j++)
            coarse_row(to + (i * half + j) * half, planes, n, j, last, row);
    }
}

/* What a stencil of a small torus gives at a place. */
static double stencil(const double w[4], const double *x, int64_t n, int64_t i, int64_t j,
                      int64_t k)
{
    double sum = 0;
    for (int s = 0; s < 27; s++) {
        int a = s / 9 - 1, b = s / 3 % 3 - 1, c = s % 3 - 1;
        int64_t place = (wrap(i + a, n) * n + wrap(j + b, n)) * n + wrap(k + c, n);
        sum += w[(a != 0) + (b != 0) + (c != 0)] * x[place];
    }
    return sum;
}

/* The solution of a level of extent 2 or less, and the sum of the squares of what is left. */
static double bottom(const level *g)
{
    const double smoother[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
    const double laplace[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
    int64_t n = g->n, count = n * n * n;
    double squares = 0;
    for (int64_t p = 0; p < count; p++)
        g->solution[p] = stencil(smoother, g->right, n, p / n / n, p / n % n, p % n);
    for (int64_t p = 0; p < count; p++) {
        double left = g->right[p] - stencil(laplace, g->solution, n, p / n / n, p / n % n, p % n);
        squares += left * left;
    }
    return squares;
}

/* Solves a level, with `grids` for the grids below it and `rooms` for the threads. */
static double cycle(level g, double *grids, double *rooms, int threads)
{
    if (g.n <= 2)
        return bottom(&g);
    int64_t half = g.n / 2, count = half * half * half;
    double *right = grids, *solution = grids + count;
    coarsen(right, g.right, g.n, rooms);
    cycle((level){half, right, NULL, solution, 0}, grids + 2 * count, rooms, threads);
    g.below = solution;
    return rise(&g, rooms, threads);
}

int peer_multigrid(nova_tuple2_vector3_double_double *result, int64_t v_dim0, int64_t v_dim1,
                   int64_t v_dim2, const double *v)
{
    int64_t n = v_dim0, count = n * n * n, len = 0;
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    double *u = NULL, *grids = NULL, *rooms = NULL;
    int code = result_vector(&len, (void **)&u, count, sizeof *u);
    if (code == 0)
        code = result_vector(&len, (void **)&grids, count / 3 + 16, sizeof *grids);
    if (code == 0)
        code = result_vector(&len, (void **)&rooms, threads * room_of_thread(n), sizeof *rooms);
    if (code == 0) {
        double squares = cycle((level){n, v, NULL, u, 1}, grids, rooms, threads);
        *result = (nova_tuple2_vector3_double_double){{n, v_dim1, v_dim2, u},
                                                      sqrt(squares / (double)count)};
    } else {
        free(u);
    }
    free(grids);
    free(rooms);
    return code;
}
