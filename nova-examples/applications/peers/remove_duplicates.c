/* The different numbers of a vector, in the order in which each stands first. Limited by random
 * accesses, which are kept in a cache: numbers of a small range are marked in a map of bits; else
 * few different ones are kept in a small hash table; else all are first put into buckets, each with
 * a table that fits the cache, and the places of first ones are marked. Threads take a part of the
 * vector each, and then leave out what earlier parts have, or they take buckets. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* Numbers that are worth a thread. */
    WORTH = 1 << 16,
    /* The logarithms of the size of a table at first, and of the largest one. */
    LEAST_TABLE = 10,
    LARGEST_TABLE = 18,
    /* Numbers of a bucket, if there are no more buckets than these. */
    BUCKET = 1 << 13,
    MOST_BUCKETS = 2048,
    /* A number that tables do not hold, since it is where none is. */
    NONE = INT32_MIN,
};

/* The numbers, the parts they are taken in, and what is left of each part: at its place in `left`,
 * and so many. */
typedef struct {
    const int32_t *x;
    int64_t n, parts;
    int32_t *left;
    int64_t *counts;
} vector;

static inline int64_t begin_of(const vector *v, int64_t part)
{
    return v->n * part / v->parts;
}

static inline uint32_t hash(int32_t x)
{
    uint32_t h = (uint32_t)x;
    h = (h ^ h >> 16) * 0x7feb352du;
    return (h ^ h >> 15) * 0x846ca68bu;
}

/* The smallest number, and how many numbers there are from it to the largest one. */
static uint64_t range_of(const vector *v, int32_t *smallest)
{
    int32_t low = v->x[0], high = low;
#pragma omp parallel for simd reduction(min : low) reduction(max : high) if (v->parts > 1)
    for (int64_t i = 0; i < v->n; i++) {
        low = v->x[i] < low ? v->x[i] : low;
        high = v->x[i] > high ? v->x[i] : high;
    }
    *smallest = low;
    return (uint64_t)((int64_t)high - low + 1);
}

/* Numbers of a small range: marks those of each part in a map of its own, then leaves out those
 * that the maps of earlier parts have. Maps have so many words, all 0. */
