/* The opponents of `sort`: std::sort, or std::stable_sort where equal elements can be told apart, and
 * radix sorts by hand; for several threads the parallel sorts of GNU's library, and the same radix sorts. */
#include "sort_peers.h"
#include "sort_radix.h"
#include <parallel/algorithm>

namespace {

struct pair {
    int32_t key, value;
};

struct ints {
    using word = uint32_t;
    using key = uint32_t;
    static key of(word element) { return element ^ 0x80000000u; }
};

struct uint64s {
    using word = uint64_t;
    using key = uint64_t;
    static key of(word element) { return element; }
};

/* Of negative floats all bits are inverted, of others that of the sign. */
struct floats {
    using word = uint32_t;
    using key = uint32_t;
    static key of(word element)
    {
        return element ^ (static_cast<uint32_t>(static_cast<int32_t>(element) >> 31) | 0x80000000u);
    }
};

/* The first number of a pair is the lower half of its word. */
struct pairs {
    using word = uint64_t;
    using key = uint32_t;
    static key of(word element) { return static_cast<uint32_t>(element) ^ 0x80000000u; }
};

template <class T> void by_library(int threads, int64_t n, const void *in, void *out)
{
    auto *begin = static_cast<T *>(out);
    std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
    if (threads == 1)
        std::sort(begin, begin + n);
    else
        __gnu_parallel::sort(begin, begin + n, __gnu_parallel::default_parallel_tag(threads));
}

void pairs_by_library(int threads, int64_t n, const void *in, void *out)
{
    auto less = [](const pair &a, const pair &b) { return a.key < b.key; };
    auto *begin = static_cast<pair *>(out);
    std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(pair));
    if (threads == 1)
        std::stable_sort(begin, begin + n, less);
    else
        __gnu_parallel::stable_sort(begin, begin + n, less, __gnu_parallel::default_parallel_tag(threads));
}

template <class O> void by_radix(enum sort_way way, int threads, int64_t n, const void *in, void *out)
{
    auto *from = static_cast<const typename O::word *>(in);
    auto *to = static_cast<typename O::word *>(out);
    if (way == SORT_8_BITS)
        radix::least_first<O, 8>(threads, n, from, to);
    else if (way == SORT_11_BITS)
        radix::least_first<O, 11>(threads, n, from, to);
    else
        radix::most_first<O>(threads, n, from, to);
}

}

extern "C" void sort_peer(enum sort_way way, enum sort_elements elements, int threads, int64_t n,
                          const void *in, void *out)
{
    bool is_library = way == SORT_LIBRARY;
    switch (elements) {
    case SORT_INTS:
        return is_library ? by_library<int32_t>(threads, n, in, out) : by_radix<ints>(way, threads, n, in, out);
    case SORT_UINT64S:
        return is_library ? by_library<uint64_t>(threads, n, in, out)
                          : by_radix<uint64s>(way, threads, n, in, out);
    case SORT_FLOATS:
        return is_library ? by_library<float>(threads, n, in, out) : by_radix<floats>(way, threads, n, in, out);
    case SORT_PAIRS:
        return is_library ? pairs_by_library(threads, n, in, out) : by_radix<pairs>(way, threads, n, in, out);
    }
}
