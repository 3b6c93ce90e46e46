/* Radix sorts by hand, stable, for one thread and several. An order says what word an element is and
 * what its key is, an unsigned number with the order of the elements:
 *
 *     struct order { using word = ...; using key = ...; static key of(word); };
 *
 * `least_first` sorts by the least significant digit first. All digits are counted in one reading, a
 * digit that is the same in all keys costs no pass, and each pass collects a line of the cache for each
 * bucket before it writes it past the caches. `most_first` shares the elements among 2048 buckets by the
 * leading bits that differ, and sorts each bucket in the cache. */
#ifndef SORT_RADIX_H
#define SORT_RADIX_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <memory>
#include <omp.h>
#include <vector>

namespace radix {

/* Elements that lie in the second-level cache are written through the caches. */
constexpr int64_t CACHED = 1 << 18;
/* The longest runs that are sorted by insertion. */
constexpr int64_t SHORT = 32;

struct free_memory {
    void operator()(void *memory) const { std::free(memory); }
};
template <class T> using memory = std::unique_ptr<T[], free_memory>;

/* Memory that begins with a line of the cache. */
template <class T> memory<T> lines(int64_t count)
{
    std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 127) & ~std::size_t{63};
    return memory<T>(static_cast<T *>(std::aligned_alloc(64, bytes)));
}

/* Writes a line past the caches. */
inline void stream_line(void *to, const void *from)
{
#if defined __AVX512F__
    _mm512_stream_si512(static_cast<__m512i *>(to), _mm512_load_si512(from));
#elif defined __AVX__
    auto *target = static_cast<__m256i *>(to);
    auto *source = static_cast<const __m256i *>(from);
    _mm256_stream_si256(target, _mm256_load_si256(source));
    _mm256_stream_si256(target + 1, _mm256_load_si256(source + 1));
#else
    auto *target = static_cast<__m128i *>(to);
    auto *source = static_cast<const __m128i *>(from);
    for (int k = 0; k < 4; k++)
        _mm_stream_si128(target + k, _mm_load_si128(source + k));
#endif
}

/* Moves elements to their buckets of a digit. `at` has the first place of each bucket that this thread
 * writes, and the place behind its last one afterwards. */
template <class O, int BITS>
void scatter(const typename O::word *from, int64_t count, typename O::word *to, uint32_t *at, int shift)
{
    using word = typename O::word;
    constexpr uint32_t BUCKETS = 1u << BITS, LINE = 64 / sizeof(word);
    if (count * static_cast<int64_t>(sizeof(word)) <= CACHED) {
        for (int64_t i = 0; i < count; i++)
            to[at[(O::of(from[i]) >> shift) & (BUCKETS - 1)]++] = from[i];
        return;
    }
    auto buffers = lines<word>(BUCKETS * LINE);
    std::vector<uint32_t> first(at, at + BUCKETS);
    word *buffer = buffers.get();
    for (int64_t i = 0; i < count; i++) {
        word element = from[i];
        uint32_t bucket = static_cast<uint32_t>(O::of(element) >> shift) & (BUCKETS - 1);
        uint32_t place = at[bucket]++;
        buffer[bucket * LINE + place % LINE] = element;
        if (place % LINE == LINE - 1) {
            uint32_t line = place - (LINE - 1);
            if (line >= first[bucket])
                stream_line(to + line, buffer + bucket * LINE);
            else
                for (uint32_t k = first[bucket]; k <= place; k++)
                    to[k] = buffer[bucket * LINE + k % LINE];
        }
    }
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++)
        for (uint32_t k = std::max(first[bucket], at[bucket] / LINE * LINE); k < at[bucket]; k++)
            to[k] = buffer[bucket * LINE + k % LINE];
    _mm_sfence();
}

/* The part of n elements that a thread takes. */
struct range {
    int64_t first, count;
};
inline range part(int64_t n, int threads, int thread)
{
    int64_t first = n * thread / threads;
    return {first, n * (thread + 1) / threads - first};
}

