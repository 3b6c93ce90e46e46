/* Stable sorts of words by the threads of a pool. Each chunk of the words counts the digits of
 * its words and moves them to the buckets, behind those of the chunks before it. Then each
 * bucket is sorted by a thread. */
#ifndef NOVA_SHARED_WORD_SORTS_H
#define NOVA_SHARED_WORD_SORTS_H

#include <stdlib.h>

#include "../common/word_sorts.h"
#include "region.h"

/* Words of fewer bytes are sorted by one thread. Tests define less. */
#ifndef NOVA_SHARED_BYTES
#define NOVA_SHARED_BYTES 1048576
#endif

/* The most chunks of words, and the number of buckets that a thread takes together. */
#define NOVA_SORTED_CHUNKS 64
#define NOVA_SORTED_BUCKETS 16

/* A sort that threads share. */
typedef struct nova_word_sort {
    void *to, *beside;
    const void *from;
    int64_t count, chunks;
    int low, lowest;     /* the bits below the keys, and those of a key below its leading digit */
    uint64_t least;      /* the least key */
    uint64_t *spans;     /* the least and the greatest key of each chunk */
    int64_t *places;     /* for each chunk, where its next word of each digit goes */
    int64_t *begins;     /* where the bucket of each digit begins, and where the last one ends */
    uint64_t large;      /* the number of words of a bucket that several threads sort */
} nova_word_sort;

/* The first word of a chunk. */
static inline int64_t nova_chunk_begin(const nova_word_sort *sort, int64_t chunk)
{
    int64_t rest = sort->count % sort->chunks;
    return sort->count / sort->chunks * chunk + (chunk < rest ? chunk : rest);
}

/* Turns the counts of all chunks into places: by digit, then by chunk. */
static void nova_place_digits(const nova_word_sort *sort)
{
    int64_t place = 0;
    for (int digit = 0; digit < NOVA_DIGITS; digit++) {
        sort->begins[digit] = place;
        for (int64_t chunk = 0; chunk < sort->chunks; chunk++) {
            int64_t *at = sort->places + chunk * NOVA_DIGITS + digit;
            int64_t count = *at;
            *at = place;
            place += count;
        }
    }
    sort->begins[NOVA_DIGITS] = place;
}

/* Defines what each chunk does of the sort of words of a type. */
#define NOVA_SORTED_CHUNK(name, words, word)                                                       \
    static void name##_find(nova_context *context, int64_t chunk, void *environment)               \
    {                                                                                              \
        const nova_word_sort *sort = (const nova_word_sort *)environment;                          \
        int64_t begin = nova_chunk_begin(sort, chunk), end = nova_chunk_begin(sort, chunk + 1);    \
        const word *from = (const word *)sort->from + begin;                                       \
        word greatest;                                                                             \
        (void)context;                                                                             \
        sort->spans[2 * chunk] = words##_span(from, end - begin, sort->low, &greatest);            \
        sort->spans[2 * chunk + 1] = greatest;                                                     \
    }                                                                                              \
    static void name##_count(nova_context *context, int64_t chunk, void *environment)              \
    {                                                                                              \
        const nova_word_sort *sort = (const nova_word_sort *)environment;                          \
        int64_t begin = nova_chunk_begin(sort, chunk), end = nova_chunk_begin(sort, chunk + 1);    \
        (void)context;                                                                             \
        words##_count((const word *)sort->from + begin, end - begin, sort->low, (word)sort->least, \
                      sort->lowest, sort->places + chunk * NOVA_DIGITS);                           \
    }                                                                                              \
    static void name##_move(nova_context *context, int64_t chunk, void *environment)               \
    {                                                                                              \
        const nova_word_sort *sort = (const nova_word_sort *)environment;                          \
        int64_t begin = nova_chunk_begin(sort, chunk), end = nova_chunk_begin(sort, chunk + 1);    \
        (void)context;                                                                             \
        words##_move((word *)sort->to, (const word *)sort->from + begin, end - begin, sort->low,   \
                     (word)sort->least, sort->lowest, sort->places + chunk * NOVA_DIGITS);         \
    }                                                                                              \
    static void name##_buckets(nova_context *context, int64_t chunk, void *environment)            \
    {                                                                                              \
        const nova_word_sort *sort = (const nova_word_sort *)environment;                          \
        (void)context;                                                                             \
        for (int64_t k = chunk * NOVA_SORTED_BUCKETS; k < (chunk + 1) * NOVA_SORTED_BUCKETS; k++) {\
            int64_t begin = sort->begins[k], count = sort->begins[k + 1] - begin;                  \
            if ((uint64_t)count <= sort->large)                                                    \
                words##_bucket((word *)sort->to + begin, (word *)sort->beside + begin, count,      \
                               sort->low,                                                          \
                               (word)(sort->least + ((uint64_t)k << sort->lowest)), sort->lowest); \
        }                                                                                          \
    }

