/* A matrix with two products of vectors added, and two products with vectors. Limited by the
 * bandwidth of reading A and writing B: rows of B are written and at the same time multiplied by y,
 * four rows at once; then rows are multiplied by x from the last to the first, since the last ones
 * are in the caches. */
#include "../../benchmarks/peers/peer.h"
#include "gemver.h"
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#else
    WIDTH = 4,
#endif
    ROWS = 4,
    /* Elements that are worth a second thread. */
    WORTHWHILE = 1 << 15,
    /* Bytes of B that are written past the caches: more than a second-level cache has, and fewer
     * than malloc always takes from the system, whose zeros are still in the caches. */
    STREAM_FROM = 1 << 21,
    STREAM_TO = 1 << 25,
};

typedef double vec __attribute__((vector_size(8 * WIDTH)));

typedef struct {
    int64_t n, stride;
    int streams;
    double alpha, beta;
    const double *a, *u1, *v1, *u2, *v2, *y, *z;
    double *b, *x, *w;
    /* What each thread adds to x. */
    double *sums;
} problem;

static inline vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Writes a vector, past the caches if asked to: then the address is aligned. */
static inline void put(double *to, vec v, int streams)
{
#if defined(__AVX512F__)
    if (streams)
        _mm512_stream_pd(to, (__m512d)v);
    else
#elif defined(__AVX__)
    if (streams)
        _mm256_stream_pd(to, (__m256d)v);
    else
#endif
        memcpy(to, &v, sizeof v);
}

/* Writes some rows of B, and adds their products with y to sums. */
static inline __attribute__((always_inline)) void
some_rows(const problem *p, double *restrict sums, int64_t i, int rows, int streams)
{
    int64_t n = p->n, stride = p->stride, j = 0;
    const double *a = p->a + i * stride, *u1 = p->u1 + i, *u2 = p->u2 + i, *y = p->y + i;
    double *b = p->b + i * n;
    for (; j + WIDTH <= n; j += WIDTH) {
        vec v1 = get(p->v1 + j), v2 = get(p->v2 + j), sum = get(sums + j);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            vec element = get(a + r * stride + j) + (u1[r] * v1 + u2[r] * v2);
            put(b + r * n + j, element, streams);
            sum += y[r] * element;
        }
        memcpy(sums + j, &sum, sizeof sum);
    }
    for (; j < n; j++)
        for (int r = 0; r < rows; r++) {
            b[r * n + j] = a[r * stride + j] + (u1[r] * p->v1[j] + u2[r] * p->v2[j]);
            sums[j] += y[r] * b[r * n + j];
        }
}

/* Writes the rows of B from `begin` to `end`, and their products with y. */
static void update(const problem *p, double *sums, int64_t begin, int64_t end)
{
    memset(sums, 0, (size_t)p->n * sizeof *sums);
    int64_t i = begin;
    if (p->streams) {
        for (; i + ROWS <= end; i += ROWS)
            some_rows(p, sums, i, ROWS, 1);
        stream_end();
    } else
        for (; i + ROWS <= end; i += ROWS)
            some_rows(p, sums, i, ROWS, 0);
    for (; i < end; i++)
        some_rows(p, sums, i, 1, 0);
}

/* Writes the elements of w of those rows, the last one first. */
static void multiply(const problem *p, int64_t begin, int64_t end)
{
    const double *x = p->x;
    for (int64_t i = end - 1; i >= begin; i--) {
        const double *row = p->b + i * p->n;
        double sums[4] = {0, 0, 0, 0};
        int64_t j = 0, quarter = p->n / 4;
        for (; j < quarter; j++) {
            sums[0] += row[j] * x[j];
            sums[1] += row[j + quarter] * x[j + quarter];
            sums[2] += row[j + 2 * quarter] * x[j + 2 * quarter];
            sums[3] += row[j + 3 * quarter] * x[j + 3 * quarter];
        }
        for (j = 4 * quarter; j < p->n; j++)
            sums[0] += row[j] * x[j];
        p->w[i] = p->alpha * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
}

/* All of it, by thread `me` of a team. */
static void solve(const problem *p, int64_t me, int64_t threads)
{
    int64_t begin = p->n * me / threads, end = p->n * (me + 1) / threads;
    update(p, p->sums + me * p->n, begin, end);
#pragma omp barrier
    for (int64_t j = begin; j < end; j++)
        p->x[j] = 0;
    for (int64_t t = 0; t < threads; t++)
        for (int64_t j = begin; j < end; j++)
            p->x[j] += p->sums[t * p->n + j];
    for (int64_t j = begin; j < end; j++)
        p->x[j] = p->beta * p->x[j] + p->z[j];
#pragma omp barrier
    multiply(p, begin, end);
}

int peer_gemver(nova_tuple3_vector2_double_vector_double_vector_double *result, double alpha,
                double beta, int64_t A_dim0, int64_t A_dim1, const double *A, int64_t u1_len,
                const double *u1, int64_t v1_len, const double *v1, int64_t u2_len,
                const double *u2, int64_t v2_len, const double *v2, int64_t y_len, const double *y,
                int64_t z_len, const double *z)
{
    (void)u1_len, (void)v1_len, (void)u2_len, (void)v2_len, (void)y_len, (void)z_len;
    int64_t n = A_dim0, threads = 1;
#ifdef _OPENMP
    threads = n * n < WORTHWHILE ? 1 : omp_get_max_threads();
#endif
    int64_t bytes = n * n * (int64_t)sizeof(double);
    int streams = bytes >= STREAM_FROM && bytes < STREAM_TO && n % 8 == 0;
    problem p = {n, A_dim1, streams, alpha, beta, A, u1, v1, u2, v2, y, z, NULL, NULL, NULL, NULL};
    int64_t room = 0;
    result_vector(&room, (void **)&p.b, n * n, sizeof(double));
    result_vector(&room, (void **)&p.x, n, sizeof(double));
    result_vector(&room, (void **)&p.w, n, sizeof(double));
    result_vector(&room, (void **)&p.sums, threads * n, sizeof(double));
    if (p.b == NULL || p.x == NULL || p.w == NULL || p.sums == NULL) {
        free(p.b), free(p.x), free(p.w), free(p.sums);
        return 2;
    }
#ifdef _OPENMP
#pragma omp parallel num_threads((int)threads)
    solve(&p, omp_get_thread_num(), omp_get_num_threads());
#else
    solve(&p, 0, 1);
#endif
    free(p.sums);
    result->e0.dim0 = result->e0.dim1 = n;
    result->e0.data = p.b;
    result->e1.len = result->e2.len = n;
    result->e1.data = p.x;
    result->e2.data = p.w;
    return 0;
}
