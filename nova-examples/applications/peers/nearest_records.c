/* The records that are nearest to a place, from near to far. Limited by the bandwidth of reading
 * the records once, if few are wanted: most blocks of records have none that is nearer than the
 * farthest one of those wanted so far, which full vectors find out. The others are collected, and
 * cut back by selection now and then. What is left is sorted by the bits of distances, with
 * counting; a record's number follows its distance. */
#include "../../benchmarks/peers/peer.h"
#include "nearest_records.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* Records that are looked at together. */
    BLOCK_RECORDS = 64,
    /* Records that are worth a thread. */
    WORTH = 16384,
    /* So few keys are sorted by insertion. */
    INSERTED = 128,
    /* The bits of a digit: three digits are a distance without its sign. */
    DIGIT = 11,
    DIGITS = 1 << DIGIT,
};

typedef nova_tuple2_float_float place;

/* A distance in the upper half, the number of a record in the lower one. */
typedef uint64_t key;

static inline key key_of(float distance, int64_t number)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return (key)bits << 32 | (key)number;
}

static inline float distance_of(key k)
{
    uint32_t bits = (uint32_t)(k >> 32);
    float distance;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}

/* The k-th smallest key, from 0 on. The keys are put in another order. */
static key select_key(key *keys, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        key a = keys[low], b = keys[low + (high - low) / 2], c = keys[high];
        key pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (keys[i] < pivot)
                i++;
            while (keys[j] > pivot)
                j--;
            if (i <= j) {
                key swap = keys[i];
                keys[i++] = keys[j], keys[j--] = swap;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return keys[k];
}

/* Leaves the `wanted` smallest of n keys, in the order in which they stand. Returns the largest. */
static key cut_back(key *keys, key *spare, int64_t n, int64_t wanted)
{
    memcpy(spare, keys, (size_t)n * sizeof *keys);
    key last = select_key(spare, n, wanted - 1);
    for (int64_t i = 0, left = 0; left < wanted; i++) {
        key k = keys[i];
        keys[left] = k;
        left += k <= last;
    }
    return last;
}

/* The squares of the distances of a block, and the smallest of them. */
static inline float squares_of_block(float *restrict squares, const place *restrict records,
                                     place centre)
{
    float smallest = 3e38f;
    for (int i = 0; i < BLOCK_RECORDS; i++) {
        float x = records[i].e0 - centre.e0, y = records[i].e1 - centre.e1;
        float square = x * x + y * y;
        squares[i] = square;
        smallest = square < smallest ? square : smallest;
    }
    return smallest;
}

/* Collects keys of the records from `begin` to `end`, the `wanted` smallest ones at least; there is
 * room for all records, or for twice as many as are wanted and a block, and for one key more.
 * Returns how many. */
static int64_t collect(key *keys, key *spare, const place *records, place centre, int64_t begin,
                       int64_t end, int64_t wanted, int64_t room)
{
    int64_t count = 0;
    /* Keys from this one on are not wanted, and where the square of a distance is above the limit,
     * its key surely is not. */
    key bound = UINT64_MAX;
    float limit = 0;
    for (int64_t i = begin; i < end; i += BLOCK_RECORDS) {
        int64_t exist = end - i < BLOCK_RECORDS ? end - i : BLOCK_RECORDS;
        place rest[BLOCK_RECORDS];
        float squares[BLOCK_RECORDS];
        const place *block = records + i;
        if (exist < BLOCK_RECORDS) {
            memset(rest, 0, sizeof rest);
            memcpy(rest, block, (size_t)exist * sizeof *block);
            block = rest;
        }
        if (squares_of_block(squares, block, centre) > limit && bound < UINT64_MAX)
            continue;
        if (count + exist > room) {
            bound = cut_back(keys, spare, count, wanted);
            count = wanted;
            limit = distance_of(bound) * distance_of(bound) * 1.00001f;
        }
        for (int64_t k = 0; k < exist; k++) {
            keys[count] = key_of(sqrtf(squares[k]), i + k);
            count += keys[count] < bound;
        }
    }
    return count;
}

/* The order of few keys. */
static void insert_all(key *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        key k = keys[i];
        int64_t j = i;
        for (; j > 0 && keys[j - 1] > k; j--)
            keys[j] = keys[j - 1];
        keys[j] = k;
    }
}