/* The first place of each bucket for a thread, from the counts of all threads. */
template <int BUCKETS> void places(const uint32_t *counts, int threads, int thread, uint32_t *at)
{
    uint32_t place = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        uint32_t before = 0, all = 0;
        for (int k = 0; k < threads; k++) {
            uint32_t count = counts[k * BUCKETS + bucket];
            before += k < thread ? count : 0;
            all += count;
        }
        at[bucket] = place + before;
        place += all;
    }
}

/* Sorts by digits of so many bits, the least significant one first. */
template <class O, int BITS>
void least_first(int threads, int64_t n, const typename O::word *in, typename O::word *out)
{
    using word = typename O::word;
    constexpr int BUCKETS = 1 << BITS, KEY = 8 * sizeof(typename O::key), DIGITS = (KEY + BITS - 1) / BITS;
    if (n == 0)
        return;
    auto scratch = lines<word>(n);
    /* Counts by digit, thread and bucket. */
    std::vector<uint32_t> counts(static_cast<std::size_t>(DIGITS) * threads * BUCKETS);
    auto of_digit = [&](int digit) { return counts.data() + static_cast<std::size_t>(digit) * threads * BUCKETS; };
    std::vector<int> passes;
#pragma omp parallel num_threads(threads)
    {
        int thread = omp_get_thread_num();
        auto [first, count] = part(n, threads, thread);
        std::vector<uint32_t> own(DIGITS * BUCKETS), at(BUCKETS);
        for (int64_t i = first; i < first + count; i++)
            for (int digit = 0; digit < DIGITS; digit++)
                own[digit * BUCKETS + ((O::of(in[i]) >> (digit * BITS)) & (BUCKETS - 1))]++;
        for (int digit = 0; digit < DIGITS; digit++)
            std::copy_n(&own[digit * BUCKETS], BUCKETS, of_digit(digit) + thread * BUCKETS);
#pragma omp barrier
#pragma omp single
        for (int digit = 0; digit < DIGITS; digit++) {
            auto bucket = (O::of(in[0]) >> (digit * BITS)) & (BUCKETS - 1);
            int64_t same = 0;
            for (int k = 0; k < threads; k++)
                same += of_digit(digit)[k * BUCKETS + bucket];
            if (same < n)
                passes.push_back(digit);
        }
        const word *from = in;
        word *to = passes.size() % 2 == 1 ? out : scratch.get();
        for (std::size_t pass = 0; pass < passes.size(); pass++) {
            int digit = passes[pass], shift = digit * BITS;
            uint32_t *shared = of_digit(digit);
            if (pass > 0 && threads > 1) {
                uint32_t *mine = &own[0];
                std::fill_n(mine, BUCKETS, 0u);
                for (int64_t i = first; i < first + count; i++)
                    mine[(O::of(from[i]) >> shift) & (BUCKETS - 1)]++;
                std::copy_n(mine, BUCKETS, shared + thread * BUCKETS);
#pragma omp barrier
            }
            places<BUCKETS>(shared, threads, thread, at.data());
            scatter<O, BITS>(from + first, count, to, at.data(), shift);
#pragma omp barrier
            from = to;
            to = from == out ? scratch.get() : out;
        }
        if (passes.empty())
            std::copy_n(in + first, count, out + first);
    }
}

/* Sorts a few elements by insertion. */
template <class O> void insert(typename O::word *elements, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        typename O::word element = elements[i];
        int64_t k = i;
        for (; k > 0 && O::of(element) < O::of(elements[k - 1]); k--)
            elements[k] = elements[k - 1];
        elements[k] = element;
    }
}

