/* What the hand-written programs share: vectors of sixteen floats, prefetch, streaming stores, and
 * the caller's result buffers. Written with GCC's vector types, so that it compiles for every
 * processor; where a type has no such operation, AVX-512 is used if the processor has it. */
#ifndef PEER_H
#define PEER_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Sixteen floats; as many whole numbers; eight doubles, and the eight floats they come from. */
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t lanes_int __attribute__((vector_size(64)));
typedef double lanes_double __attribute__((vector_size(64)));
typedef float half_lanes __attribute__((vector_size(32)));

enum {
    LANES = 16,
    /* Floats that are added in single precision before they are added to a double. */
    BLOCK = 4096,
    /* How far ahead data are prefetched, in bytes. */
    AHEAD = 8192,
    /* Floats of a page. */
    PAGE = 1024,
};

/* The order in which memory is read. Many processors look ahead within a page of memory and not into
 * the next one: several pages in turn, a line of each, with the same lines of the next ones
 * prefetched, are faster there by a third. On others, above all where pages are huge, they are slower
 * by half than one line behind the other. There prefetch helps programs that do much with each line
 * and holds up the others. So the programs are compiled for each order, and what is measured against
 * is the fastest one on the machine at hand.
 *
 * In turn one array is read as eight pages; as four where there are two arrays, blocks that have to
 * stay in the first-level cache, or results that are written: more of them are no faster. What is
 * shorter, as rows are, is taken as eight eighths or as four quarters. */
#ifdef PAGES_IN_TURN
enum { IN_TURN = 1, AHEAD_OF_FOUR = 4 * 4096, AHEAD_OF_EIGHT = 8 * 4096 };
#else
enum { IN_TURN = 0, AHEAD_OF_FOUR = AHEAD, AHEAD_OF_EIGHT = AHEAD };
#endif

/* A page, or an eighth of the whole 128s among n where they are fewer than eight pages. */
static inline int64_t eighth_of(int64_t n)
{
    return n < 8 * PAGE ? n / 128 * LANES : PAGE;
}

/* A page, or a quarter of the whole 128s among n where they are fewer than four pages. */
static inline int64_t quarter_of(int64_t n)
{
    return n < BLOCK ? n / 128 * 32 : PAGE;
}

/* The line that the k-th of eight accumulators takes of eight eighths, i floats into each. */
static inline int64_t of_eighths(int64_t eighth, int64_t i, int k)
{
    return IN_TURN ? i + eighth * k : 8 * i + LANES * k;
}

/* The same of four quarters, of which each has two accumulators. */
static inline int64_t of_quarters(int64_t quarter, int64_t i, int k)
{
    return IN_TURN ? i + quarter * (k / 2) + LANES * (k % 2) : 4 * i + LANES * k;
}

static inline lanes load(const void *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Eight floats as doubles. */
static inline lanes_double load_double(const float *from)
{
    half_lanes v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, lanes_double);
}

static inline void store(void *to, lanes v)
{
    memcpy(to, &v, sizeof v);
}