/* Sorts keys that stand in the order of their numbers, by three digits of their distances. `starts`
 * has DIGITS numbers for each thread. Returns the buffer that the keys are in. */
static key *sort_keys(key *keys, key *spare, int64_t n, int64_t *starts, int threads)
{
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        key *from = keys, *to = spare;
        int64_t me = 0, team = 1;
#ifdef _OPENMP
        me = omp_get_thread_num(), team = omp_get_num_threads();
#endif
        int64_t begin = n * me / team, end = n * (me + 1) / team, *own = starts + me * DIGITS;
        for (int shift = 32; shift < 32 + 3 * DIGIT; shift += DIGIT) {
            memset(own, 0, DIGITS * sizeof *own);
            for (int64_t i = begin; i < end; i++)
                own[from[i] >> shift & (DIGITS - 1)]++;
#pragma omp barrier
#pragma omp single
            for (int64_t d = 0, sum = 0; d < DIGITS; d++)
                for (int64_t t = 0; t < team; t++) {
                    int64_t count = starts[t * DIGITS + d];
                    starts[t * DIGITS + d] = sum;
                    sum += count;
                }
            for (int64_t i = begin; i < end; i++)
                to[own[from[i] >> shift & (DIGITS - 1)]++] = from[i];
#pragma omp barrier
            key *swap = from;
            from = to, to = swap;
        }
    }
    return spare;
}

/* The keys of the `wanted` nearest records, sorted. Each of `parts` parts of the records has `room`
 * places in the buffers, and all that is collected is put together at the front. */
static const key *nearest(key *keys, key *spare, const place *records, int64_t n, place centre,
                          int64_t wanted, int64_t room, int64_t *counts, int64_t parts)
{
    int64_t count = 0;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++)
        counts[p] = collect(keys + p * room, spare + p * room, records, centre, n * p / parts,
                            n * (p + 1) / parts, wanted, room - 1);
    for (int64_t p = 0; p < parts; p++) {
        memmove(keys + count, keys + p * room, (size_t)counts[p] * sizeof *keys);
        count += counts[p];
    }
    if (count - wanted > count / 4) {
        cut_back(keys, spare, count, wanted);
        count = wanted;
    }
    if (count <= INSERTED) {
        insert_all(keys, count);
        return keys;
    }
    return sort_keys(keys, spare, count, counts, count < WORTH ? 1 : (int)parts);
}

int peer_nearest_records(int64_t *result_len, nova_tuple2_float_int **result, int32_t count,
                         float latitude, float longitude, int64_t records_len, const place *records)
{
    int64_t n = records_len, wanted = count < 0 ? 0 : count < n ? count : n, parts = 1;
#ifdef _OPENMP
    parts = n / WORTH + 1 < omp_get_max_threads() ? n / WORTH + 1 : omp_get_max_threads();
#endif
    /* A part has room for what is collected between two selections, or for all of its records, and
     * for one key more. */
    int64_t room = 2 * wanted + BLOCK_RECORDS, all = (n + parts - 1) / parts;
    room = (room < all ? room : all) + 1;
    key *memory = malloc((size_t)(parts * (2 * room + DIGITS)) * sizeof *memory);
    if (memory == NULL)
        return 2;
    int code = result_vector(result_len, (void **)result, wanted, sizeof **result);
    if (code == 0 && wanted > 0) {
        key *keys = memory + parts * DIGITS, *spare = keys + parts * room;
        const key *sorted = nearest(keys, spare, records, n, (place){latitude, longitude}, wanted,
                                    room, (int64_t *)memory, parts);
        for (int64_t i = 0; i < wanted; i++)
            (*result)[i] = (nova_tuple2_float_int){distance_of(sorted[i]), (int32_t)sorted[i]};
    }
    free(memory);
    return code;
}
