/* What this machine can do, measured beside the benchmarks with some threads: reading, copying with
 * streaming stores, and arithmetic on vectors of sixteen floats. Arrays begin on a page and have a
 * multiple of 128 floats; each thread has as large a part, what is left over at the end is nobody's. */
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

/* How long this thread has had a processor, in seconds. */
double limits_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The seconds that have passed. */
double limits_seconds_passed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How many threads the caller's OpenMP regions have. */
void limits_set_threads(int threads)
{
    omp_set_num_threads(threads);
}

enum {
    /* Floats of a page; how many pages are taken in turn, and how many bytes they are. */
    PAGE = 1024,
    PAGES = 8,
    PAGES_AHEAD = PAGES * PAGE * 4,
    /* Bytes that are asked for ahead of one stream. */
    STREAM_AHEAD = 8192,
    LANES = 16,
};

/* The orders in which memory is read and copied; the limit is the fastest of them. Some processors
 * look ahead within a page and not into the next one, so that eight pages in turn, a line of each,
 * are fastest; others read one line behind the other fastest, and with huge pages twice as fast as
 * several in turn; whether it helps to ask ahead for lines is theirs to say too. */
enum { IN_TURN, LINEAR, LINEAR_ALONE };

/* How many of n floats each thread has. */
static inline int64_t part_of(int64_t n, int threads)
{
    return n / threads / 128 * 128;
}

/* A page, or an eighth of what is left, where that is fewer than eight pages. */
static inline int64_t piece_of(int64_t n)
{
    return n < PAGES * PAGE ? n / PAGES : PAGE;
}

/* Where the k-th of eight lines lies, of eight pieces that are taken from floats j of each on. */
static inline int64_t place(int order, int64_t piece, int64_t j, int k)
{
    return order == IN_TURN ? j + piece * k : 8 * j + LANES * k;
}

/* The line that is taken at this place. */
static inline lanes line(int order, const float *from)
{
    int ahead = order == IN_TURN ? PAGES_AHEAD : STREAM_AHEAD;
    if (order != LINEAR_ALONE)
        __builtin_prefetch((const char *)((uintptr_t)from + (uintptr_t)ahead), 0, 3);
    return load(from);
}

/* Reads n floats; gives their sum. */
static inline float read_part(int order, const float *x, int64_t n)
{
    lanes s[PAGES] = {{0}};
    for (int64_t i = 0, piece; i < n; i += PAGES * piece) {
        piece = piece_of(n - i);
        for (int64_t j = 0; j < piece; j += LANES)
#pragma GCC unroll 8
            for (int k = 0; k < PAGES; k++)
                s[k] += line(order, x + i + place(order, piece, j, k));
    }
    return sum_of(s, PAGES);
}

static float read_in(int order, const float *x, int64_t n)
{
    switch (order) {
    case IN_TURN:
        return read_part(IN_TURN, x, n);
    case LINEAR:
        return read_part(LINEAR, x, n);
    default:
        return read_part(LINEAR_ALONE, x, n);
    }
}

float limits_read(int order, const float *x, int64_t n, int threads)
{
    float sum = 0;
    int64_t part = part_of(n, threads);
#pragma omp parallel num_threads(threads) reduction(+ : sum) if (threads > 1)
    sum += read_in(order, x + omp_get_thread_num() * part, part);
    return sum;
}

static inline void stream(float *to, lanes v)
{
#ifdef __AVX512F__
    _mm512_stream_ps(to, (__m512)v);
#else
    memcpy(to, &v, sizeof v);
#endif
}

/* Copies n floats past the caches. Eight lines are read before they are written: a write and a read
 * in the same place of two pages look alike to the processor, and the read would wait. */
static inline void copy_part(int order, float *to, const float *from, int64_t n)
{
    for (int64_t i = 0, piece; i < n; i += PAGES * piece) {
        piece = piece_of(n - i);
        for (int64_t j = 0; j < piece; j += LANES) {
            lanes v[PAGES];
#pragma GCC unroll 8
            for (int k = 0; k < PAGES; k++)
                v[k] = line(order, from + i + place(order, piece, j, k));
#pragma GCC unroll 8
            for (int k = 0; k < PAGES; k++)
                stream(to + i + place(order, piece, j, k), v[k]);
        }
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static void copy_in(int order, float *to, const float *from, int64_t n)
{
    switch (order) {
    case IN_TURN:
        copy_part(IN_TURN, to, from, n);
        break;
    case LINEAR:
        copy_part(LINEAR, to, from, n);
        break;
    default:
        copy_part(LINEAR_ALONE, to, from, n);
    }
}

void limits_copy(int order, float *to, const float *from, int64_t n, int threads)
{
    int64_t part = part_of(n, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    copy_in(order, to + omp_get_thread_num() * part, from + omp_get_thread_num() * part, part);
}

/* Does 12 n fused multiplications and additions of sixteen floats; gives their sum. */
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
