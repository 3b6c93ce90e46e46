/* The temperature of a chip over time. Limited by the caches: up to eight steps are done in one
 * pass through strips of columns, each a row behind the one before, and all but the last keep only
 * three rows. Strips overlap by a line on each side, where points that lack neighbours are wrong,
 * and grow by one column with each step. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
#else
    WIDTH = 8,
#endif
    /* Floats of a line. */
    LINE = 16,
    /* Steps of a pass, at most as many as the overlap has columns. */
    LEVELS = 8,
    /* Columns of a strip, with overlaps, and a line on each side that is only read. */
    STRIP = 384,
    STRIDE = STRIP + 4 * LINE,
    /* Rows of a task, at least; points times steps that are worth a second thread. */
    ROWS = 64,
    WORTHWHILE = 1 << 18,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));

/* What flows: between rows, along rows, and to the air. */
typedef struct {
    float ry, rx, rz, cap;
} rates;

/* A pass: so many steps on n times m points. */
typedef struct {
    int64_t n, m;
    int levels;
    rates rate;
    const float *power;
    const float *from;
    float *to;
} pass;

/* A part of the points, and the rows of each step before the last, of which three are kept. */
typedef struct {
    int64_t top, bottom, left, right;
    float *rows;
} part;

static inline vec get(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* A row of temperatures, those above and below, and the power. */
typedef struct {
    const float *above, *row, *below, *power;
} around;

static inline float warmed(rates r, float t, float vertical, float horizontal, float power)
{
    return t + r.cap * (power + (r.ry * (vertical - 2 * t) + (r.rx * (horizontal - 2 * t)
                                                             + r.rz * (80 - t))));
}

/* One column; `left` and `right` are where its neighbours are. */
static inline void one_column(rates r, float *out, around a, int64_t j, int64_t left, int64_t right)
{
    out[j] = warmed(r, a.row[j], a.above[j] + a.below[j], a.row[left] + a.row[right], a.power[j]);
}

static inline void some_columns(rates r, float *out, around a, int64_t j)
{
    vec t = get(a.row + j);
    vec vertical = get(a.above + j) + get(a.below + j) - 2 * t;
    vec horizontal = get(a.row + j - 1) + get(a.row + j + 1) - 2 * t;
    vec flow = get(a.power + j) + r.ry * vertical + (r.rx * horizontal + r.rz * (80 - t));
    vec v = t + r.cap * flow;
    memcpy(out + j, &v, sizeof v);
}

/* The columns from `begin` to `end`; vectors begin at whole multiples of their width, except the
 * first and the last one. */
static inline void columns(rates r, float *restrict out, around a, int64_t begin, int64_t end)
{
    if (end - begin < WIDTH) {
        for (int64_t j = begin; j < end; j++)
            one_column(r, out, a, j, j - 1, j + 1);
        return;
    }
    if (begin % WIDTH != 0)
        some_columns(r, out, a, begin);
    int64_t j = (begin + WIDTH - 1) / WIDTH * WIDTH;
    for (; j + WIDTH <= end; j += WIDTH)
        some_columns(r, out, a, j);
    if (j < end)
        some_columns(r, out, a, end - WIDTH);
}

/* Where a row of a level begins, at a column. */
static inline float *row_at(const pass *p, const part *area, int level, int64_t i, int64_t j)
{
    if (level == p->levels)
        return p->to + i * p->m + j;
    int64_t column = j - area->left + 2 * LINE;
    return area->rows + ((level - 1) * 3 + i % 3) * STRIDE + column;
}

static inline const float *row_before(const pass *p, const part *area, int level, int64_t i,
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
    float *out = row_at(p, area, level, i, begin);
    around a = {
        row_before(p, area, level, i > 0 ? i - 1 : i, begin),
        row_before(p, area, level, i, begin),
        row_before(p, area, level, i < p->n - 1 ? i + 1 : i, begin),
        p->power + i * p->m + begin,
    };
    int64_t last = end - begin - 1;
    columns(p->rate, out, a, begin == 0, last + (end < p->m));
    if (begin == 0)
        one_column(p->rate, out, a, 0, 0, p->m > 1);
    if (end == p->m && p->m > 1)
        one_column(p->rate, out, a, last, last - 1, last);
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
    _Alignas(64) float rows[(LEVELS - 1) * 3 * STRIDE];
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
static void all_passes(float *result, float *other, int64_t n, int64_t m, const float *start,
                       const float *power, rates rate, int64_t steps)
{
    int threads = 1;
#ifdef _OPENMP
    threads = n * m * steps < WORTHWHILE ? 1 : omp_get_max_threads();
#endif
    int64_t passes = (steps + LEVELS - 1) / LEVELS;
#pragma omp parallel num_threads(threads)
    {
        const float *from = start;
        for (int64_t k = 0; k < passes; k++) {
            int levels = (int)(steps * (k + 1) / passes - steps * k / passes);
            float *to = (passes - k) % 2 == 1 ? result : other;
            pass p = {n, m, levels, rate, power, from, to};
            one_pass(&p, threads);
            from = p.to;
        }
    }
}

int peer_hotspot(int64_t *result_dim0, int64_t *result_dim1, float **result, int32_t steps,
                 float rx, float ry, float rz, float cap, int64_t power_dim0, int64_t power_dim1,
                 const float *power, int64_t start_dim0, int64_t start_dim1, const float *start)
{
    size_t bytes = (size_t)(start_dim0 * start_dim1) * sizeof *start;
    int own = *result == NULL;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, start_dim0, start_dim1,
                             sizeof *start);
    if (code != 0)
        return code;
    if (steps <= 0 || bytes == 0) {
        memcpy(*result, start, bytes);
        return 0;
    }
    float *other = NULL;
    if (steps > LEVELS && (other = aligned_alloc(64, (bytes + 63) & ~(size_t)63)) == NULL) {
        if (own)
            free(*result), *result = NULL;
        return 2;
    }
    rates rate = {ry, rx, rz, cap};
    all_passes(*result, other, power_dim0, power_dim1, start, power, rate, steps);
    free(other);
    return 0;
}