/* Moves elements by a digit from one array to another one. */
template <class O>
void one_digit(const typename O::word *from, int64_t n, typename O::word *to, int shift, int bits)
{
    uint32_t at[1 << 11] = {0}, buckets = 1u << bits, place = 0;
    for (int64_t i = 0; i < n; i++)
        at[(O::of(from[i]) >> shift) & (buckets - 1)]++;
    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        uint32_t count = at[bucket];
        at[bucket] = place;
        place += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[at[(O::of(from[i]) >> shift) & (buckets - 1)]++] = from[i];
}

/* Sorts runs of elements that agree in all bits but so many. */
template <class O> void sort_runs(typename O::word *elements, int64_t n, int bits)
{
    using word = typename O::word;
    auto less = [](word a, word b) { return O::of(a) < O::of(b); };
    for (int64_t i = 0; i < n;) {
        int64_t end = i + 1;
        while (end < n && O::of(elements[end]) >> bits == O::of(elements[i]) >> bits)
            end++;
        if (end - i <= SHORT)
            insert<O>(elements + i, end - i);
        else
            std::stable_sort(elements + i, elements + end, less);
        i = end;
    }
}

/* Sorts a bucket by its lowest bits, in the cache, with as much memory beside it. */
template <class O> void sort_bucket(typename O::word *elements, int64_t n, typename O::word *beside, int bits)
{
    if (n <= SHORT)
        return insert<O>(elements, n);
    typename O::key differing = 0;
    for (int64_t i = 1; i < n; i++)
        differing |= O::of(elements[i]) ^ O::of(elements[0]);
    while (bits > 0 && (differing >> (bits - 1)) == 0)
        bits--;
    if (bits == 0)
        return;
    /* Two digits; of long keys the leading bits, so that few elements agree in them. */
    int most = n < 1 << 15 ? 16 : 22, taken = bits <= 22 ? bits : most;
    int low = taken / 2, high = taken - low;
    if (taken > 1)
        one_digit<O>(elements, n, beside, bits - taken, low);
    else
        std::copy_n(elements, n, beside);
    one_digit<O>(beside, n, elements, bits - high, high);
    if (taken < bits)
        sort_runs<O>(elements, n, bits - taken);
}

/* Sorts buckets of the leading bits one by one. */
template <class O>
void most_first(int threads, int64_t n, const typename O::word *in, typename O::word *out)
{
    using word = typename O::word;
    using key = typename O::key;
    constexpr int BITS = 11, BUCKETS = 1 << BITS;
    if (n == 0)
        return;
    key differing = 0;
#pragma omp parallel for num_threads(threads) reduction(| : differing)
    for (int64_t i = 0; i < n; i++)
        differing |= O::of(in[i]) ^ O::of(in[0]);
    int bits = 0;
    while (bits < static_cast<int>(8 * sizeof(key)) && differing >> bits != 0)
        bits++;
    int shift = std::max(0, bits - BITS);
    auto scratch = lines<word>(n);
    std::vector<uint32_t> counts(static_cast<std::size_t>(threads) * BUCKETS), starts(BUCKETS + 1);
#pragma omp parallel num_threads(threads)
    {
        int thread = omp_get_thread_num();
        auto [first, count] = part(n, threads, thread);
        std::vector<uint32_t> at(BUCKETS);
        for (int64_t i = first; i < first + count; i++)
            at[(O::of(in[i]) >> shift) & (BUCKETS - 1)]++;
        std::copy_n(at.data(), BUCKETS, &counts[thread * BUCKETS]);
#pragma omp barrier
        places<BUCKETS>(counts.data(), threads, thread, at.data());
        if (thread == 0)
            std::copy_n(at.data(), BUCKETS, starts.data());
        scatter<O, BITS>(in + first, count, out, at.data(), shift);
#pragma omp barrier
        starts[BUCKETS] = static_cast<uint32_t>(n);
#pragma omp for schedule(dynamic, 8)
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            uint32_t start = starts[bucket], length = starts[bucket + 1] - start;
            sort_bucket<O>(out + start, length, scratch.get() + start, shift);
        }
    }
}

}

#endif
