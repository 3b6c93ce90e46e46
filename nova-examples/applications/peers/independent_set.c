/* A maximal independent set: what all rounds give is that each node, in the given order, joins
 * unless a neighbour has. So nodes are sorted, through a table if their order has few gaps, and
 * join one after the other, limited by the latency of memory, against which they prefetch. Threads
 * share a few thousand nodes at a time; those that wait for another one of these are left for a
 * single thread. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* How many nodes ahead the places of neighbours, and neighbours, are prefetched. */
    FAR_AHEAD = 32,
    NEAR_AHEAD = 12,
    /* Bits of a digit of the numbers that nodes are sorted by. */
    DIGIT = 11,
    DIGITS = 3,
    VALUES = 1 << DIGIT,
    /* Nodes that are worth a second thread; batches that several threads share, and their least
     * nodes. */
    WORTHWHILE = 1 << 12,
    BATCHES = 32,
    BATCH_LEAST = 1 << 10,
};

typedef struct {
    int64_t n;
    const int32_t *order, *starts, *neighbours;
    uint8_t *inside;
    /* The least and the greatest order. */
    int32_t least, most;
} graph;

/* A node that comes later, unless there is none or it is closed. */
static inline int32_t later(const uint64_t *closed, const int32_t *sorted, int64_t k, int64_t end)
{
    int32_t u = k < end ? sorted[k] : -1;
    return u >= 0 && (closed[u / 64] >> u % 64 & 1) == 0 ? u : -1;
}

/* Prefetches for two nodes that come later. Inline, since GCC removes calls of functions that do
 * nothing else. */
static inline __attribute__((always_inline)) void
prefetch_ahead(const graph *g, int32_t far, int32_t near)
{
    if (far >= 0)
        __builtin_prefetch(g->starts + far);
    if (near >= 0)
        __builtin_prefetch(g->neighbours + g->starts[near]);
}

/* Lets nodes join in their order; -1 is none. Neighbours of a node have it as theirs. */
static void join_in_order(const graph *g, uint64_t *closed, const int32_t *sorted, int64_t end)
{
    for (int64_t k = 0; k < end; k++) {
        prefetch_ahead(g, later(closed, sorted, k + FAR_AHEAD, end),
                       later(closed, sorted, k + NEAR_AHEAD, end));
        int32_t u = sorted[k];
        if (u < 0 || (closed[u / 64] >> u % 64 & 1) != 0)
            continue;
        g->inside[u] = 1;
        for (int64_t e = g->starts[u]; e < g->starts[u + 1]; e++) {
            uint32_t v = (uint32_t)g->neighbours[e];
            closed[v / 64] |= (uint64_t)1 << v % 64;
        }
    }
}

/* Nodes by their order, digit by digit; the result is one of the two arrays. */
static uint64_t *sort(const graph *g, uint64_t *from, uint64_t *to)
{
    int64_t places[DIGITS][VALUES] = {{0}};
    for (int64_t u = 0; u < g->n; u++) {
        uint32_t key = (uint32_t)g->order[u] - (uint32_t)g->least;
        from[u] = (uint64_t)key << 32 | (uint64_t)u;
        for (int d = 0; d < DIGITS; d++)
            places[d][key >> DIGIT * d & (VALUES - 1)]++;
    }
    for (int d = 0; d < DIGITS; d++) {
        int64_t before = 0;
        for (int k = 0; k < VALUES; k++) {
            int64_t count = places[d][k];
            places[d][k] = before;
            before += count;
        }
        for (int64_t k = 0; k < g->n; k++)
            to[places[d][from[k] >> (32 + DIGIT * d) & (VALUES - 1)]++] = from[k];
        uint64_t *last = from;
        from = to, to = last;
    }
    return from;
}

#ifdef _OPENMP
/* Nodes in their order, of which -1 is none; whether each one is closed; the nodes of a batch that
 * are left, those of each thread from where its part begins, and how many each has left. */
typedef struct {
    const int32_t *sorted;
    uint8_t *closed;
    int32_t *left;
    int64_t *counts;
} batches;

static inline int is_closed(const batches *b, int32_t u)
{
    return __atomic_load_n(b->closed + u, __ATOMIC_RELAXED);
}

static void join(const graph *g, const batches *b, int32_t u)
{
    g->inside[u] = 1;
    for (int64_t e = g->starts[u]; e < g->starts[u + 1]; e++)
        __atomic_store_n(b->closed + g->neighbours[e], 1, __ATOMIC_RELAXED);
}

/* Whether an open neighbour of a node comes before it, but not before the batch. */
static int waits(const graph *g, const batches *b, int32_t u, int32_t first)
{
    int32_t own = g->order[u];
    for (int64_t e = g->starts[u]; e < g->starts[u + 1]; e++) {
        int32_t v = g->neighbours[e], other = g->order[v];
        if (other >= first && other < own && !is_closed(b, v))
            return 1;
    }
    return 0;
}

