/* Options with local volatility, by alternating directions. Limited by arithmetic, and by the
 * bandwidth of the cache that the grids fit into: the systems are the same for all strikes, so
 * strikes are the lanes of a vector, and what eliminates is computed once for some such groups. A
 * step is one sweep over a grid: systems of columns are eliminated from the first row to the last
 * in one step and the other way in the next, which substitutes on its way back. Threads take
 * groups. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    STRIKES = 8,
#else
    STRIKES = 4,
#endif
    /* Groups that share factors, at most, and the bytes of their grids, if there are two. */
    GROUPS = 8,
    GRIDS = 1 << 20,
};

typedef double vec __attribute__((vector_size(8 * STRIKES)));

/* Half of the weights of a second derivative. */
typedef struct {
    double before, at, after;
} weights;

/* What eliminates at a point: v = d * inverse + down * (v before), then z = v - up * (z after). The
 * part of d that half of the variance has in it is multiplied by `explicit` at once. */
typedef struct {
    double inverse, explicit, down, up;
} factors;

/* What all strikes share. A variance is the product of a power of x, one of y and one of time. */
typedef struct {
    int64_t n, m, steps;
    const double *x, *times;
    double squared_nu, *power_x, *power_y;
    weights *second_x, *second_y;
} model;

/* What the groups of a thread share: the factors of the rows, those of all columns in this step and
 * in the last one, and rows of vectors. */
typedef struct {
    factors *rows, *columns, *last_columns;
    vec *room;
} shared;

static void second_derivatives(weights *w, const double *g, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        w[i] = (weights){0, 0, 0};
        if (i > 0 && i < n - 1) {
            double l = g[i] - g[i - 1], r = g[i + 1] - g[i];
            w[i] = (weights){1 / (l * (l + r)), -1 / (l * r), 1 / (r * (l + r))};
        }
    }
}

/* The factors of a vector of rows from j on, of which so many exist, as lanes of vectors. */
static void factor_rows(const model *g, factors *rows, int64_t j, double dt, double now)
{
    int64_t exist = g->m - j < STRIKES ? g->m - j : STRIKES;
    double level = exp(-g->squared_nu * now);
    vec power, up = {0};
    for (int r = 0; r < STRIKES; r++)
        power[r] = 0.5 * level * g->power_y[r < exist ? j + r : j];
    for (int64_t i = 0; i < g->n; i++) {
        weights w = g->second_x[i];
        vec half = power * g->power_x[i];
        vec inverse = 1.0 / (dt - half * w.at + half * w.before * up);
        vec explicit = half * inverse, down = explicit * w.before;
        up = -explicit * w.after;
        for (int r = 0; r < exist; r++)
            rows[(j + r) * g->n + i] = (factors){inverse[r], explicit[r], down[r], up[r]};
    }
}

/* The factors of the columns, eliminated from the first row on, or from the last one. */
static void factor_columns(const model *g, factors *columns, double dt, int forward)
{
    double half = 0.5 * g->squared_nu, up = 0;
    for (int64_t t = 0; t < g->m; t++) {
        int64_t j = forward ? t : g->m - 1 - t;
        weights w = g->second_y[j];
        double before = half * (forward ? w.before : w.after);
        double after = half * (forward ? w.after : w.before);
        double inverse = 1 / (dt - half * w.at + before * up);
        up = -after * inverse;
        columns[j] = (factors){inverse, 0, before * inverse, up};
    }
}

/* A row, and the rows before and after it, as the sweep goes: `before` and `row` have values, the
 * other two eliminated columns: `next` of the last step, and `done` of this one. */
typedef struct {
    const vec *before, *row, *next, *done;
    vec *after, *to;
    /* What substitutes in the next row, and where the row after it will be read. */
    double up;
    const vec *coming;
} place;

/* Half a step and a whole one for a row: substitutes in the columns of the next row, solves the
 * row's system, and eliminates in all columns. */
