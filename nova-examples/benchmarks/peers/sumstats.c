/* Extremes and moments. Nearly limited by the bandwidth of reading: each block of 4096 is read from
 * memory once, for its extremes and its mean, and once more from the first-level cache, for the
 * powers of the differences from that mean, all in double precision; blocks are joined by the
 * combining operator. Powers about the block's own mean lose no digits. */
#pragma GCC optimize("no-finite-math-only")
#include "peer.h"

typedef struct {
    float least, greatest;
    double mean, variance, skewness, kurtosis;
} statistics;

typedef struct {
    double n, mean, m2, m3, m4;
} moments;

typedef struct {
    lanes low[2], high[2];
} extremes;

static inline void combine(moments *a, const moments *b)
{
    double n = a->n + b->n, d = b->mean - a->mean, dn = d / n;
    double product = a->n * b->n;
    moments sum = {.n = n, .mean = a->mean + dn * b->n};
    sum.m2 = a->m2 + b->m2 + d * dn * product;
    sum.m3 = a->m3 + b->m3 + d * dn * dn * product * (a->n - b->n) +
             3 * dn * (a->n * b->m2 - b->n * a->m2);
    sum.m4 = a->m4 + b->m4 + d * dn * dn * dn * product * (a->n * a->n - product + b->n * b->n) +
             6 * dn * dn * (a->n * a->n * b->m2 + b->n * b->n * a->m2) +
             4 * dn * (a->n * b->m3 - b->n * a->m3);
    *a = sum;
}

/* The mean of four quarters; their extremes join the others. */
static inline double first_pass(const float *x, int64_t quarter, extremes *e)
{
    lanes_double s[8] = {{0}};
    for (int64_t i = 0; i < quarter; i += 2 * LANES)
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            const float *at = x + of_quarters(quarter, i, k);
            prefetch(at, AHEAD_OF_FOUR);
            lanes v = load(at);
            e->low[k % 2] = lanes_min(v, e->low[k % 2]);
            e->high[k % 2] = lanes_max(v, e->high[k % 2]);
            s[k] += load_double(at);
            s[k] += load_double(at + 8);
        }
    for (int k = 1; k < 8; k++)
        s[0] += s[k];
    return lanes_double_sum(s[0]) / (double)(4 * quarter);
}

static inline moments second_pass(const float *x, int64_t n, double mean)
{
    lanes_double m2[4] = {{0}}, m3[4] = {{0}}, m4[4] = {{0}};
    for (int64_t i = 0; i < n; i += 32)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            lanes_double d = load_double(x + i + 8 * k) - mean;
            lanes_double square = d * d;
            m2[k] += square;
            m3[k] += square * d;
            m4[k] += square * square;
        }
    return (moments){(double)n, mean, lanes_double_sum((m2[0] + m2[1]) + (m2[2] + m2[3])),
                     lanes_double_sum((m3[0] + m3[1]) + (m3[2] + m3[3])),
                     lanes_double_sum((m4[0] + m4[1]) + (m4[2] + m4[3]))};
}

/* What is left, fewer than 128. */
static moments of_rest(const float *x, int64_t n)
{
    moments m = {.n = (double)n};
    for (int64_t i = 0; i < n; i++)
        m.mean += x[i];
    m.mean /= (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = x[i] - m.mean;
        m.m2 += d * d;
        m.m3 += d * d * d;
        m.m4 += d * d * d * d;
    }
    return m;
}

/* Extremes and moments of some numbers. */
typedef struct {
    float least, greatest;
    moments m;
} summary;

static summary of_nothing(void)
{
    return (summary){INFINITY, -INFINITY, {0, 0, 0, 0, 0}};
}

static void join(summary *a, const summary *b)
{
    a->least = b->least < a->least ? b->least : a->least;
    a->greatest = b->greatest > a->greatest ? b->greatest : a->greatest;
    if (b->m.n > 0)
        combine(&a->m, &b->m);
}

static summary summarise(const float *X, int64_t n)
{
    extremes e;
    for (int k = 0; k < 2; k++) {
        e.low[k] = splat(INFINITY);
        e.high[k] = splat(-INFINITY);
    }
    summary all = of_nothing();
    int64_t i = 0;
    while (i + 128 <= n) {
        int64_t quarter = quarter_of(n - i);
        double mean = first_pass(X + i, quarter, &e);
        moments block = second_pass(X + i, 4 * quarter, mean);
        combine(&all.m, &block);
        i += 4 * quarter;
    }
    for (int k = 0; k < 2 * LANES; k++) {
        float low = e.low[k / LANES][k % LANES], high = e.high[k / LANES][k % LANES];
        all.least = low < all.least ? low : all.least;
        all.greatest = high > all.greatest ? high : all.greatest;
    }
    summary rest = of_nothing();
    if (i < n)
        rest.m = of_rest(X + i, n - i);
    for (; i < n; i++) {
        rest.least = X[i] < rest.least ? X[i] : rest.least;
        rest.greatest = X[i] > rest.greatest ? X[i] : rest.greatest;
    }
    join(&all, &rest);
    return all;
}

/* What is asked for. */
static statistics statistics_of(const summary *all)
{
    moments m = all->m;
    double none = m.n == 0 ? (double)NAN : 0.0;
    return (statistics){all->least,
                        all->greatest,
                        m.mean + none,
                        m.m2 / (m.n - 1),
                        sqrt(m.n) * m.m3 / (m.m2 * sqrt(m.m2)),
                        m.n * m.m4 / (m.m2 * m.m2)};
}

int peer_sumstats(statistics *result, int64_t X_len, const float *X)
{
    summary all = summarise(X, X_len);
    *result = statistics_of(&all);
    return 0;
}
