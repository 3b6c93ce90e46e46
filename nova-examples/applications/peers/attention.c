/* Attention. Limited by arithmetic: as in flash attention, the scores of a block of queries with a
 * block of keys stay in the caches, and the means that they weigh are corrected whenever a greater
 * score is found. Both products hold parts of their results in registers, with keys and values
 * packed into panels; powers are computed in full vectors. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
    ROWS = 12,
#else
    WIDTH = 8,
    ROWS = 6,
#endif
    VECTORS = 2,
    PANEL = VECTORS * WIDTH,
    /* Queries and keys of a block, and products that are worth a second thread. */
    QUERIES = 48,
    KEYS = 128,
    WORTHWHILE = 1 << 17,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));
/* A part of a product. */
typedef vec sums[ROWS][VECTORS];

/* There are n queries of d numbers, and m keys with values of e numbers. The keys are packed into
 * panels of keys, and the values into panels of columns. */
typedef struct {
    int64_t n, m, d, e;
    const float *queries;
    float *keys, *values, *result;
} problem;

static inline vec get(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void put(float *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

static inline vec larger(vec a, vec b)
{
#if defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX__)
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
    ints more = a > b;
    return (vec)(((ints)a & more) | ((ints)b & ~more));
#endif
}

/* 2 to the powers x, none of which is positive; nearly 0 where they are small. */
static inline vec powers(vec x)
{
    x = larger(x, (vec){0} - 126.0f);
    ints whole = __builtin_convertvector(x - 0.5f, ints);
    vec f = x - __builtin_convertvector(whole, vec);
    vec p = 0.000154614447f * f + 0.001340042818f;
    p = p * f + 0.009618056679f;
    p = p * f + 0.05550327227f;
    p = p * f + 0.2402265092f;
    p = p * f + 0.6931472067f;
    p = p * f + 1.0f;
    return (vec)((ints)p + (whole << 23));
}

/* Adds the product of rows of `a` and `count` rows of a panel to sums. */
static inline __attribute__((always_inline)) void
multiply(sums acc, const float *a, int64_t row, int64_t step, const float *panel, int64_t count)
{
    for (int64_t k = 0; k < count; k++, a += step, panel += PANEL)
#pragma GCC unroll 12
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++)
                acc[r][v] += a[r * row] * get(panel + v * WIDTH);
}

/* Scores of a block of queries, packed in groups of ROWS, with some panels of keys. */
static void score(const problem *p, float *scores, const float *queries, int64_t first,
                  int64_t count)
{
    for (int64_t j = 0; j < count; j += PANEL)
        for (int64_t i = 0; i < QUERIES; i += ROWS) {
            sums acc;
#pragma GCC unroll 12
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; v++)
                    acc[r][v] = (vec){0};
            multiply(acc, queries + i * p->d, 1, ROWS, p->keys + (first + j) * p->d, p->d);
#pragma GCC unroll 12
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; v++)
                    put(scores + (i + r) * KEYS + j + v * WIDTH, acc[r][v]);
        }
}

/* Multiplies earlier means by `factors`, and adds what a block's weights give. */
static void weigh(const problem *p, float *means, const float *weights, const float *factors,
                  int64_t first, int64_t count)
{
    int64_t columns = (p->e + PANEL - 1) / PANEL * PANEL;
    for (int64_t j = 0; j < columns; j += PANEL)
        for (int64_t i = 0; i < QUERIES; i += ROWS) {
            float *out = means + i * columns + j;
            sums acc;
#pragma GCC unroll 12
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; v++)
                    acc[r][v] = factors[i + r] * get(out + r * columns + v * WIDTH);
            multiply(acc, weights + i * KEYS, KEYS, 1, p->values + j * p->m + first * PANEL, count);
#pragma GCC unroll 12
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; v++)
                    put(out + r * columns + v * WIDTH, acc[r][v]);
        }
}

/* Makes weights of scores, whose scale is that of powers of 2. Brings up to date the greatest score
 * and the sum of weights; returns what earlier weights are to be multiplied by. */
static float make_weights(float *scores, int64_t count, float *most, float *sum)
{
    for (; count % WIDTH != 0; count++)
        scores[count] = -1e30f;
    vec top = (vec){0} + *most;
    for (int64_t j = 0; j < count; j += WIDTH)
        top = larger(top, get(scores + j));
    float greatest = *most;
    for (int k = 0; k < WIDTH; k++)
        greatest = top[k] > greatest ? top[k] : greatest;
    float factor = powers((vec){0} + (*most - greatest))[0], added = 0;
    vec total = {0};
    for (int64_t j = 0; j < count; j += WIDTH) {
        vec weights = powers(get(scores + j) - greatest);
        total += weights;
        put(scores + j, weights);
    }
    for (int k = 0; k < WIDTH; k++)
        added += total[k];
    *most = greatest;
    *sum = *sum * factor + added;
    return factor;
}

