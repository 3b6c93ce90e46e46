/* A histogram of bytes that stay at 255. Few bins are counted in four histograms of words, so that
 * equal colours need not wait for each other, until all bins are full. Many bins are counted in
 * their bytes: limited by the latency of the cache that holds them. Threads count bytes of
 * their own. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* The most bins that are few. */
    FEW = 2048,
    TABLES = 4,
    /* Pixels between looks at whether all of few bins are full. */
    BETWEEN_LOOKS = 1 << 16,
    /* Pixels that are worth a thread. */
    WORTHWHILE = 1 << 16,
};

/* Counts pixels that are few enough for words; colours outside are counted behind the bins. */
static void count_words(uint32_t *tables, int64_t stride, uint32_t bins, const int32_t *pixels,
                        int64_t n)
{
    int64_t i = 0;
    for (; i + TABLES <= n; i += TABLES)
#pragma GCC unroll 4
        for (int k = 0; k < TABLES; k++) {
            uint32_t colour = (uint32_t)pixels[i + k];
            tables[k * stride + (colour < bins ? colour : bins)]++;
        }
    for (; i < n; i++) {
        uint32_t colour = (uint32_t)pixels[i];
        tables[colour < bins ? colour : bins]++;
    }
}

static void count_few(uint8_t *counts, uint32_t bins, const int32_t *pixels, int64_t n)
{
    uint32_t tables[TABLES * (FEW + 16)];
    int64_t stride = (bins + 16) & ~(int64_t)15;
    uint8_t least = 0;
    for (int64_t begin = 0; begin < n && least < 255; begin += BETWEEN_LOOKS) {
        memset(tables, 0, TABLES * (size_t)stride * sizeof *tables);
        count_words(tables, stride, bins, pixels + begin,
                    n - begin < BETWEEN_LOOKS ? n - begin : BETWEEN_LOOKS);
        least = 255;
        for (int64_t k = 0; k < bins; k++) {
            uint32_t sum = counts[k];
            for (int t = 0; t < TABLES; t++)
                sum += tables[t * stride + k];
            counts[k] = (uint8_t)(sum < 255 ? sum : 255);
            least = counts[k] < least ? counts[k] : least;
        }
    }
}

static void count_many(uint8_t *counts, uint32_t bins, const int32_t *pixels, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t colour = (uint32_t)pixels[i];
        if (colour < bins)
            counts[colour] = (uint8_t)(counts[colour] + (counts[colour] != 255));
    }
}

static void count(uint8_t *counts, int64_t bins, const int32_t *pixels, int64_t n)
{
    memset(counts, 0, (size_t)bins);
    if (bins <= FEW)
        count_few(counts, (uint32_t)bins, pixels, n);
    else
        count_many(counts, (uint32_t)bins, pixels, n);
}

#ifdef _OPENMP
/* Adds bytes to bytes, which stay at 255. */
static void add_bytes(uint8_t *restrict to, const uint8_t *restrict from, int64_t begin,
                      int64_t end)
{
    for (int64_t k = begin; k < end; k++) {
        uint8_t room = (uint8_t)(255 - from[k]);
        to[k] = (uint8_t)((to[k] < room ? to[k] : room) + from[k]);
    }
}

/* Each thread counts a part of the pixels; then each adds a part of the bins. Returns 2 without
 * memory. */
static int count_in_parts(uint8_t *counts, int64_t bins, const int32_t *pixels, int64_t n,
                          int threads)
{
    int64_t stride = (bins + 63) & ~(int64_t)63;
    uint8_t *others = aligned_alloc(64, (size_t)stride * (size_t)(threads - 1));
    if (others == NULL)
        return 2;
#pragma omp parallel num_threads(threads)
    {
        /* The team may be smaller than asked for. */
        int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t begin = n * me / team, end = n * (me + 1) / team;
        count(me == 0 ? counts : others + stride * (me - 1), bins, pixels + begin, end - begin);
#pragma omp barrier
        int64_t from = stride / 64 * me / team * 64, to = stride / 64 * (me + 1) / team * 64;
        for (int64_t other = 0; other < team - 1; other++)
            add_bytes(counts, others + stride * other, from, to < bins ? to : bins);
    }
    free(others);
    return 0;
}
#endif

int peer_histogram(int64_t *result_len, uint8_t **result, int32_t bins, int64_t pixels_len,
                   const int32_t *pixels)
{
    int code = result_vector(result_len, (void **)result, bins, 1);
    if (code != 0)
        return code;
#ifdef _OPENMP
    /* What all threads add must not be more than what they count. */
    int64_t threads = pixels_len / (WORTHWHILE + bins / 16);
    threads = threads < omp_get_max_threads() ? threads : omp_get_max_threads();
    if (threads > 1 && bins > 0)
        return count_in_parts(*result, bins, pixels, pixels_len, (int)threads);
#endif
    count(*result, bins, pixels, pixels_len);
    return 0;
}
