/* The mean of each point and its four neighbours, so many times. Limited by the first-level cache:
 * up to eight steps are done in one pass through strips of columns, each a row behind the one
 * before, and all but the last keep only three rows. Strips overlap by a line on each side, where
 * points that lack neighbours are wrong, and grow by one column with each step. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#else
    WIDTH = 4,
#endif
    /* Doubles of a line. */
    LINE = 8,
    /* Steps of a pass, at most as many as the overlap has columns. */
    LEVELS = 8,
    /* Columns of a strip, with overlaps, and a line on each side that is only read. */
    STRIP = 192,
    STRIDE = STRIP + 4 * LINE,
    /* Rows of a task, at least; points times steps that are worth a second thread. */
    ROWS = 64,
    WORTHWHILE = 1 << 17,
};

typedef double vec __attribute__((vector_size(8 * WIDTH)));

/* A pass: so many steps on n times m points. */
typedef struct {
    int64_t n, m;
    int levels;
    const double *from;
    double *to;
} pass;

/* A part of the points, and the rows of each step before the last, of which three are kept. */
typedef struct {
    int64_t top, bottom, left, right;
    double *rows;
} part;

static inline vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void some_means(double *out, const double *above, const double *row,
                              const double *below, int64_t j)
{
    vec beside = get(row + j - 1) + get(row + j + 1);
    vec v = 0.2 * (get(row + j) + (beside + (get(above + j) + get(below + j))));
    memcpy(out + j, &v, sizeof v);
}

/* The means of the columns from `begin` to `end`; vectors begin at whole multiples of their width,
 * except the first and the last one. */
static inline void means(double *restrict out, const double *above, const double *row,
                         const double *below, int64_t begin, int64_t end)
{
    if (end - begin < WIDTH) {
        for (int64_t j = begin; j < end; j++)
            out[j] = 0.2 * (row[j] + ((row[j - 1] + row[j + 1]) + (above[j] + below[j])));
        return;
    }
    if (begin % WIDTH != 0)
        some_means(out, above, row, below, begin);
    int64_t j = (begin + WIDTH - 1) / WIDTH * WIDTH;
    for (; j + WIDTH <= end; j += WIDTH)
        some_means(out, above, row, below, j);
    if (j < end)
        some_means(out, above, row, below, end - WIDTH);
}

/* Where a row of a level begins, at a column. */
static inline double *row_at(const pass *p, const part *area, int level, int64_t i, int64_t j)
{
    if (level == p->levels)
        return p->to + i * p->m + j;
    int64_t column = j - area->left + 2 * LINE;
    return area->rows + ((level - 1) * 3 + i % 3) * STRIDE + column;
}

static inline const double *row_before(const pass *p, const part *area, int level, int64_t i,
                                       int64_t j)
{
    return level == 1 ? p->from + i * p->m + j : row_at(p, area, level - 1, i, j);
}

/* Writes a row of a level. */
static void one_row(const pass *p, const part *area, int level, int64_t i)
{
    int64_t overlap = level < p->levels ? LINE : 0;
    int64_t begin = area->left > 0 ? area->left - overlap : 0;
    int64_t end = area->right + overlap < p->m ? area->right + overlap : p->m;
    double *out = row_at(p, area, level, i, begin);
    const double *row = row_before(p, area, level, i, begin);
    if (i == 0 || i == p->n - 1) {
        memcpy(out, row, (size_t)(end - begin) * sizeof *out);
        return;
    }
    int64_t first = begin == 0, last = end - begin - (end == p->m);
    means(out, row_before(p, area, level, i - 1, begin), row,
          row_before(p, area, level, i + 1, begin), first, last);
    if (begin == 0)
        out[0] = row[0];
    if (end == p->m)
        out[end - begin - 1] = row[end - begin - 1];
}

/* Does all steps of a pass on a part. */
static void one_part(const pass *p, const part *area)
{
    int levels = p->levels;
    for (int64_t wave = area->top - levels + 1; wave < area->bottom + levels - 1; wave++)
        for (int level = 1; level <= levels; level++) {
            int64_t i = wave - level + 1, more = levels - level;
            if (i >= 0 && i >= area->top - more && i < p->n && i < area->bottom + more)
                one_row(p, area, level, i);
        }
}

/* Does a pass, as one of a team of threads. */
static void one_pass(const pass *p, int threads)
{
    _Alignas(64) double rows[(LEVELS - 1) * 3 * STRIDE];
    memset(rows, 0, sizeof rows);
    int64_t strips = (p->m + STRIP - 1) / STRIP;
    int64_t width = ((p->m + strips - 1) / strips + LINE - 1) / LINE * LINE;
    int64_t bands = threads == 1 ? 1 : (4 * threads + strips - 1) / strips;
    bands = bands < p->n / ROWS ? bands : p->n / ROWS > 0 ? p->n / ROWS : 1;
#pragma omp for collapse(2) schedule(dynamic)
    for (int64_t band = 0; band < bands; band++)
        for (int64_t strip = 0; strip < strips; strip++) {
            int64_t left = strip * width, right = left + width < p->m ? left + width : p->m;
            part area = {p->n * band / bands, p->n * (band + 1) / bands, left, right, rows};
            if (left < p->m)
                one_part(p, &area);
        }
}

/* Does all steps, in passes between two arrays, of which the last one writes the result. */
static void all_passes(double *result, double *other, int64_t n, int64_t m, const double *start,
                       int64_t steps)
{
    int threads = 1;
#ifdef _OPENMP
    threads = n * m * steps < WORTHWHILE ? 1 : omp_get_max_threads();
#endif
    int64_t passes = (steps + LEVELS - 1) / LEVELS;
#pragma omp parallel num_threads(threads)
    {
        const double *from = start;
        for (int64_t k = 0; k < passes; k++) {
            int levels = (int)(steps * (k + 1) / passes - steps * k / passes);
            pass p = {n, m, levels, from, (passes - k) % 2 == 1 ? result : other};
            one_pass(&p, threads);
            from = p.to;
        }
    }
}

int peer_jacobi_2d(int64_t *result_dim0, int64_t *result_dim1, double **result, int32_t steps,
                   int64_t A_dim0, int64_t A_dim1, const double *A)
{
    size_t bytes = (size_t)(A_dim0 * A_dim1) * sizeof *A;
    int own = *result == NULL;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, A_dim0, A_dim1, sizeof *A);
    if (code != 0)
        return code;
    if (steps <= 0 || bytes == 0) {
        memcpy(*result, A, bytes);
        return 0;
    }
    double *other = NULL;
    if (steps > LEVELS && (other = aligned_alloc(64, (bytes + 63) & ~(size_t)63)) == NULL) {
        if (own)
            free(*result), *result = NULL;
        return 2;
    }
    all_passes(*result, other, A_dim0, A_dim1, A, steps);
    free(other);
    return 0;
}
