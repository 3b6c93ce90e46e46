/* Normally distributed pairs of random numbers. Limited by arithmetic: batches of pairs are drawn
 * by as many generators, each a whole batch ahead of its last number, and all is done in full
 * vectors, with logarithms of the vector library. Only pairs in the circle go on, packed. Streams
 * are cut into parts, which threads share. */
#include "../../benchmarks/peers/peer.h"
#include "ep.h"

#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#else
    WIDTH = 4,
#endif
    /* Generators. Counts of a batch are kept in fields of six bits for each lane: 63 vectors. */
    BATCH = 63 * WIDTH,
    RINGS = 10,
    /* Pairs of a part. */
    PART = 1 << 16,
    /* Pairs that are worth a second thread. */
    WORTHWHILE = 1 << 13,
};

typedef uint64_t words __attribute__((vector_size(8 * WIDTH)));
typedef double vec __attribute__((vector_size(8 * WIDTH)));

/* Numbers modulo 2^46 are kept 64 times as large, so that they are the bits of a fraction. */
static const uint64_t FACTOR = 1220703125, LOW_46 = 0x3fffffffffff;

typedef struct {
    double x, y;
    int64_t rings[RINGS];
} totals;

/* A batch's pairs in the circle, and the logarithms of their t. */
typedef struct {
    _Alignas(64) uint64_t state[BATCH];
    _Alignas(64) double x[BATCH + WIDTH], y[BATCH + WIDTH], t[BATCH + WIDTH], log_t[BATCH + WIDTH];
} batch;

