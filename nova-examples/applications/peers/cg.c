/* Conjugate gradients with a sparse matrix. Limited by the bandwidth of reading the matrix once in
 * each step: its product also gives an inner product, and two more passes do the rest. Threads have
 * rows with equally many elements, and keep them for all steps. */
#include "../../benchmarks/peers/peer.h"
#include "cg.h"
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif

enum {
    /* Elements that are worth a second thread. */
    WORTHWHILE = 1 << 14,
};

/* A thread's part of two inner products, in a line of its own. */
typedef struct {
    _Alignas(64) double with_product, of_residual;
} parts_of_thread;

typedef struct {
    int64_t n;
    int32_t steps;
    const int32_t *starts, *columns;
    const double *values, *b;
    double *x, *r, *p, *q;
    parts_of_thread *parts;
} problem;

/* The product of a row, from one element to another, and p. */
static inline double row_product(const problem *s, int64_t from, int64_t to)
{
    const double *restrict p = s->p, *restrict values = s->values;
    const int32_t *restrict columns = s->columns;
#ifdef __AVX512VL__
    /* Without a branch for the rest: many rows have only a few elements. */
    __m512d sums = _mm512_setzero_pd();
    for (int64_t k = from; k < to; k += 8) {
        __mmask8 some = (__mmask8)(to - k < 8 ? (1u << (to - k)) - 1 : 255);
        __m256i where = _mm256_maskz_loadu_epi32(some, columns + k);
        __m512d of_p = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), some, where, p, 8);
        sums = _mm512_fmadd_pd(_mm512_maskz_loadu_pd(some, values + k), of_p, sums);
    }
    return _mm512_reduce_add_pd(sums);
#else
    double sum = 0;
    for (int64_t k = from; k < to; k++)
        sum += values[k] * p[columns[k]];
    return sum;
#endif
}

/* q = A p in the rows from `begin` to `end`; returns their part of the inner product of p and q. */
static double multiply(const problem *s, int64_t begin, int64_t end)
{
    double sum = 0;
    for (int64_t i = begin; i < end; i++) {
        double product = row_product(s, s->starts[i], s->starts[i + 1]);
        s->q[i] = product;
        sum += s->p[i] * product;
    }
    return sum;
}

/* r = r - alpha q; returns the part of the inner product of r with itself. */
static double reduce_residual(const problem *s, double alpha, int64_t begin, int64_t end)
{
    double *restrict r = s->r, sum = 0;
    const double *restrict q = s->q;
    for (int64_t i = begin; i < end; i++) {
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

/* x = x + alpha p, p = r + beta p. */
static void advance(const problem *s, double alpha, double beta, int64_t begin, int64_t end)
{
    double *restrict x = s->x, *restrict p = s->p;
    const double *restrict r = s->r;
    for (int64_t i = begin; i < end; i++) {
        x[i] += alpha * p[i];
        p[i] = r[i] + beta * p[i];
    }
}

/* x = 0, r = p = b; returns the part of the inner product of r with itself. */
static double begin_at_zero(const problem *s, int64_t begin, int64_t end)
{
    double sum = 0;
    for (int64_t i = begin; i < end; i++) {
        s->x[i] = 0;
        s->r[i] = s->p[i] = s->b[i];
        sum += s->b[i] * s->b[i];
    }
    return sum;
}

/* The first row that begins at an element or behind it. */
static int64_t first_row(const problem *s, int64_t element)
{
    int64_t low = 0, high = s->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->starts[middle] < element)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All steps, by thread `me` of a team; returns the norm of the residual. */
static double solve(const problem *s, int64_t me, int64_t threads)
{
    int64_t all = s->starts[s->n] - s->starts[0];
    int64_t begin = me == 0 ? 0 : first_row(s, s->starts[0] + all * me / threads);
    int64_t end = me == threads - 1 ? s->n : first_row(s, s->starts[0] + all * (me + 1) / threads);
    parts_of_thread *parts = s->parts;
    double rho = 0;
    parts[me].of_residual = begin_at_zero(s, begin, end);
#pragma omp barrier
    for (int64_t t = 0; t < threads; t++)
        rho += parts[t].of_residual;
    for (int32_t step = 0; step < s->steps; step++) {
        double product = 0, next = 0;
        parts[me].with_product = multiply(s, begin, end);
#pragma omp barrier
        for (int64_t t = 0; t < threads; t++)
            product += parts[t].with_product;
        double alpha = rho / product;
        parts[me].of_residual = reduce_residual(s, alpha, begin, end);
#pragma omp barrier
        for (int64_t t = 0; t < threads; t++)
            next += parts[t].of_residual;
        advance(s, alpha, next / rho, begin, end);
        rho = next;
#pragma omp barrier
    }
    return sqrt(rho);
}

int peer_cg(nova_tuple2_vector_double_double *result, int32_t steps, int64_t starts_len,
            const int32_t *starts, int64_t columns_len, const int32_t *columns, int64_t values_len,
            const double *values, int64_t b_len, const double *b)
{
    (void)starts_len, (void)columns_len, (void)values_len;
    int64_t n = b_len, threads = 1, room = 0;
#ifdef _OPENMP
    threads = values_len < WORTHWHILE ? 1 : omp_get_max_threads();
#endif
    problem s = {n, steps, starts, columns, values, b, NULL, NULL, NULL, NULL, NULL};
    /* Vectors begin at lines. */
    int64_t stride = (n + 8) / 8 * 8;
    result_vector(&room, (void **)&s.x, n, sizeof(double));
    result_vector(&room, (void **)&s.r, 3 * stride, sizeof(double));
    result_vector(&room, (void **)&s.parts, threads, sizeof *s.parts);
    if (s.x == NULL || s.r == NULL || s.parts == NULL) {
        free(s.x), free(s.r), free(s.parts);
        return 2;
    }
    s.p = s.r + stride, s.q = s.p + stride;
    double norm = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads((int)threads)
    {
        double found = solve(&s, omp_get_thread_num(), omp_get_num_threads());
#pragma omp single
        norm = found;
    }
#else
    norm = solve(&s, 0, 1);
#endif
    free(s.r), free(s.parts);
    result->e0.len = n;
    result->e0.data = s.x;
    result->e1 = norm;
    return 0;
}
