/* Forces between particles in neighbouring boxes of a cube. Limited by arithmetic, above all
 * powers: each pair of particles is computed once for both of them, a vector of particles against
 * two others at once. Threads take rows of boxes so far from each other that no two reach the same
 * box. */
#include "../../benchmarks/peers/peer.h"
#include "lava.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#else
    WIDTH = 4,
#endif
    /* What is summed for each particle. */
    SUMS = 4,
    /* Particles that are worth a second thread. */
    WORTHWHILE = 256,
};

typedef double vec __attribute__((vector_size(8 * WIDTH)));
typedef int64_t words __attribute__((vector_size(8 * WIDTH)));
typedef nova_tuple3_double_double_double place;
typedef nova_tuple4_double_double_double_double force;

/* Particles, those of each box filled up to whole vectors by some without charge. Box b has
 * `counts` of them from `begins` on; the largest box has `most`. A square of a distance times
 * `scale` is a power of 2. */
typedef struct {
    int64_t boxes, most;
    int64_t *begins, *counts;
    double scale;
    double *at[3], *charge, *sums[SUMS];
} cube;

static inline vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void put(double *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

static inline double total(vec v)
{
    double sum = 0;
    for (int k = 0; k < WIDTH; k++)
        sum += v[k];
    return sum;
}

/* The nearest whole numbers of numbers between -1022 and 1023, or of the nearer of these. */
static inline vec round_some(vec *x, words *whole)
{
#if defined(__AVX512DQ__)
    __m512d limited = _mm512_max_pd((__m512d)*x, _mm512_set1_pd(-1022));
    limited = _mm512_min_pd(limited, _mm512_set1_pd(1023));
    __m512i rounded = _mm512_cvtpd_epi64(limited);
    *x = (vec)limited, *whole = (words)rounded;
    return (vec)_mm512_cvtepi64_pd(rounded);
#elif defined(__AVX2__) && !defined(__AVX512F__)
    __m256d limited = _mm256_max_pd((__m256d)*x, _mm256_set1_pd(-1022));
    limited = _mm256_min_pd(limited, _mm256_set1_pd(1023));
    __m128i rounded = _mm256_cvtpd_epi32(limited);
    *x = (vec)limited, *whole = (words)_mm256_cvtepi32_epi64(rounded);
    return (vec)_mm256_cvtepi32_pd(rounded);
#else
    vec rounded;
    for (int k = 0; k < WIDTH; k++) {
        (*x)[k] = fmin(fmax((*x)[k], -1022), 1023);
        (*whole)[k] = (int64_t)rint((*x)[k]);
        rounded[k] = (double)(*whole)[k];
    }
    return rounded;
#endif
}

/* 2 to the powers x: a polynomial for the part from -1/2 to 1/2, and an exponent. */
static inline vec powers(vec x)
{
    words whole;
    vec rounded = round_some(&x, &whole), f = x - rounded;
    vec p = 7.0725859492692237e-9 * f + 1.02086902999583058e-7;
    p = p * f + 1.32154425886919217e-6;
    p = p * f + 1.52526572602008371e-5;
    p = p * f + 1.54035304417360502e-4;
    p = p * f + 1.33335582301649739e-3;
    p = p * f + 9.61812910760688853e-3;
    p = p * f + 5.55041086644477192e-2;
    p = p * f + 2.40226506959100982e-1;
    p = p * f + 6.93147180559949983e-1;
    p = p * f + 1.0;
    return (vec)((words)p + (whole << 52));
}

/* Adds to `own` what the particles from `from` to `to` and `rows` particles from i on do to these,
 * and what these do to those if they are of another box. */
static inline __attribute__((always_inline)) void
some_pairs(const cube *c, vec *own, int64_t i, int rows, int64_t from, int64_t to, int mutual)
{
    const double *at_x = c->at[0], *at_y = c->at[1], *at_z = c->at[2], *charge = c->charge;
    double *to_v = c->sums[0], *to_x = c->sums[1], *to_y = c->sums[2], *to_z = c->sums[3];
    double scale = c->scale;
    vec v[2], fx[2], fy[2], fz[2];
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++)
        v[r] = own[SUMS * r], fx[r] = own[SUMS * r + 1], fy[r] = own[SUMS * r + 2],
        fz[r] = own[SUMS * r + 3];
    for (int64_t j = from; j < to; j += WIDTH) {
        vec sum_v = {0}, sum_x = {0}, sum_y = {0}, sum_z = {0};
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++) {
            vec x = at_x[i + r] - get(at_x + j), y = at_y[i + r] - get(at_y + j);
            vec z = at_z[i + r] - get(at_z + j);
            vec power = powers(scale * (x * x + (y * y + z * z)));
            vec here = power * get(charge + j), there = power * charge[i + r];
            v[r] += here, fx[r] += here * x, fy[r] += here * y, fz[r] += here * z;
            sum_v += there, sum_x += there * x, sum_y += there * y, sum_z += there * z;
        }
        if (mutual) {
            put(to_v + j, get(to_v + j) + sum_v);
            put(to_x + j, get(to_x + j) - sum_x);
            put(to_y + j, get(to_y + j) - sum_y);
            put(to_z + j, get(to_z + j) - sum_z);
        }
    }
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++)
        own[SUMS * r] = v[r], own[SUMS * r + 1] = fx[r], own[SUMS * r + 2] = fy[r],
        own[SUMS * r + 3] = fz[r];
}