static inline lanes splat(float x)
{
    return (lanes){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

/* Asks for the line that lies `bytes` further. */
static inline void prefetch(const void *from, int64_t bytes)
{
#ifdef NO_PREFETCH
    (void)from, (void)bytes;
#else
    __builtin_prefetch((const char *)((uintptr_t)from + (uintptr_t)bytes), 0, 3);
#endif
}

/* Stores past the caches where the address is aligned. */
static inline void stream(float *to, lanes v)
{
#ifdef __AVX512F__
    if (((uintptr_t)to & 63) == 0) {
        _mm512_stream_ps(to, (__m512)v);
        return;
    }
#endif
    store(to, v);
}

/* Makes streaming stores visible before what follows. */
static inline void stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* The smaller of each pair; the second where one is nan. */
static inline lanes lanes_min(lanes a, lanes b)
{
#ifdef __AVX512F__
    return (lanes)_mm512_min_ps((__m512)a, (__m512)b);
#else
    for (int k = 0; k < LANES; k++)
        b[k] = a[k] < b[k] ? a[k] : b[k];
    return b;
#endif
}

/* The larger of each pair; the second where one is nan. */
static inline lanes lanes_max(lanes a, lanes b)
{
#ifdef __AVX512F__
    return (lanes)_mm512_max_ps((__m512)a, (__m512)b);
#else
    for (int k = 0; k < LANES; k++)
        b[k] = a[k] > b[k] ? a[k] : b[k];
    return b;
#endif
}

static inline lanes lanes_abs(lanes a)
{
    return (lanes)((lanes_int)a & 0x7fffffff);
}

/* Where the condition's bits are set the first, else the second. */
static inline lanes lanes_select(lanes_int condition, lanes a, lanes b)
{
    return (lanes)((condition & (lanes_int)a) | (~condition & (lanes_int)b));
}

static inline lanes lanes_sqrt(lanes a)
{
#ifdef __AVX512F__
    return (lanes)_mm512_sqrt_ps((__m512)a);
#else
    for (int k = 0; k < LANES; k++)
        a[k] = sqrtf(a[k]);
    return a;
#endif
}

/* One over the square root: an estimate and a step of Newton's method. */
static inline lanes lanes_rsqrt(lanes a)
{
#ifdef __AVX512F__
    lanes y = (lanes)_mm512_rsqrt14_ps((__m512)a);
    return y * (1.5f - (0.5f * a * y) * y);
#else
    return 1.0f / lanes_sqrt(a);
#endif
}

/* x at sixteen indices, every `stride`th number from `indices`. Single loads: the processors' own
 * instruction for this is slower on many. */
static inline lanes gather(const float *x, const int32_t *indices, int stride)
{
#ifdef __AVX512DQ__
    __m128 q[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const int32_t *at = indices + 4 * k * stride;
        q[k] = _mm_load_ss(x + at[0]);
        q[k] = _mm_insert_ps(q[k], _mm_load_ss(x + at[stride]), 0x10);
        q[k] = _mm_insert_ps(q[k], _mm_load_ss(x + at[2 * stride]), 0x20);
        q[k] = _mm_insert_ps(q[k], _mm_load_ss(x + at[3 * stride]), 0x30);
    }
    __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(q[0]), q[1], 1);
    __m256 high = _mm256_insertf128_ps(_mm256_castps128_ps256(q[2]), q[3], 1);
    return (lanes)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
#else
    lanes v;
    for (int k = 0; k < LANES; k++)
        v[k] = x[indices[k * stride]];
    return v;
#endif
}

/* The first n (0 to 16) elements, zeros behind them; memory behind is not touched. */
static inline lanes load_first(const void *from, int64_t n)
{
#ifdef __AVX512F__
    return (lanes)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
#else
    lanes v = {0};
    memcpy(&v, from, (size_t)n * sizeof(float));
    return v;
#endif
}

/* The sum of the sixteen. */
static inline double lanes_sum(lanes v)
{
    double sum = 0;
    for (int k = 0; k < LANES; k++)
        sum += v[k];
    return sum;
}

static inline double lanes_double_sum(lanes_double v)
{
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

/* The sums of neighbours: eight of a, then eight of b. */
static inline lanes sums_of_pairs(lanes a, lanes b)
{
    const lanes_int even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    const lanes_int odd = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    return __builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd);
}

/* The sum of each of sixteen vectors. */
static inline lanes sums_of_each(const lanes v[LANES])
{
    lanes s[LANES];
    for (int k = 0; k < LANES; k++)
        s[k] = v[k];
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int k = 0; k < n; k++)
            s[k] = sums_of_pairs(s[2 * k], s[2 * k + 1]);
    return s[0];
}

/* Sixteen sums that together are the sum of the n (0 to 64) floats; without a branch on n. */
static inline lanes sum_of_short(const float *from, int64_t n)
{
#if defined(__AVX512F__) && defined(__BMI2__)
    uint64_t mask = _bzhi_u64(~(uint64_t)0, (unsigned)n);
    __m512 a = _mm512_maskz_loadu_ps((__mmask16)mask, from);
    __m512 b = _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), from + 16);
    __m512 c = _mm512_maskz_loadu_ps((__mmask16)(mask >> 32), from + 32);
    __m512 d = _mm512_maskz_loadu_ps((__mmask16)(mask >> 48), from + 48);
    return (lanes)_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d));
#else
    lanes sum = {0};
    for (; n > LANES; n -= LANES, from += LANES)
        sum += load(from);
    return sum + load_first(from, n);
#endif
}

/* The sum of n floats, in blocks of single precision that are added as doubles. */
static inline double sum_of_long(const float *from, int64_t n)
{
    double sum = 0;
    for (; n >= 64; ) {
        lanes s[4] = {{0}};
        int64_t block = n < BLOCK ? n & ~(int64_t)63 : BLOCK;
        for (int64_t i = 0; i < block / 4; i += LANES)
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
                const float *at = from + (IN_TURN ? i + block / 4 * k : 4 * i + LANES * k);
                prefetch(at, AHEAD_OF_FOUR);
                s[k] += load(at);
            }
        sum += lanes_sum((s[0] + s[1]) + (s[2] + s[3]));
        from += block;
        n -= block;
    }
    return sum + lanes_sum(sum_of_short(from, n));
}

/* Makes room for n elements of `size` bytes, where the caller gave none (then from malloc, the
 * caller frees it); 3, with the length needed, where the caller gave too little. */
static inline int result_vector(int64_t *len, void **data, int64_t n, size_t size)
{
    if (*data == NULL) {
        size_t bytes = ((size_t)n * size + 64) & ~(size_t)63;
        *data = aligned_alloc(64, bytes);
        if (*data == NULL)
            return 2;
    } else if (*len < n) {
        *len = n;
        return 3;
    }
    *len = n;
    return 0;
}

/* The same for the elements of a matrix: the caller's extents become those of the result. */
static inline int result_matrix(int64_t *dim0, int64_t *dim1, void **data, int64_t rows,
                                int64_t columns, size_t size)
{
    int64_t room = *dim0 * *dim1;
    int code = result_vector(&room, data, rows * columns, size);
    if (code != 2) {
        *dim0 = rows;
        *dim1 = columns;
    }
    return code;
}

#endif