static inline words get(const void *from)
{
    words v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline vec get_double(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline double total(vec v)
{
    double sum = 0;
    for (int k = 0; k < WIDTH; k++)
        sum += v[k];
    return sum;
}

/* A product modulo 2^52. */
static inline words times(words a, uint64_t b)
{
#ifdef __AVX512IFMA__
    __m512i factor = _mm512_set1_epi64((long long)b);
    return (words)_mm512_madd52lo_epu64(_mm512_setzero_si512(), (__m512i)a, factor);
#else
    return a * b & 0xfffffffffffff;
#endif
}

static uint64_t power(int64_t e)
{
    uint64_t p = 1, b = FACTOR;
    for (; e > 0; e /= 2, b = b * b & LOW_46)
        p = e % 2 == 1 ? p * b & LOW_46 : p;
    return p;
}

/* From fractions to numbers from -1 to 1. */
static inline vec uniform(words fraction)
{
    return 2.0 * (vec)(fraction | 0x3ff0000000000000) - 3.0;
}

/* Appends those of some pairs that are in the circle; returns how many pairs there are then. */
static inline int64_t append(batch *b, int64_t count, vec x, vec y, int64_t limit)
{
    vec t = x * x + y * y;
#ifdef __AVX512F__
    __mmask8 inside = _mm512_cmp_pd_mask((__m512d)t, _mm512_set1_pd(1), _CMP_LE_OQ)
        & _mm512_cmp_pd_mask((__m512d)t, _mm512_setzero_pd(), _CMP_NEQ_OQ)
        & (__mmask8)(limit < 8 ? (1u << limit) - 1 : 255);
    _mm512_storeu_pd(b->x + count, _mm512_maskz_compress_pd(inside, (__m512d)x));
    _mm512_storeu_pd(b->y + count, _mm512_maskz_compress_pd(inside, (__m512d)y));
    _mm512_storeu_pd(b->t + count, _mm512_maskz_compress_pd(inside, (__m512d)t));
    return count + __builtin_popcount(inside);
#else
    for (int k = 0; k < WIDTH; k++) {
        b->x[count] = x[k], b->y[count] = y[k], b->t[count] = t[k];
        count += (k < limit) & (t[k] <= 1) & (t[k] != 0);
    }
    return count;
#endif
}

/* Draws pairs, and moves all generators a batch ahead; returns how many pairs are in the circle. */
static int64_t draw(batch *b, uint64_t batch_ahead, int64_t pairs)
{
    int64_t count = 0;
    for (int64_t k = 0; k < BATCH && k < pairs; k += WIDTH) {
        words first = get(b->state + k), second = times(first, FACTOR);
        words next = times(first, batch_ahead);
        memcpy(b->state + k, &next, sizeof next);
        count = append(b, count, uniform(first), uniform(second), pairs - k);
    }
    return count;
}

/* The root of -2 log t / t. */
static inline vec weight(vec log_t, vec t)
{
    vec a = -2.0 * log_t;
#ifdef __AVX512F__
    /* a over the root of a t: an estimate and two steps of Newton's method. Not 0, where a is. */
    vec both = (vec)_mm512_max_pd((__m512d)(a * t), _mm512_set1_pd(1e-300));
    vec y = (vec)_mm512_rsqrt14_pd((__m512d)both), half = 0.5 * both;
    y = y + y * (0.5 - half * y * y);
    y = y + y * (0.5 - half * y * y);
    return a * y;
#else
    a /= t;
#ifdef __AVX__
    return (vec)_mm256_sqrt_pd((__m256d)a);
#else
    for (int k = 0; k < WIDTH; k++)
        a[k] = sqrt(a[k]);
    return a;
#endif
#endif
}

/* The whole part of the larger of two absolute values. */
static inline words ring_of(vec x, vec y)
{
    vec size_x = (vec)((words)x & INT64_MAX), size_y = (vec)((words)y & INT64_MAX);
#if defined(__AVX512DQ__)
    return (words)_mm512_cvttpd_epi64(_mm512_max_pd((__m512d)size_x, (__m512d)size_y));
#elif defined(__AVX2__)
    __m256d size = _mm256_max_pd((__m256d)size_x, (__m256d)size_y);
    return (words)_mm256_cvtepi32_epi64(_mm256_cvttpd_epi32(size));
#else
    words ring;
    for (int k = 0; k < WIDTH; k++)
        ring[k] = (uint64_t)(size_x[k] > size_y[k] ? size_x[k] : size_y[k]);
    return ring;
#endif
}

/* Adds the fields of six bits of all lanes, every other one at a time. */
static void add_fields(int64_t *rings, words fields)
{
    const uint64_t every_other = 0x3f03f03f03f03f;
    words even = fields & every_other, odd = fields >> 6 & every_other;
    uint64_t evens = 0, odds = 0;
    for (int k = 0; k < WIDTH; k++)
        evens += even[k], odds += odd[k];
    for (int r = 0; r < RINGS; r += 2) {
        rings[r] += (int64_t)(evens >> 6 * r & 0xfff);
        rings[r + 1] += (int64_t)(odds >> 6 * r & 0xfff);
    }
}

/* Makes pairs normal, and adds them up. */
static void add_pairs(totals *sum, batch *b, int64_t count)
{
    int64_t padded = (count + WIDTH - 1) & -(int64_t)WIDTH;
    /* These lie in ring 0 and add nothing. */
    for (int64_t k = count; k < padded; k++)
        b->x[k] = b->y[k] = 0, b->t[k] = 1;
    for (int64_t k = 0; k < padded; k++)
        b->log_t[k] = log(b->t[k]);
    vec sum_x = {0}, sum_y = {0};
    words fields = {0};
    for (int64_t k = 0; k < padded; k += WIDTH) {
        vec w = weight(get_double(b->log_t + k), get_double(b->t + k));
        vec x = get_double(b->x + k) * w, y = get_double(b->y + k) * w;
        sum_x += x, sum_y += y;
        words ring = ring_of(x, y);
        fields += ((words){0} + 1) << ((ring << 2) + (ring << 1));
    }
    sum->x += total(sum_x);
    sum->y += total(sum_y);
    sum->rings[0] -= padded - count;
    add_fields(sum->rings, fields);
}

/* Adds pairs from a number of the generator on. */
static void add_part(totals *sum, uint64_t seed, int64_t pairs)
{
    batch b;
    uint64_t state = seed * FACTOR & LOW_46;
    /* Those that are not needed are set, too: vectors are whole. */
    for (int64_t k = 0; k < BATCH; k++) {
        b.state[k] = state << 6;
        state = k < pairs ? state * (FACTOR * FACTOR & LOW_46) & LOW_46 : state;
    }
    uint64_t batch_ahead = power(2 * BATCH);
    for (; pairs > 0; pairs -= BATCH)
        add_pairs(sum, &b, draw(&b, batch_ahead, pairs));
}

int peer_ep(nova_tuple3_double_double_vector_int *result, int32_t streams, int32_t pairs,
            uint64_t seed)
{
    int32_t *counts = malloc(RINGS * sizeof *counts);
    if (counts == NULL)
        return 2;
    int64_t each = pairs > 0 ? ((int64_t)pairs + PART - 1) / PART : 0;
    int64_t parts = streams > 0 ? streams * each : 0;
    double x = 0, y = 0;
    int64_t rings[RINGS] = {0};
#pragma omp parallel for schedule(dynamic) reduction(+ : x, y, rings) \
    if ((int64_t)streams * pairs > WORTHWHILE)
    for (int64_t k = 0; k < parts; k++) {
        totals sum = {0, 0, {0}};
        int64_t done = k % each * PART;
        /* Where a stream begins is computed in 32 bits. */
        int64_t before = (int32_t)(2 * (uint32_t)(k / each) * (uint32_t)pairs);
        uint64_t first = (seed * power(before) & LOW_46) * power(2 * done) & LOW_46;
        add_part(&sum, first, pairs - done < PART ? pairs - done : PART);
        x += sum.x, y += sum.y;
        for (int r = 0; r < RINGS; r++)
            rings[r] += sum.rings[r];
    }
    for (int r = 0; r < RINGS; r++)
        counts[r] = (int32_t)rings[r];
    result->e0 = x, result->e1 = y;
    result->e2.len = RINGS;
    result->e2.data = counts;
    return 0;
}