/* All pairs of two boxes. */
static void two_boxes(const cube *c, vec *own, int64_t a, int64_t b)
{
    int64_t begin = c->begins[a], end = begin + c->counts[a], i = begin;
    int64_t from = c->begins[b], to = c->begins[b + 1];
    if (a == b)
        for (; i + 2 <= end; i += 2)
            some_pairs(c, own + SUMS * (i - begin), i, 2, from, to, 0);
    else
        for (; i + 2 <= end; i += 2)
            some_pairs(c, own + SUMS * (i - begin), i, 2, from, to, 1);
    if (i < end && a == b)
        some_pairs(c, own + SUMS * (i - begin), i, 1, from, to, 0);
    else if (i < end)
        some_pairs(c, own + SUMS * (i - begin), i, 1, from, to, 1);
}

/* All pairs of a box with itself and with those neighbours that come later. */
static void one_box(const cube *c, vec *own, int64_t x, int64_t y, int64_t z)
{
    int64_t n = c->boxes, a = x + n * (y + n * z);
    memset(own, 0, SUMS * (size_t)c->counts[a] * sizeof *own);
    two_boxes(c, own, a, a);
    for (int64_t k = z; k <= z + 1 && k < n; k++)
        for (int64_t j = k == z || y == 0 ? y : y - 1; j <= y + 1 && j < n; j++)
            for (int64_t i = k == z && j == y ? x + 1 : x > 0 ? x - 1 : 0; i <= x + 1 && i < n; i++)
                two_boxes(c, own, a, i + n * (j + n * k));
    for (int64_t i = 0; i < c->counts[a]; i++)
        for (int s = 0; s < SUMS; s++)
            c->sums[s][c->begins[a] + i] += total(own[SUMS * i + s]);
}

/* All boxes, by a team of threads: rows along x of every third y and every other z at a time. */
static void all_boxes(const cube *c, vec *own)
{
    int64_t n = c->boxes;
    for (int turn = 0; turn < 6; turn++) {
#pragma omp for collapse(2) schedule(dynamic)
        for (int64_t z = turn / 3; z < n; z += 2)
            for (int64_t y = turn % 3; y < n; y += 3)
                for (int64_t x = 0; x < n; x++)
                    one_box(c, own, x, y, z);
    }
}

/* Counts the particles of boxes, up to whole vectors; returns how many there are. */
static int64_t count(cube *c, const int64_t *segments, int64_t boxes)
{
    int64_t next = 0;
    c->most = 0;
    for (int64_t b = 0; b < boxes; b++) {
        c->begins[b] = next;
        c->counts[b] = segments[b + 1] - segments[b];
        c->most = c->counts[b] > c->most ? c->counts[b] : c->most;
        next += (c->counts[b] + WIDTH - 1) / WIDTH * WIDTH;
    }
    return c->begins[boxes] = next;
}

