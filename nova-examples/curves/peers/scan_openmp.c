/* The running sums of a vector with OpenMP, in one pass over memory: a thread adds up a chunk, which
 * then lies in its cache, takes the sum of all chunks before from the thread that has the chunk
 * before, hands on its own, and writes the running sums. Sixteen are made at once, in four steps. */
#include "../../benchmarks/peers/openmp.h"
#include <stdatomic.h>

enum {
    /* A chunk lies in the second-level cache. */
    CACHED = 1 << 16,
    STREAMED = 1 << 22,
};

/* Each element moved k places up, zeros below. */
#define MOVED(v, k)                                                                                \
    __builtin_shuffle((lanes_int){0}, v,                                                           \
                      (lanes_int){16 - k, 17 - k, 18 - k, 19 - k, 20 - k, 21 - k, 22 - k, 23 - k,  \
                                  24 - k, 25 - k, 26 - k, 27 - k, 28 - k, 29 - k, 30 - k, 31 - k})

/* Sums wrap around, as they do in the language: they are made of numbers without a sign. */
static uint32_t sum_of(const int32_t *X, int64_t n)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (uint32_t)X[i];
    return sum;
}

static uint32_t running_sums(int32_t *out, const int32_t *X, int64_t n, uint32_t before,
                             int streamed)
{
    const lanes_int last = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
    int64_t i = 0;
    for (; i < n && ((uintptr_t)(out + i) & 63) != 0; i++)
        out[i] = (int32_t)(before += (uint32_t)X[i]);
    lanes_int sums = (lanes_int){0} + (int32_t)before;
    for (; i + LANES <= n; i += LANES) {
        prefetch(X + i, AHEAD);
        lanes_int v = (lanes_int)load(X + i);
        v += MOVED(v, 1);
        v += MOVED(v, 2);
        v += MOVED(v, 4);
        v += MOVED(v, 8);
        if (streamed)
            stream((float *)(out + i), (lanes)(v + sums));
        else
            store(out + i, (lanes)(v + sums));
        sums += __builtin_shuffle(v, last);
    }
    before = (uint32_t)sums[0];
    for (; i < n; i++)
        out[i] = (int32_t)(before += (uint32_t)X[i]);
    if (streamed)
        stream_end();
    return before;
}

int peer_scan_openmp(int64_t *result_len, int32_t **result, int64_t X_len, const int32_t *X)
{
    int code = result_vector(result_len, (void **)result, X_len, sizeof **result);
    if (code != 0)
        return code;
    int32_t *out = *result;
    int streamed = X_len >= STREAMED;
    chunks all = cut(X_len, CHEAP / 2, LANES);
    if (all.count == 1 || omp_get_max_threads() == 1) {
        running_sums(out, X, X_len, 0, streamed);
        return 0;
    }
    if (all.length > CACHED)
        all = (chunks){(X_len + CACHED - 1) / CACHED, CACHED, X_len};
    uint32_t sum = 0;
    _Atomic int64_t turn = 0;
    /* Chunks are taken in order, so that the one before is always some thread's. */
#pragma omp parallel for schedule(monotonic : dynamic)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c), n = chunk_length(all, c);
        uint32_t own = sum_of(X + i, n);
        while (atomic_load_explicit(&turn, memory_order_acquire) != c) {
#ifdef __SSE2__
            _mm_pause();
#endif
        }
        uint32_t before = sum;
        sum = before + own;
        atomic_store_explicit(&turn, c + 1, memory_order_release);
        running_sums(out + i, X + i, n, before, streamed);
    }
    return 0;
}
