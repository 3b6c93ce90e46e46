/* Large results, written past the caches. */
#ifndef NOVA_NON_TEMPORAL_H
#define NOVA_NON_TEMPORAL_H

#include <stdint.h>
#include <string.h>

/* Results of at least this many bytes are streamed: they would leave no room in the caches for what
   is read, and little of them would be left there in the end. Tests set less, at least 1. */
#ifndef NOVA_NON_TEMPORAL_BYTES
#define NOVA_NON_TEMPORAL_BYTES 8388608
#endif

/* Rows of such results are streamed from this many bytes on. */
#define NOVA_NON_TEMPORAL_ROW (NOVA_NON_TEMPORAL_BYTES < 2048 ? NOVA_NON_TEMPORAL_BYTES : 2048)

/* Bytes that go to memory together. */
#define NOVA_LINE 64

/* Writes a line where one begins, past the caches if the processor can. */
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
static inline void nova_non_temporal_store_line(void *to, const void *from)
{
    /* In halves, although there may be vectors of 64 bytes: many compilers use those of 32 even then,
     * and what has been stored in halves a processor can't load as a whole before it has reached the
     * cache. */
#if defined(__AVX__)
    __m256i *line = (__m256i *)to;
    const __m256i *source = (const __m256i *)from;
    _mm256_stream_si256(line, _mm256_loadu_si256(source));
    _mm256_stream_si256(line + 1, _mm256_loadu_si256(source + 1));
#elif defined(__SSE2__)
    __m128i *line = (__m128i *)to;
    const __m128i *source = (const __m128i *)from;
    for (int k = 0; k < 4; k++)
        _mm_stream_si128(line + k, _mm_loadu_si128(source + k));
#else
    memcpy(to, from, NOVA_LINE);
#endif
}
/* Makes what was streamed visible to threads that see what follows. */
static inline void nova_store_fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Whether count structures of this size, of total in the whole result, are to be streamed in strips
   of width, which is a number of lines: -1 if not, else how many the first strip lacks, so that all
   others begin where a line does. */
static inline int64_t nova_plan_non_temporal(const void *to, int64_t count, int64_t total, size_t size,
                                       int64_t width)
{
#if defined(__SSE2__)
    if (count < 1 || (uint64_t)count * size < NOVA_NON_TEMPORAL_ROW
        || (uint64_t)total * size < NOVA_NON_TEMPORAL_BYTES)
        return -1;
    for (int64_t first = 0; first < width; first++)
        if (((uintptr_t)to + (size_t)first * size) % NOVA_LINE == 0)
            return first > 0 ? width - first : 0;
#else
    (void)to, (void)count, (void)total, (void)size, (void)width;
#endif
    return -1;
}

/* Writes count structures past the caches, which begin where a line does and fill lines. */
static inline void nova_non_temporal_store_lines(void *to, const void *from, int64_t count, size_t size)
{
    char *target = (char *)to;
    const char *source = (const char *)from;
    size_t bytes = (size_t)count * size;
    for (size_t at = 0; at < bytes; at += NOVA_LINE)
        nova_non_temporal_store_line(target + at, source + at);
}

/* Writes count structures, past the caches as far as they fill lines. */
static inline void nova_non_temporal_store(void *to, const void *from, int64_t count, size_t size)
{
    char *target = (char *)to;
    const char *source = (const char *)from;
    size_t bytes = (size_t)count * size;
    size_t at = (NOVA_LINE - (uintptr_t)to % NOVA_LINE) % NOVA_LINE;
    if (at > bytes)
        at = bytes;
    memcpy(target, source, at);
    size_t whole = (bytes - at) / NOVA_LINE * NOVA_LINE;
    nova_non_temporal_store_lines(target + at, source + at, (int64_t)whole, 1);
    at += whole;
    memcpy(target + at, source + at, bytes - at);
}

#endif