static inline void one_row(const model *g, const factors *f, const factors *column, weights y,
                           double dt, place p, vec *restrict v, vec *restrict derivatives)
{
    vec *restrict after = p.after, *to = p.to, last = {0};
    for (int64_t i = 0; i < g->n; i++) {
        weights x = g->second_x[i];
        prefetch(p.coming + i, 0);
        vec next = p.next[i] - p.up * p.row[i];
        vec dy = y.before * p.before[i] + y.at * p.row[i] + y.after * next;
        vec dx = x.before * p.row[i - 1] + x.at * p.row[i] + x.after * p.row[i + 1];
        last = f[i].down * last + (f[i].explicit * dx + (dt * p.row[i] + dy) * f[i].inverse);
        after[i] = next;
        v[i] = last;
        derivatives[i] = dy;
    }
    double of_z = dt * column->inverse, of_dy = -0.5 * column->inverse, down = column->down;
    vec z = {0};
    for (int64_t i = g->n - 1; i >= 0; i--) {
        z = v[i] - f[i].up * z;
        to[i] = of_z * z + (of_dy * derivatives[i] + down * p.done[i]);
    }
}

/* One step for the grid of a group, which holds eliminated columns before and after. */
static void sweep(const model *g, const shared *s, vec *grid, double dt, int forward)
{
    int64_t n = g->n, m = g->m, direction = forward ? 1 : -1, first = forward ? 0 : m - 1;
    vec *ring[3] = {s->room + 1, s->room + n + 3, s->room + 2 * n + 5};
    vec *v = s->room + 3 * n + 6, *derivatives = v + n;
    memcpy(ring[1], grid + first * n, (size_t)n * sizeof *grid);
    for (int64_t t = 0, j = first; t < m; t++, j += direction) {
        weights w = g->second_y[j];
        double nu2 = g->squared_nu, low = nu2 * w.before, high = nu2 * w.after;
        weights y = {forward ? low : high, nu2 * w.at, forward ? high : low};
        /* At the ends the weights of rows that do not exist are 0. */
        int64_t ahead = t + 1 < m ? direction : 0, behind = t > 0 ? direction : 0;
        vec *to = grid + j * n;
        const vec *coming = t + 2 < m ? to + 2 * direction * n : to;
        place p = {ring[t % 3], ring[(t + 1) % 3], to + ahead * n, to - behind * n,
                   ring[(t + 2) % 3], to, s->last_columns[j + ahead].up, coming};
        one_row(g, s->rows + j * n, s->columns + j, y, dt, p, v, derivatives);
    }
}

/* The price in the middle: the eliminated column there is substituted from the last row on. */
static vec middle(const model *g, const shared *s, const vec *grid, int forward)
{
    int64_t direction = forward ? 1 : -1, j = forward ? g->m - 1 : 0;
    const vec *column = grid + g->n / 2;
    vec z = column[j * g->n];
    while (j != g->m / 2) {
        j -= direction;
        z = column[j * g->n] - s->columns[j].up * z;
    }
    return z;
}

/* What the strikes of a group are worth at the end. */
static void payoff(const model *g, vec *grid, const double *strikes, int64_t exist)
{
    vec strike;
    for (int k = 0; k < STRIKES; k++)
        strike[k] = strikes[k < exist ? k : 0];
    for (int64_t i = 0; i < g->n; i++) {
        vec value = g->x[i] - strike;
        for (int k = 0; k < STRIKES; k++)
            grid[i][k] = value[k] > 0 ? value[k] : 0;
    }
    for (int64_t j = 1; j < g->m; j++)
        memcpy(grid + j * g->n, grid, (size_t)g->n * sizeof *grid);
}

/* The prices of so many strikes, in whole groups. */
static void price(const model *g, shared s, vec *grids, const double *strikes, int64_t count,
                  double *prices)
{
    int64_t points = g->n * g->m;
    int forward = 1;
    for (int64_t k = 0; k < count; k += STRIKES)
        payoff(g, grids + k / STRIKES * points, strikes + k, count - k);
    memset(s.columns, 0, (size_t)g->m * sizeof *s.columns);
    for (int64_t step = g->steps - 1; step >= 0; step--) {
        double now = g->times[step], dt = 1 / (g->times[step + 1] - now);
        factors *swap = s.columns;
        s.columns = s.last_columns, s.last_columns = swap;
        forward = !forward;
        factor_columns(g, s.columns, dt, forward);
        for (int64_t j = 0; j < g->m; j += STRIKES)
            factor_rows(g, s.rows, j, dt, now);
        for (int64_t k = 0; k < count; k += STRIKES)
            sweep(g, &s, grids + k / STRIKES * points, dt, forward);
    }
    for (int64_t k = 0; k < count; k += STRIKES) {
        vec group = middle(g, &s, grids + k / STRIKES * points, forward);
        int64_t exist = count - k < STRIKES ? count - k : STRIKES;
        memcpy(prices + k, &group, (size_t)exist * sizeof *prices);
    }
}

