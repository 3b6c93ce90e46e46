/* Non-temporal stores: large results are written past the caches. */
#ifndef NOVA_NON_TEMPORAL_H
#define NOVA_NON_TEMPORAL_H

#include <stdint.h>
#include <string.h>

/* Results of at least this many bytes use non-temporal stores. They would leave no room in the caches
 * for data that is read, and little of them would stay there. Tests define less, at least 1. */
#ifndef NOVA_NON_TEMPORAL_BYTES
#define NOVA_NON_TEMPORAL_BYTES 8388608
#endif

/* Rows of such results use non-temporal stores from this many bytes on. */
#define NOVA_NON_TEMPORAL_ROW (NOVA_NON_TEMPORAL_BYTES < 2048 ? NOVA_NON_TEMPORAL_BYTES : 2048)

/* The bytes of a cache line, which go to memory together. */
#define NOVA_LINE 64

/* Writes a line that begins at `to`, past the caches if the processor can. */
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
static inline void nova_non_temporal_store_line(void *to, const void *from)
{
    /* It is written in halves, although there may be vectors of 64 bytes: many compilers use those of
     * 32 even then. A processor cannot load as a whole what was stored in halves, before it has reached
     * the cache. */
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
/* Makes non-temporal stores visible to threads that see later stores. */
static inline void nova_store_fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Plans non-temporal stores for count structures of this size, of total in the whole result, in strips
 * of width, which is a number of lines. Returns -1 if they are not used. Otherwise returns the number
 * of structures that the first strip lacks, so that all other strips begin at a line. */
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

/* Writes count structures past the caches. They begin at a line and fill lines. */
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
