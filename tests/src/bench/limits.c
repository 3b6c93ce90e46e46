/* The limits of this machine, measured together with the benchmarks with some threads: reading, copying
 * with non-temporal stores, and arithmetic on vectors of sixteen floats. Arrays begin on a page and have
 * a multiple of 128 floats. Each thread has a chunk of the same size, and no thread has the remainder. */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef float lanes __attribute__((vector_size(64)));

static inline lanes load(const float *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline float sum_of(const lanes *s, int n)
{
    float sum = 0;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < 16; k++)
            sum += s[j][k];
    return sum;
}

/* Returns the processor time of this thread, in seconds. */
double limits_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the time of a wall clock, in seconds. */
double limits_seconds_passed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sets the number of threads of the caller's OpenMP regions. */
void limits_set_threads(int threads)
{
    omp_set_num_threads(threads);
}

enum {
    /* Floats of a page; the number of interleaved pages, and their size in bytes. */
    PAGE = 1024,
    PAGES = 8,
    PAGES_AHEAD = PAGES * PAGE * 4,
    /* The prefetch distance of one linear stream, in bytes. */
    LINEAR_AHEAD = 8192,
    LANES = 16,
};

/* The orders in which memory is read and copied. The limit is the fastest of them. Some processors
 * prefetch within a page and not into the next one, so that eight page-interleaved streams, with a line
 * of each page, are fastest. Others read consecutive lines fastest, and with huge pages twice as fast as
 * interleaved pages. The benefit of prefetch instructions depends on the processor, too. */
enum { INTERLEAVED, LINEAR, LINEAR_ALONE };

/* Returns the number of floats in each thread's chunk of n floats. */
static inline int64_t chunk_of(int64_t n, int threads)
{
    return n / threads / 128 * 128;
}

/* Returns the floats of a page, or an eighth of the remaining n, where these are fewer than eight pages. */
static inline int64_t block_of(int64_t n)
{
    return n < PAGES * PAGE ? n / PAGES : PAGE;
}

/* Returns the offset of the k-th of eight lines, of eight blocks that are read from float j of each on. */
static inline int64_t place(int order, int64_t block, int64_t j, int k)
{
    return order == INTERLEAVED ? j + block * k : 8 * j + LANES * k;
}

/* Loads the line at this address. */
static inline lanes line(int order, const float *from)
{
    int ahead = order == INTERLEAVED ? PAGES_AHEAD : LINEAR_AHEAD;
    if (order != LINEAR_ALONE)
        __builtin_prefetch((const char *)((uintptr_t)from + (uintptr_t)ahead), 0, 3);
    return load(from);
}

/* Reads n floats and returns their sum. */
static inline float read_chunk(int order, const float *x, int64_t n)
{
    lanes s[PAGES] = {{0}};
    for (int64_t i = 0, block; i < n; i += PAGES * block) {
        block = block_of(n - i);
        for (int64_t j = 0; j < block; j += LANES)
#pragma GCC unroll 8
            for (int k = 0; k < PAGES; k++)
                s[k] += line(order, x + i + place(order, block, j, k));
    }
    return sum_of(s, PAGES);
}

static float read_in(int order, const float *x, int64_t n)
{
    switch (order) {
    case INTERLEAVED:
        return read_chunk(INTERLEAVED, x, n);
    case LINEAR:
        return read_chunk(LINEAR, x, n);
    default:
        return read_chunk(LINEAR_ALONE, x, n);
    }
}

float limits_read(int order, const float *x, int64_t n, int threads)
{
    float sum = 0;
    int64_t chunk = chunk_of(n, threads);
#pragma omp parallel num_threads(threads) reduction(+ : sum) if (threads > 1)
    sum += read_in(order, x + omp_get_thread_num() * chunk, chunk);
    return sum;
}

static inline void store_non_temporal(float *to, lanes v)
{
#ifdef __AVX512F__
    _mm512_stream_ps(to, (__m512)v);
#else
    memcpy(to, &v, sizeof v);
#endif
}

/* Copies n floats with non-temporal stores. Eight lines are read before they are written: a write and
 * a read at the same offset of two pages alias in the processor, and the read would wait. */
static inline void copy_chunk(int order, float *to, const float *from, int64_t n)
{
    for (int64_t i = 0, block; i < n; i += PAGES * block) {
        block = block_of(n - i);
        for (int64_t j = 0; j < block; j += LANES) {
            lanes v[PAGES];
#pragma GCC unroll 8
            for (int k = 0; k < PAGES; k++)
                v[k] = line(order, from + i + place(order, block, j, k));
#pragma GCC unroll 8
            for (int k = 0; k < PAGES; k++)
                store_non_temporal(to + i + place(order, block, j, k), v[k]);
        }
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static void copy_in(int order, float *to, const float *from, int64_t n)
{
    switch (order) {
    case INTERLEAVED:
        copy_chunk(INTERLEAVED, to, from, n);
        break;
    case LINEAR:
        copy_chunk(LINEAR, to, from, n);
        break;
    default:
        copy_chunk(LINEAR_ALONE, to, from, n);
    }
}

void limits_copy(int order, float *to, const float *from, int64_t n, int threads)
{
    int64_t chunk = chunk_of(n, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    copy_in(order, to + omp_get_thread_num() * chunk, from + omp_get_thread_num() * chunk, chunk);
}

/* Computes 12 n fused multiplications and additions of sixteen floats. Returns their sum. */
static float compute_alone(float a, float b, int64_t n)
{
    lanes s[12];
    for (int k = 0; k < 12; k++)
        s[k] = (lanes){0} + (float)k;
    for (int64_t i = 0; i < n; i++)
#pragma GCC unroll 12
        for (int k = 0; k < 12; k++)
            s[k] = s[k] * a + b;
    return sum_of(s, 12);
}

float limits_compute(float a, float b, int64_t n, int threads)
{
    float sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum) if (threads > 1)
    sum += compute_alone(a, b, n);
    return sum;
}
