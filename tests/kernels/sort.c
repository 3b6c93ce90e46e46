/* Sorts of ints, uint64s, floats and pairs, of random, sorted and few different keys: NOVA's `sort` beside
 * the sorts of C++ and radix sorts by hand. All give new arrays and keep the argument. Memory that is
 * freed stays with the process. */
#include "../recursion/recursion.h"
#include "sort.h"
#include "sort_peers.h"
#include "threads_sort.h"
#include <malloc.h>

struct data {
    int64_t n;
    enum sort_elements elements;
    size_t size;
    void *in, *out, *expected;
};

static void check(const struct data *d, const char *what, const void *result)
{
    expect(what, 0, "", memcmp(result, d->expected, (size_t)d->n * d->size) == 0);
}

#define NOVA_CASE(entry, type)                                                                     \
    {                                                                                             \
        type *out = d->out;                                                                       \
        code = entry(&n, &out, n, d->in);                                                         \
        *error = entry##_error();                                                                 \
        break;                                                                                    \
    }

#define NOVA(name, prefix)                                                                         \
    static int name##_call(const struct data *d, const char **error)                              \
    {                                                                                             \
        int64_t n = d->n;                                                                         \
        int code = 0;                                                                             \
        switch (d->elements) {                                                                    \
        case SORT_INTS:                                                                           \
            NOVA_CASE(prefix##sort_ints, int32_t)                                                 \
        case SORT_UINT64S:                                                                        \
            NOVA_CASE(prefix##sort_uint64s, uint64_t)                                             \
        case SORT_FLOATS:                                                                         \
            NOVA_CASE(prefix##sort_floats, float)                                                 \
        case SORT_PAIRS:                                                                          \
            NOVA_CASE(prefix##sort_pairs, nova_tuple2_int_int)                                    \
        }                                                                                         \
        return code;                                                                              \
    }                                                                                             \
    static double name(void *data)                                                                \
    {                                                                                             \
        const char *error;                                                                        \
        const struct data *d = data;                                                              \
        double begin = now();                                                                     \
        int code = name##_call(d, &error);                                                        \
        double seconds = now() - begin;                                                           \
        expect(#name, code, error, 1);                                                            \
        check(d, #name, d->out);                                                                  \
        return seconds;                                                                           \
    }

NOVA(nova, )
NOVA(nova_threads, threads_)

#define PEER(name, way, threads)                                                                   \
    static double name(void *data)                                                                \
    {                                                                                             \
        const struct data *d = data;                                                              \
        double begin = now();                                                                     \
        sort_peer(way, d->elements, threads, d->n, d->in, d->out);                                \
        double seconds = now() - begin;                                                           \
        check(d, #name, d->out);                                                                  \
        return seconds;                                                                           \
    }

PEER(library, SORT_LIBRARY, 1)
PEER(radix_8, SORT_8_BITS, 1)
PEER(radix_11, SORT_11_BITS, 1)
PEER(most_first, SORT_MOST_FIRST, 1)
PEER(library_threads, SORT_LIBRARY, 2)
PEER(radix_8_threads, SORT_8_BITS, 2)
PEER(radix_11_threads, SORT_11_BITS, 2)
PEER(most_first_threads, SORT_MOST_FIRST, 2)

/* Memory on lines of the cache, written once. */
static void *make(int64_t n, size_t size)
{
    size_t bytes = ((size_t)n * size + 127) & ~(size_t)63;
    void *memory = aligned_alloc(64, bytes);
    if (memory == NULL)
        fail("memory", "there is not enough");
    return memset(memory, 1, bytes);
}

/* An element from 64 random bits. Floats are finite and not zero, from -4 to 4. */
static void put(const struct data *d, int64_t i, uint64_t bits)
{
    switch (d->elements) {
    case SORT_INTS:
        ((int32_t *)d->in)[i] = (int32_t)(bits >> 32);
        break;
    case SORT_UINT64S:
        ((uint64_t *)d->in)[i] = bits;
        break;
    case SORT_FLOATS:
        ((float *)d->in)[i] = ((float)(bits >> 40) + 0.5f) * (8.0f / (1 << 24)) - 4.0f;
        break;
    case SORT_PAIRS:
        ((nova_tuple2_int_int *)d->in)[i] = (nova_tuple2_int_int){(int32_t)(bits >> 32), (int32_t)i};
        break;
    }
}

static void fill(struct data *d, int is_few, int is_sorted)
{
    uint64_t state = 88172645463325252u, keys[16];
    for (int k = 0; k < 16; k++)
        keys[k] = draw(&state);
    for (int64_t i = 0; i < d->n; i++) {
        uint64_t bits = draw(&state);
        put(d, i, is_few ? keys[bits >> 60] : bits);
    }
    sort_peer(SORT_LIBRARY, d->elements, 1, d->n, d->in, d->expected);
    if (is_sorted)
        memcpy(d->in, d->expected, (size_t)d->n * d->size);
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    static const char *const names[] = {"int", "uint64", "float", "pair"};
    static const size_t sizes[] = {4, 8, 4, 8};
    int elements = 0;
    while (elements < SORT_PAIRS && strncmp(setting.kind, names[elements], strlen(names[elements])) != 0)
        elements++;
    struct data d = {.n = setting.n, .elements = (enum sort_elements)elements, .size = sizes[elements]};
    d.in = make(d.n, d.size);
    d.out = make(d.n, d.size);
    d.expected = make(d.n, d.size);
    fill(&d, strstr(setting.kind, "few") != NULL, strstr(setting.kind, "sorted") != NULL);
    static const struct side sides[] = {
        {"NOVA", nova},
        {"std", library},
        {"radix, 8 bits", radix_8},
        {"radix, 11 bits", radix_11},
        {"radix, most significant first", most_first},
        {"NOVA, 2 threads", nova_threads},
        {"parallel std", library_threads},
        {"radix, 8 bits, 2 threads", radix_8_threads},
        {"radix, 11 bits, 2 threads", radix_11_threads},
        {"radix, most significant first, 2 threads", most_first_threads},
    };
    measure(sides, (int)(sizeof sides / sizeof *sides), setting, setting.n, &d);
    free(d.in);
    free(d.out);
    free(d.expected);
    return 0;
}