/* Packs queries in groups of ROWS, scaled, with zeros where there are none. */
static void pack_queries(const problem *p, float *packed, int64_t first)
{
    /* The logarithm of e to base 2, since weights are powers of 2. */
    float scale = 1.44269504f / sqrtf((float)p->d);
    for (int64_t i = 0; i < QUERIES; i++)
        for (int64_t k = 0; k < p->d; k++)
            packed[i / ROWS * ROWS * p->d + k * ROWS + i % ROWS] =
                first + i < p->n ? scale * p->queries[(first + i) * p->d + k] : 0;
}

/* The numbers of a thread: packed queries, and means. */
static int64_t workspace(const problem *p)
{
    return QUERIES * (p->d + (p->e + PANEL - 1) / PANEL * PANEL) + PANEL;
}

/* The results of a block of queries. */
static void one_block(const problem *p, float *space, int64_t first)
{
    _Alignas(64) float scores[QUERIES * KEYS];
    float most[QUERIES], sum[QUERIES] = {0}, factors[QUERIES];
    int64_t columns = (p->e + PANEL - 1) / PANEL * PANEL;
    float *means = space, *packed = space + QUERIES * columns;
    memset(means, 0, (size_t)(QUERIES * columns) * sizeof *means);
    pack_queries(p, packed, first);
    for (int i = 0; i < QUERIES; i++)
        most[i] = -1e30f;
    for (int64_t j = 0; j < p->m; j += KEYS) {
        int64_t count = p->m - j < KEYS ? p->m - j : KEYS;
        score(p, scores, packed, j, count);
        for (int64_t i = 0; i < QUERIES; i++)
            factors[i] = make_weights(scores + i * KEYS, count, &most[i], &sum[i]);
        weigh(p, means, scores, factors, j, count);
    }
    for (int64_t i = 0; i < QUERIES && first + i < p->n; i++) {
        float by = p->m > 0 ? 1 / sum[i] : 0;
        for (int64_t j = 0; j < p->e; j++)
            p->result[(first + i) * p->e + j] = by * means[i * columns + j];
    }
}

/* Packs a panel of keys, with zeros behind the last one. */
static void pack_keys(float *out, const float *keys, int64_t count, int64_t d)
{
    for (int64_t k = 0; k < d; k++)
        for (int64_t j = 0; j < PANEL; j++)
            out[k * PANEL + j] = j < count ? keys[j * d + k] : 0;
}

/* Packs some columns of the values, with zeros behind the last one. */
static void pack_values(float *out, const float *values, int64_t count, int64_t m, int64_t e)
{
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < PANEL; j++)
            out[k * PANEL + j] = j < count ? values[k * e + j] : 0;
}

static int attend(problem *p, const float *keys, const float *values)
{
    int64_t panels = (p->m + PANEL - 1) / PANEL, columns = (p->e + PANEL - 1) / PANEL;
    int64_t threads = 1, me = 0;
#ifdef _OPENMP
    threads = p->n * p->m < WORTHWHILE / (p->d + p->e + 1) ? 1 : omp_get_max_threads();
#endif
    int64_t keys_size = panels * PANEL * p->d, values_size = columns * PANEL * p->m;
    int64_t numbers = keys_size + values_size + threads * workspace(p);
    p->keys = aligned_alloc(64, ((size_t)numbers * sizeof(float) + 64) & ~(size_t)63);
    if (p->keys == NULL)
        return 2;
    p->values = p->keys + keys_size;
#pragma omp parallel num_threads((int)threads) private(me)
    {
#ifdef _OPENMP
        me = omp_get_thread_num();
#endif
#pragma omp for
        for (int64_t j = 0; j < panels; j++)
            pack_keys(p->keys + j * PANEL * p->d, keys + j * PANEL * p->d, p->m - j * PANEL, p->d);
#pragma omp for
        for (int64_t j = 0; j < columns; j++)
            pack_values(p->values + j * PANEL * p->m, values + j * PANEL, p->e - j * PANEL, p->m,
                        p->e);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < p->n; i += QUERIES)
            one_block(p, p->values + values_size + me * workspace(p), i);
    }
    free(p->keys);
    return 0;
}

int peer_attention(int64_t *result_dim0, int64_t *result_dim1, float **result, int64_t Q_dim0,
                   int64_t Q_dim1, const float *Q, int64_t K_dim0, int64_t K_dim1, const float *K,
                   int64_t V_dim0, int64_t V_dim1, const float *V)
{
    (void)K_dim0, (void)K_dim1;
    int own = *result == NULL;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, Q_dim0, V_dim1,
                             sizeof **result);
    if (code != 0 || Q_dim0 == 0 || V_dim1 == 0)
        return code;
    problem p = {Q_dim0, V_dim0, Q_dim1, V_dim1, Q, NULL, NULL, *result};
    code = attend(&p, K, V);
    if (code != 0 && own)
        free(*result), *result = NULL;
    return code;
}