/* Lets those nodes of a part of a batch join that need not wait; returns how many are left. */
static int64_t join_part(const graph *g, const batches *b, int64_t begin, int64_t end,
                         int32_t first, int32_t *left)
{
    int64_t count = 0;
    for (int64_t k = begin; k < end; k++) {
        int32_t far = k + FAR_AHEAD < end ? b->sorted[k + FAR_AHEAD] : -1;
        int32_t near = k + NEAR_AHEAD < end ? b->sorted[k + NEAR_AHEAD] : -1;
        prefetch_ahead(g, far >= 0 && !is_closed(b, far) ? far : -1,
                       near >= 0 && !is_closed(b, near) ? near : -1);
        int32_t u = b->sorted[k];
        if (u < 0 || is_closed(b, u))
            continue;
        if (waits(g, b, u, first))
            left[count++] = u;
        else
            join(g, b, u);
    }
    return count;
}

/* Lets nodes join, a batch at a time; thread `me` of a team. */
static void join_batches(const graph *g, const batches *b, int64_t end, int64_t size, int64_t me,
                         int64_t threads)
{
    int64_t part = (size + threads - 1) / threads;
    for (int64_t batch = 0; batch < end; batch += size) {
        int64_t stop = batch + size < end ? batch + size : end, first = batch;
        while (first < stop && b->sorted[first] < 0)
            first++;
        int64_t from = batch + part * me < stop ? batch + part * me : stop;
        int64_t to = from + part < stop ? from + part : stop;
        if (first < stop) {
            int32_t least = g->order[b->sorted[first]];
            b->counts[me] = join_part(g, b, from, to, least, b->left + part * me);
        }
#pragma omp barrier
#pragma omp single
        for (int64_t t = 0; t < threads && first < stop; t++)
            for (int64_t k = 0; k < b->counts[t]; k++)
                if (!is_closed(b, b->left[part * t + k]))
                    join(g, b, b->left[part * t + k]);
    }
}

static int join_together(const graph *g, const int32_t *sorted, int64_t end)
{
    int64_t size = end / BATCHES > BATCH_LEAST ? end / BATCHES : BATCH_LEAST;
    int64_t threads = omp_get_max_threads();
    batches b = {sorted, calloc((size_t)g->n, 1), malloc((size_t)(size + threads) * sizeof *b.left),
                 malloc((size_t)threads * sizeof *b.counts)};
    int code = b.closed == NULL || b.left == NULL || b.counts == NULL ? 2 : 0;
#pragma omp parallel if (code == 0)
    if (code == 0)
        join_batches(g, &b, end, size, omp_get_thread_num(), omp_get_num_threads());
    free(b.closed), free(b.left), free(b.counts);
    return code;
}
#endif

/* Lets sorted nodes join, by several threads where that is worthwhile. */
static int join_all(const graph *g, const int32_t *sorted, int64_t end)
{
#ifdef _OPENMP
    if (g->n >= WORTHWHILE && omp_get_max_threads() > 1)
        return join_together(g, sorted, end);
#endif
    uint64_t *closed = calloc((size_t)(g->n / 64 + 1), sizeof *closed);
    if (closed == NULL)
        return 2;
    join_in_order(g, closed, sorted, end);
    free(closed);
    return 0;
}

/* Sorts nodes through a table of all numbers, which are not many more than nodes. */
static int by_table(const graph *g, int64_t numbers)
{
    int32_t *sorted = malloc((size_t)numbers * sizeof *sorted);
    if (sorted == NULL)
        return 2;
    memset(sorted, -1, (size_t)numbers * sizeof *sorted);
#pragma omp parallel for if (g->n >= WORTHWHILE)
    for (int64_t u = 0; u < g->n; u++)
        sorted[(int64_t)g->order[u] - g->least] = (int32_t)u;
    int code = join_all(g, sorted, numbers);
    free(sorted);
    return code;
}

static int by_digits(const graph *g)
{
    uint64_t *pairs = malloc(2 * (size_t)g->n * sizeof *pairs);
    int32_t *sorted = malloc((size_t)g->n * sizeof *sorted);
    int code = 2;
    if (pairs != NULL && sorted != NULL) {
        const uint64_t *in_order = sort(g, pairs, pairs + g->n);
        for (int64_t k = 0; k < g->n; k++)
            sorted[k] = (int32_t)in_order[k];
        code = join_all(g, sorted, g->n);
    }
    free(pairs), free(sorted);
    return code;
}

int peer_independent_set(int64_t *result_len, uint8_t **result, int64_t order_len,
                         const int32_t *order, int64_t starts_len, const int32_t *starts,
                         int64_t neighbours_len, const int32_t *neighbours)
{
    (void)starts_len, (void)neighbours_len;
    int64_t n = order_len;
    int own = *result == NULL;
    int code = result_vector(result_len, (void **)result, n, 1);
    if (code != 0 || n == 0)
        return code;
    memset(*result, 0, (size_t)n);
    graph g = {n, order, starts, neighbours, *result, order[0], order[0]};
    for (int64_t u = 1; u < n; u++) {
        g.least = order[u] < g.least ? order[u] : g.least;
        g.most = order[u] > g.most ? order[u] : g.most;
    }
    int64_t numbers = (int64_t)g.most - g.least + 1;
    code = numbers <= 4 * n ? by_table(&g, numbers) : by_digits(&g);
    if (code != 0 && own)
        free(*result), *result = NULL;
    return code;
}