/* Copies the particles of a box. */
static void fill(const cube *c, int64_t b, const place *places, const double *charges)
{
    for (int64_t i = c->begins[b]; i < c->begins[b + 1]; i++, places++, charges++) {
        int real = i - c->begins[b] < c->counts[b];
        c->at[0][i] = real ? places->e0 : 0;
        c->at[1][i] = real ? places->e1 : 0;
        c->at[2][i] = real ? places->e2 : 0;
        c->charge[i] = real ? *charges : 0;
        for (int s = 0; s < SUMS; s++)
            c->sums[s][i] = 0;
    }
}

/* Writes the forces of a box. */
static void empty(const cube *c, int64_t b, force *forces)
{
    for (int64_t i = c->begins[b]; i < c->begins[b] + c->counts[b]; i++)
        *forces++ = (force){c->sums[0][i], 2 * c->sums[1][i], 2 * c->sums[2][i], 2 * c->sums[3][i]};
}

/* Computes all forces; `c` has room for the beginnings and counts of boxes. */
static int compute(cube *c, force *forces, const place *places, const int64_t *places_seg1,
                   const double *charges, const int64_t *charges_seg1)
{
    int64_t boxes = c->boxes * c->boxes * c->boxes, all = count(c, places_seg1, boxes);
    int64_t threads = 1, me = 0;
#ifdef _OPENMP
    threads = all < WORTHWHILE ? 1 : omp_get_max_threads();
#endif
    int64_t own = SUMS * WIDTH * (c->most + 1);
    size_t numbers = (size_t)((4 + SUMS) * all + threads * own);
    double *memory = aligned_alloc(64, (numbers * sizeof *memory + 64) & ~(size_t)63);
    if (memory == NULL)
        return 2;
    /* The sums of threads come first, since their vectors are aligned. */
    double *next = memory + threads * own;
    for (int k = 0; k < 3; k++, next += all)
        c->at[k] = next;
    c->charge = next;
    for (int s = 0; s < SUMS; s++)
        c->sums[s] = next += all;
#pragma omp parallel num_threads((int)threads) private(me)
    {
#ifdef _OPENMP
        me = omp_get_thread_num();
#endif
#pragma omp for
        for (int64_t b = 0; b < boxes; b++)
            fill(c, b, places + places_seg1[b], charges + charges_seg1[b]);
        all_boxes(c, (vec *)(memory + me * own));
#pragma omp for
        for (int64_t b = 0; b < boxes; b++)
            empty(c, b, forces + (places_seg1[b] - places_seg1[0]));
    }
    free(memory);
    return 0;
}

int peer_lava(int64_t *result_len, int64_t **result_seg1, force **result, int32_t boxes,
              double alpha, int64_t places_len, const int64_t *places_seg1, const place *places,
              int64_t charges_len, const int64_t *charges_seg1, const double *charges)
{
    (void)places_len, (void)charges_len;
    int64_t n = boxes > 0 ? boxes : 0, all = n * n * n;
    cube c = {.boxes = n, .scale = -1.4426950408889634 * alpha};
    int64_t *segments = malloc((size_t)(all + 1) * sizeof *segments);
    c.begins = malloc((size_t)(2 * all + 1) * sizeof *c.begins);
    int64_t particles = places_seg1[all] - places_seg1[0];
    force *forces = malloc((size_t)(particles + 1) * sizeof *forces);
    int code = 2;
    if (segments != NULL && c.begins != NULL && forces != NULL) {
        c.counts = c.begins + all + 1;
        for (int64_t b = 0; b <= all; b++)
            segments[b] = places_seg1[b] - places_seg1[0];
        code = compute(&c, forces, places, places_seg1, charges, charges_seg1);
    }
    free(c.begins);
    if (code != 0) {
        free(segments), free(forces);
        return code;
    }
    *result_len = all;
    *result_seg1 = segments;
    *result = forces;
    return 0;
}