/* Defines the sort of words of a type by threads. */
#define NOVA_SHARED_WORD_SORT(name, words, word)                                                   \
    static void name(word *to, word *beside, const word *from, nova_context *context,              \
                     int64_t count, int64_t low)                                                   \
    {                                                                                              \
        nova_pool *pool = &NOVA_POOL;                                                              \
        nova_word_sort sort = {to, beside, from, count, 0, (int)low, 0, 0, NULL, NULL, NULL, 0};   \
        int64_t *memory = NULL;                                                                    \
        if ((uint64_t)count * sizeof(word) > NOVA_SHARED_BYTES && nova_has_pool(pool)) {           \
            sort.chunks = 2 * (int64_t)NOVA_LOAD(&pool->threads, NOVA_RELAXED);                    \
            if (sort.chunks > NOVA_SORTED_CHUNKS)                                                  \
                sort.chunks = NOVA_SORTED_CHUNKS;                                                  \
            size_t numbers = (size_t)(sort.chunks + 1) * (NOVA_DIGITS + 2);                        \
            memory = (int64_t *)malloc(numbers * sizeof *memory);                                  \
        }                                                                                          \
        if (memory == NULL) {                                                                      \
            words(to, beside, from, count, low);                                                   \
            return;                                                                                \
        }                                                                                          \
        sort.places = memory;                                                                      \
        sort.begins = memory + sort.chunks * NOVA_DIGITS;                                          \
        sort.spans = (uint64_t *)(sort.begins + NOVA_DIGITS + 1);                                  \
        nova_parallel(context, sort.chunks, name##_find, &sort);                                   \
        uint64_t greatest = sort.spans[1];                                                         \
        sort.least = sort.spans[0];                                                                \
        for (int64_t chunk = 1; chunk < sort.chunks; chunk++) {                                    \
            uint64_t least = sort.spans[2 * chunk], most = sort.spans[2 * chunk + 1];              \
            sort.least = least < sort.least ? least : sort.least;                                  \
            greatest = most > greatest ? most : greatest;                                          \
        }                                                                                          \
        uint64_t span = greatest - sort.least;                                                     \
        int bits = 0;                                                                              \
        while (bits < (int)(8 * sizeof(word)) && (word)span >> bits != 0)                          \
            bits++;                                                                                \
        sort.lowest = nova_lowest_bit(count, bits);                                                \
        nova_parallel(context, sort.chunks, name##_count, &sort);                                  \
        nova_place_digits(&sort);                                                                  \
        nova_parallel(context, sort.chunks, name##_move, &sort);                                   \
        sort.large = (uint64_t)count / 4;                                                          \
        if (sort.lowest > 0)                                                                       \
            nova_parallel(context, NOVA_DIGITS / NOVA_SORTED_BUCKETS, name##_buckets, &sort);      \
        for (int digit = 0; digit < NOVA_DIGITS && sort.lowest > 0; digit++) {                     \
            int64_t begin = sort.begins[digit], size = sort.begins[digit + 1] - begin;             \
            if ((uint64_t)size <= sort.large)                                                      \
                continue;                                                                          \
            memcpy(beside + begin, to + begin, (size_t)size * sizeof(word));                       \
            name(to + begin, beside + begin, beside + begin, context, size, low);                  \
        }                                                                                          \
        free(memory);                                                                              \
    }

/* Defines both. */
#define NOVA_SHARED_WORD_SORTS(name, words, word)                            \
    NOVA_SORTED_CHUNK(name, words, word)                            \
    NOVA_SHARED_WORD_SORT(name, words, word)

NOVA_SHARED_WORD_SORTS(nova_share_sort_words_u32, nova_sort_words_u32, uint32_t)

NOVA_SHARED_WORD_SORTS(nova_share_sort_words_u64, nova_sort_words_u64, uint64_t)

#endif