/* Fills in what all strikes share, in `room` for 4 (n + m) numbers. */
static void prepare(model *g, double *room, const double *y, double beta)
{
    g->power_x = room, g->power_y = room + g->n;
    g->second_x = (weights *)(room + g->n + g->m), g->second_y = g->second_x + g->n;
    for (int64_t i = 0; i < g->n; i++)
        g->power_x[i] = exp(2 * beta * log(g->x[i]));
    for (int64_t j = 0; j < g->m; j++)
        g->power_y[j] = exp(2 * y[j]);
    second_derivatives(g->second_x, g->x, g->n);
    second_derivatives(g->second_y, y, g->m);
}

/* How many groups go through a step together: few enough for the cache, and for all threads. */
static int64_t groups_together(int64_t groups, int64_t points, int64_t threads)
{
    int64_t fit = GRIDS / (points * (int64_t)sizeof(vec)), share = (groups + threads - 1) / threads;
    fit = fit < 2 ? 2 : fit > GROUPS ? GROUPS : fit;
    return fit < share ? fit : share;
}

/* Prices all strikes; 2 where memory is short. Each thread has room for its grids, its rows of
 * vectors and its factors. */
static int all_prices(model *g, const double *y, double beta, int64_t count, const double *strikes,
                      double *prices)
{
    int64_t threads = 1, n = g->n, m = g->m;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    int64_t together = groups_together((count + STRIKES - 1) / STRIKES, n * m, threads);
    int64_t chunk = together * STRIKES, vectors = together * n * m + 5 * n + 6;
    int64_t numbers = (vectors * STRIKES + 4 * (n * m + 2 * m) + LANES) & -(int64_t)LANES;
    double *room = malloc((size_t)(4 * (n + m)) * sizeof *room);
    double *memory = aligned_alloc(64, (size_t)(threads * numbers) * sizeof *memory);
    int code = room == NULL || memory == NULL ? 2 : 0;
    if (code == 0) {
        prepare(g, room, y, beta);
#pragma omp parallel
        {
            int me = 0;
#ifdef _OPENMP
            me = omp_get_thread_num();
#endif
            vec *own = (vec *)(memory + me * numbers), *rows = own + together * n * m;
            factors *f = (factors *)(own + vectors);
            shared s = {f + 2 * m, f, f + m, rows};
            memset(rows, 0, (size_t)(5 * n + 6) * sizeof *rows);
#pragma omp for schedule(dynamic)
            for (int64_t k = 0; k < count; k += chunk)
                price(g, s, own, strikes + k, count - k < chunk ? count - k : chunk, prices + k);
        }
    }
    free(room);
    free(memory);
    return code;
}

int peer_local_volatility(int64_t *result_len, double **result, int64_t x_len, const double *x,
                          int64_t y_len, const double *y, int64_t times_len, const double *times,
                          double nu, double beta, int64_t strikes_len, const double *strikes)
{
    if (strikes_len > 0 && (x_len == 0 || y_len == 0 || times_len == 0))
        return 1;
    double *given = *result;
    int code = result_vector(result_len, (void **)result, strikes_len, sizeof **result);
    if (code != 0 || strikes_len == 0)
        return code;
    model g = {.n = x_len, .m = y_len, .steps = times_len - 1, .x = x, .times = times,
               .squared_nu = nu * nu};
    code = all_prices(&g, y, beta, strikes_len, strikes, *result);
    if (code != 0 && given == NULL) {
        free(*result);
        *result = NULL;
    }
    return code;
}