static void by_maps(const vector *v, int32_t low, uint64_t *maps, int64_t words)
{
#pragma omp parallel for schedule(static) if (v->parts > 1)
    for (int64_t p = 0; p < v->parts; p++) {
        uint64_t *map = maps + p * words;
        int32_t *left = v->left + begin_of(v, p);
        int64_t count = 0, end = begin_of(v, p + 1);
        for (int64_t i = begin_of(v, p); i < end; i++) {
            int32_t x = v->x[i];
            uint32_t place = (uint32_t)x - (uint32_t)low;
            uint64_t word = map[place >> 6], bit = (uint64_t)1 << (place & 63);
            left[count] = x;
            count += (word & bit) == 0;
            map[place >> 6] = word | bit;
        }
        v->counts[p] = count;
    }
    if (v->parts == 1)
        return;
#pragma omp parallel for schedule(static)
    for (int64_t w = 0; w < words; w++) {
        uint64_t earlier = 0;
        for (int64_t p = 0; p < v->parts; p++) {
            uint64_t word = maps[p * words + w];
            maps[p * words + w] = earlier;
            earlier |= word;
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t p = 1; p < v->parts; p++) {
        const uint64_t *map = maps + p * words;
        int32_t *left = v->left + begin_of(v, p);
        int64_t count = 0;
        for (int64_t i = 0; i < v->counts[p]; i++) {
            uint32_t place = (uint32_t)left[i] - (uint32_t)low;
            left[count] = left[i];
            count += (map[place >> 6] >> (place & 63) & 1) == 0;
        }
        v->counts[p] = count;
    }
}

/* Different numbers, 2 to the power of `bits` places for them, and whether NONE is one of them. All
 * have the first `common` bits of their hash in common. */
typedef struct {
    int32_t *places;
    int bits, common;
    int64_t count;
    int has_none;
} table;

static void clear(table *t, int bits)
{
    t->bits = bits;
    t->count = 0;
    t->has_none = 0;
    for (int64_t i = 0; i < (int64_t)1 << bits; i++)
        t->places[i] = NONE;
}

/* Whether a number was not in the table; it is then. */
static inline int put(table *t, int32_t x)
{
    uint32_t mask = (1u << t->bits) - 1, at = hash(x) << t->common >> (32 - t->bits);
    if (x == NONE) {
        int is_new = !t->has_none;
        t->has_none = 1;
        return is_new;
    }
    while (t->places[at] != x) {
        if (t->places[at] == NONE) {
            t->places[at] = x;
            t->count++;
            return 1;
        }
        at = (at + 1) & mask;
    }
    return 0;
}

/* Leaves the first ones of n numbers, and returns how many; -1 where the largest table has not
 * twice as many places. A table that fills up is made anew, four times as large, from what is
 * left. */
static int64_t by_table(table *t, const int32_t *x, int64_t n, int32_t *left)
{
    int64_t count = 0, full = (int64_t)1 << (LEAST_TABLE - 1);
    clear(t, LEAST_TABLE);
    for (int64_t i = 0; i < n; i++) {
        if (!put(t, x[i]))
            continue;
        left[count++] = x[i];
        if (t->count >= full) {
            if (t->bits == LARGEST_TABLE)
                return -1;
            full *= 4;
            clear(t, t->bits + 2);
            for (int64_t k = 0; k < count; k++)
                put(t, left[k]);
        }
    }
    return count;
}

/* Few different numbers: those of each part, then those of all parts. Returns whether there are
 * few. Each part has a table of the largest size. */
static int by_tables(const vector *v, int32_t *places)
{
    int few = 1;
#pragma omp parallel for schedule(static) reduction(& : few) if (v->parts > 1)
    for (int64_t p = 0; p < v->parts; p++) {
        table t = {.places = places + (p << LARGEST_TABLE)};
        int64_t begin = begin_of(v, p), n = begin_of(v, p + 1) - begin;
        v->counts[p] = by_table(&t, v->x + begin, n, v->left + begin);
        few &= v->counts[p] >= 0;
    }
    if (!few || v->parts == 1)
        return few;
    /* The tables of all parts together are one for what is left of them. */
    table all = {.places = places};
    int bits = LARGEST_TABLE;
    while ((int64_t)2 << bits <= v->parts << LARGEST_TABLE)
        bits++;
    clear(&all, bits);
    int64_t count = 0;
    for (int64_t p = 0; p < v->parts; p++) {
        const int32_t *part = v->left + begin_of(v, p);
        int64_t n = v->counts[p];
        v->counts[p] = 0;
        for (int64_t i = 0; i < n; i++) {
            int32_t x = part[i];
            v->left[count] = x;
            count += put(&all, x);
        }
    }
    v->counts[0] = count;
    return 1;
}

/* A number and its place in the vector. */
typedef struct {
    int32_t x;
    uint32_t at;
} entry;

/* What all threads share of the buckets: their number's logarithm, where each begins, and what is
 * in them. */
typedef struct {
    int bits;
    int64_t *starts;
    entry *entries;
} buckets;

/* Puts all numbers into buckets, in their order. Each part counts its own first, in `counts`. */
static void fill_buckets(const vector *v, const buckets *b, int64_t *counts)
{
    int64_t number = (int64_t)1 << b->bits, sum = 0;
    int shift = 32 - b->bits;
#pragma omp parallel for schedule(static) if (v->parts > 1)
    for (int64_t p = 0; p < v->parts; p++) {
        int64_t *own = counts + p * number, end = begin_of(v, p + 1);
        memset(own, 0, (size_t)number * sizeof *own);
        for (int64_t i = begin_of(v, p); i < end; i++)
            own[hash(v->x[i]) >> shift]++;
    }
    for (int64_t k = 0; k < number; k++) {
        b->starts[k] = sum;
        for (int64_t p = 0; p < v->parts; p++) {
            int64_t count = counts[p * number + k];
            counts[p * number + k] = sum;
            sum += count;
        }
    }
    b->starts[number] = sum;
#pragma omp parallel for schedule(static) if (v->parts > 1)
    for (int64_t p = 0; p < v->parts; p++) {
        int64_t *own = counts + p * number, end = begin_of(v, p + 1);
        entry *entries = b->entries;
        const int32_t *x = v->x;
        for (int64_t i = begin_of(v, p); i < end; i++)
            entries[own[hash(x[i]) >> shift]++] = (entry){x[i], (uint32_t)i};
    }
}

/* The logarithm of a table with four times as many places as numbers, or more. */
static int bits_of_table(int64_t numbers)
{
    int bits = LEAST_TABLE;
    while ((int64_t)1 << bits < 4 * numbers)
        bits++;
    return bits;
}

/* Marks the places of the first ones of a bucket. */
static void mark_first(const buckets *b, int64_t bucket, int32_t *places, uint64_t *marks)
{
    int64_t begin = b->starts[bucket], end = b->starts[bucket + 1];
    table t = {.places = places, .common = b->bits};
    clear(&t, bits_of_table(end - begin));
    for (int64_t i = begin; i < end; i++) {
        entry e = b->entries[i];
        marks[e.at >> 6] |= (uint64_t)put(&t, e.x) << (e.at & 63);
    }
}

/* Leaves the numbers of a part that are marked in any of the maps of all threads. */
static void leave_marked(const vector *v, int64_t p, const uint64_t *marks, int64_t words)
{
    int32_t *left = v->left + begin_of(v, p);
    int64_t count = 0, end = begin_of(v, p + 1);
    for (int64_t i = begin_of(v, p); i < end; i++) {
        uint64_t word = 0;
        for (int64_t q = 0; q < v->parts; q++)
            word |= marks[q * words + (i >> 6)];
        int64_t last = (i | 63) < end ? i | 63 : end - 1;
        for (; i <= last; i++) {
            left[count] = v->x[i];
            count += word >> (i & 63) & 1;
        }
        i = last;
    }
    v->counts[p] = count;
}

/* Numbers of any range, many of them different; 2 where memory is short. */
static int by_buckets(const vector *v)
{
    buckets b = {.bits = 1};
    while (v->n >> b.bits > BUCKET && 1 << b.bits < MOST_BUCKETS)
        b.bits++;
    int64_t number = (int64_t)1 << b.bits, words = (v->n + 63) / 64, most = 0;
    int64_t *memory = malloc((size_t)((v->parts + 1) * number + 1 + v->n) * 8);
    uint64_t *marks = calloc((size_t)(v->parts * words), sizeof *marks);
    int32_t *places = NULL;
    if (memory != NULL && marks != NULL) {
        b.starts = memory + v->parts * number;
        b.entries = (entry *)(b.starts + number + 1);
        fill_buckets(v, &b, memory);
        for (int64_t k = 0; k < number; k++)
            most = b.starts[k + 1] - b.starts[k] > most ? b.starts[k + 1] - b.starts[k] : most;
        places = malloc(((size_t)v->parts << bits_of_table(most)) * sizeof *places);
    }
    if (places != NULL) {
#pragma omp parallel num_threads((int)v->parts)
        {
            int64_t me = 0;
#ifdef _OPENMP
            me = omp_get_thread_num();
#endif
#pragma omp for schedule(dynamic)
            for (int64_t k = 0; k < number; k++)
                mark_first(&b, k, places + (me << bits_of_table(most)), marks + me * words);
#pragma omp for schedule(static)
            for (int64_t p = 0; p < v->parts; p++)
                leave_marked(v, p, marks, words);
        }
    }
    int code = places == NULL ? 2 : 0;
    free(places);
    free(marks);
    free(memory);
    return code;
}

/* Leaves the different numbers of each part that no earlier part has; 2 where memory is short. */
static int leave_different(const vector *v)
{
    int32_t low;
    uint64_t range = range_of(v, &low);
    if (range <= 8 * (uint64_t)v->n) {
        int64_t words = (int64_t)(range / 64 + 1);
        uint64_t *maps = calloc((size_t)(v->parts * words), sizeof *maps);
        if (maps == NULL)
            return 2;
        by_maps(v, low, maps, words);
        free(maps);
        return 0;
    }
    int32_t *places = malloc(((size_t)v->parts << LARGEST_TABLE) * sizeof *places);
    if (places == NULL)
        return 2;
    int few = by_tables(v, places);
    free(places);
    return few ? 0 : by_buckets(v);
}

int peer_remove_duplicates(int64_t *result_len, int32_t **result, int64_t X_len, const int32_t *X)
{
    if (X_len == 0)
        return result_vector(result_len, (void **)result, 0, sizeof **result);
    vector v = {.x = X, .n = X_len, .parts = 1};
#ifdef _OPENMP
    v.parts = X_len / WORTH + 1 < omp_get_max_threads() ? X_len / WORTH + 1 : omp_get_max_threads();
#endif
    v.left = malloc((size_t)X_len * sizeof *v.left);
    v.counts = malloc((size_t)v.parts * sizeof *v.counts);
    int code = v.left == NULL || v.counts == NULL ? 2 : leave_different(&v);
    int64_t count = 0;
    for (int64_t p = 0; p < v.parts && code == 0; p++)
        count += v.counts[p];
    if (code == 0)
        code = result_vector(result_len, (void **)result, count, sizeof **result);
    int32_t *to = *result;
    for (int64_t p = 0; p < v.parts && code == 0; to += v.counts[p++])
        memcpy(to, v.left + begin_of(&v, p), (size_t)v.counts[p] * sizeof *to);
    free(v.left);
    free(v.counts);
    return code;
}
