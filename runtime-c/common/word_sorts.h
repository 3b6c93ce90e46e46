/* Stable sorts of unsigned words by their bits from one on. Many words are first shared among
 * buckets by the leading bits in which they differ (the most significant digit first). Each
 * bucket is then sorted in the caches by two digits, the least significant one first. */
#ifndef NOVA_WORD_SORTS_H
#define NOVA_WORD_SORTS_H

#include <stdint.h>
#include <string.h>

#include "non_temporal.h"
#include "platform.h"

/* The bits of a digit, and the number of its values. */
#define NOVA_DIGIT_BITS 11
#define NOVA_DIGITS (1 << NOVA_DIGIT_BITS)

/* Words of at most this number are sorted by insertion, or by ranks. */
#define NOVA_INSERTED_WORDS 32

/* Words of fewer bytes are sorted where they are. Tests define less. */
#ifndef NOVA_CACHED_BYTES
#define NOVA_CACHED_BYTES 1048576
#endif

/* Words whose keys are two digits are sorted by these up to so many bytes: their passes read and write in
 * the last cache, which costs less than to share them once more. Tests define less. */
#ifndef NOVA_NEAR_BYTES
#define NOVA_NEAR_BYTES 8388608
#endif

/* Of words with more bits than two digits, fewer than this number are first sorted by two short
 * digits. */
#define NOVA_FEW_WORDS 4096

/* The lowest of the leading bits that share so many words, whose keys have so many bits, among
 * buckets. There are so few buckets that each has many words. */
static inline int nova_lowest_bit(int64_t count, int bits)
{
    int leading = NOVA_DIGIT_BITS;
    while (leading > 1 && count >> leading < NOVA_FEW_WORDS)
        leading--;
    return bits > leading ? bits - leading : 0;
}

/* The places where digits begin, computed from their counts. */
static inline void nova_begin_digits(uint32_t *counts, uint32_t digits)
{
    uint32_t place = 0;
    for (uint32_t digit = 0; digit < digits; digit++) {
        uint32_t count = counts[digit];
        counts[digit] = place;
        place += count;
    }
}

/* The key of a word is its difference to the least one. */
#define NOVA_WORD_KEY(word, value) ((word)((word)((value) >> low) - least))

/* Sorts a few words by insertion. */
#define NOVA_INSERT_WORDS(name, word)                                                              \
    static inline void name##_insert(word *words, int64_t count, int low, word least)              \
    {                                                                                              \
        for (int64_t i = 1; i < count; i++) {                                                      \
            word inserted = words[i], key = NOVA_WORD_KEY(word, inserted);                         \
            int64_t k = i;                                                                         \
            for (; k > 0 && key < NOVA_WORD_KEY(word, words[k - 1]); k--)                          \
                words[k] = words[k - 1];                                                           \
            words[k] = inserted;                                                                   \
        }                                                                                          \
    }

/* Sorts words by `bits` bits of their keys from `lowest` on, which are two digits, by way of
 * memory beside them. */
#define NOVA_SORT_TWO_DIGITS(name, word)                                                           \
    static inline void name##_two(word *words, word *beside, int64_t count, int low, word least,   \
                                  int lowest, int bits)                                            \
    {                                                                                              \
        uint32_t first[NOVA_DIGITS], second[NOVA_DIGITS];                                          \
        const uint32_t firsts = UINT32_C(1) << bits / 2;                                           \
        const uint32_t seconds = UINT32_C(1) << (bits - bits / 2);                                 \
        const int above = lowest + bits / 2;                                                       \
        memset(first, 0, firsts * sizeof *first);                                                  \
        memset(second, 0, seconds * sizeof *second);                                               \
        for (int64_t i = 0; i < count; i++) {                                                      \
            word key = NOVA_WORD_KEY(word, words[i]);                                              \
            first[(key >> lowest) & (firsts - 1)]++;                                               \
            second[(key >> above) & (seconds - 1)]++;                                              \
        }                                                                                          \
        nova_begin_digits(first, firsts);                                                          \
        nova_begin_digits(second, seconds);                                                        \
        for (int64_t i = 0; i < count; i++) {                                                      \
            word moved = words[i];                                                                 \
            beside[first[(NOVA_WORD_KEY(word, moved) >> lowest) & (firsts - 1)]++] = moved;        \
        }                                                                                          \
        for (int64_t i = 0; i < count; i++) {                                                      \
            word moved = beside[i];                                                                \
            words[second[(NOVA_WORD_KEY(word, moved) >> above) & (seconds - 1)]++] = moved;        \
        }                                                                                          \
    }

/* Counts the digits of words: the bits of their keys from `lowest` on. */
#define NOVA_COUNT_DIGITS(name, word)                                                              \
    static inline void name##_count(const word *from, int64_t count, int low, word least,          \
                                    int lowest, int64_t *counts)                                   \
    {                                                                                              \
        memset(counts, 0, NOVA_DIGITS * sizeof *counts);                                           \
        for (int64_t i = 0; i < count; i++)                                                        \
            counts[NOVA_WORD_KEY(word, from[i]) >> lowest]++;                                      \
    }

/* Moves words to the places of their digits, which become those behind the last ones. A line of
 * each digit is collected before it is written. */
#define NOVA_MOVE_WORDS(name, word)                                                                \
    NOVA_LARGE static void name##_move(word *to, const word *from, int64_t count, int low,         \
                                            word least, int lowest, int64_t *places)               \
    {                                                                                              \
        enum { LINE = NOVA_LINE / sizeof(word) };                                                  \
        word lines[NOVA_DIGITS][LINE];                                                             \
        int64_t begins[NOVA_DIGITS];                                                               \
        memcpy(begins, places, sizeof begins);                                                     \
        const int past = (uint64_t)count * sizeof(word) >= NOVA_NON_TEMPORAL_BYTES;                \
        const int64_t shift = (int64_t)((uintptr_t)to % NOVA_LINE / sizeof(word));                 \
        for (int64_t i = 0; i < count; i++) {                                                      \
            word moved = from[i];                                                                  \
            size_t digit = (size_t)(NOVA_WORD_KEY(word, moved) >> lowest);                         \
            int64_t place = places[digit]++, lane = (place + shift) % LINE;                        \
            lines[digit][lane] = moved;                                                            \
            if (lane < LINE - 1)                                                                   \
                continue;                                                                          \
            int64_t begin = place - lane;                                                          \
            if (begin >= begins[digit] && past)                                                    \
                nova_non_temporal_store_line(to + begin, lines[digit]);                            \
            else if (begin >= begins[digit])                                                       \
                memcpy(to + begin, lines[digit], NOVA_LINE);                                       \
            else                                                                                   \
                for (int64_t k = begins[digit]; k <= place; k++)                                   \
                    to[k] = lines[digit][(k + shift) % LINE];                                      \
        }                                                                                          \
        for (int digit = 0; digit < NOVA_DIGITS; digit++) {                                        \
            int64_t end = places[digit], begin = end - (end + shift) % LINE;                       \
            for (int64_t k = begin < begins[digit] ? begins[digit] : begin; k < end; k++)          \
                to[k] = lines[digit][(k + shift) % LINE];                                          \
        }                                                                                          \
        nova_store_fence();                                                                        \
    }

/* Shares words among buckets of the bits of their keys from `lowest` on. Sets where the buckets
 * begin and end. */
#define NOVA_SHARE_WORDS(name, word)                                                               \
    static inline void name##_share(word *to, const word *from, int64_t count, int low, word least,\
                                    int lowest, int64_t *begins, int64_t *ends)                    \
    {                                                                                              \
        name##_count(from, count, low, least, lowest, ends);                                       \
        int64_t place = 0;                                                                         \
        for (int digit = 0; digit < NOVA_DIGITS; digit++) {                                        \
            begins[digit] = place;                                                                 \
            place += ends[digit];                                                                  \
            ends[digit] = begins[digit];                                                           \
        }                                                                                          \
        name##_move(to, from, count, low, least, lowest, ends);                                    \
    }

/* Sorts words whose keys have at most so many bits, by way of memory beside them. */
#define NOVA_SORT_BUCKET(name, word)                                                               \
    static void name##_bucket(word *words, word *beside, int64_t count, int low, word least,       \
                              int bits)                                                            \
    {                                                                                              \
        if (count <= NOVA_INSERTED_WORDS) {                                                        \
            name##_insert(words, count, low, least);                                               \
            return;                                                                                \
        }                                                                                          \
        word differing = 0, some = NOVA_WORD_KEY(word, words[0]);                                  \
        for (int64_t i = 1; i < count; i++)                                                        \
            differing |= NOVA_WORD_KEY(word, words[i]) ^ some;                                     \
        while (bits > 0 && differing >> (bits - 1) == 0)                                           \
            bits--;                                                                                \
        if (bits == 0)                                                                             \
            return;                                                                                \
        if (bits < (int)(8 * sizeof(word)))                                                        \
            least += (word)(some >> bits << bits);                                                 \
        if ((uint64_t)count * sizeof(word)                                                         \
            > (bits > 2 * NOVA_DIGIT_BITS ? NOVA_CACHED_BYTES : NOVA_NEAR_BYTES)) {                \
            int64_t begins[NOVA_DIGITS], ends[NOVA_DIGITS];                                        \
            int lowest = nova_lowest_bit(count, bits);                                             \
            name##_share(beside, words, count, low, least, lowest, begins, ends);                  \
            memcpy(words, beside, (size_t)count * sizeof(word));                                   \
            for (int k = 0; k < NOVA_DIGITS && lowest > 0; k++)                                    \
                name##_bucket(words + begins[k], beside + begins[k], ends[k] - begins[k], low,     \
                              (word)(least + ((word)k << lowest)), lowest);                        \
            return;                                                                                \
        }                                                                                          \
        int most = count < NOVA_FEW_WORDS ? 16 : 2 * NOVA_DIGIT_BITS;                              \
        int sorted = bits < most ? bits : most, left = bits - sorted;                              \
        name##_two(words, beside, count, low, least, left, sorted);                                \
        /* Runs of words that agree in these bits. */                                              \
        for (int64_t i = 1; i < count && left > 0; i++) {                                          \
            word key = NOVA_WORD_KEY(word, words[i]);                                              \
            if (NOVA_WORD_KEY(word, words[i - 1]) <= key)                                          \
                continue;                                                                          \
            int64_t begin = i - 1;                                                                 \
            while (begin > 0 && NOVA_WORD_KEY(word, words[begin - 1]) >> left == key >> left)      \
                begin--;                                                                           \
            while (i < count && NOVA_WORD_KEY(word, words[i]) >> left == key >> left)              \
                i++;                                                                               \
            name##_bucket(words + begin, beside + begin, i - begin, low,                           \
                          (word)(least + (key >> left << left)), left);                            \
        }                                                                                          \
    }

/* Finds the least key, and how many bits the differences of the others to it have. */
#define NOVA_SPAN_WORDS(name, word)                                                                \
    static inline word name##_span(const word *from, int64_t count, int low, word *most)           \
    {                                                                                              \
        word least = (word)(from[0] >> low), greatest = least;                                     \
        for (int64_t i = 1; i < count; i++) {                                                      \
            word key = (word)(from[i] >> low);                                                     \
            least = key < least ? key : least;                                                     \
            greatest = key > greatest ? key : greatest;                                            \
        }                                                                                          \
        *most = greatest;                                                                          \
        return least;                                                                              \
    }

/* Sorts a few words by their ranks: the number of words before each. There are no branches on keys. */
#define NOVA_RANK_WORDS(name, word)                                                                \
    static inline void name##_rank(word *to, const word *from, int64_t count, int low)             \
    {                                                                                              \
        word keys[NOVA_INSERTED_WORDS], ranks[NOVA_INSERTED_WORDS];                                \
        for (int64_t i = 0; i < count; i++) {                                                      \
            word key = (word)(from[i] >> low), rank = (word)i;                                     \
            for (int64_t k = 0; k < i; k++) {                                                      \
                word is_less = key < keys[k];                                                      \
                ranks[k] += is_less;                                                               \
                rank -= is_less;                                                                   \
            }                                                                                      \
            keys[i] = key;                                                                         \
            ranks[i] = rank;                                                                       \
        }                                                                                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[ranks[i]] = from[i];                                                                \
    }

/* Sorts words. */
#define NOVA_SORT_WORDS(name, word)                                                                \
    static inline void name(word *to, word *beside, const word *from, int64_t count,               \
                            int64_t low_bits)                                                      \
    {                                                                                              \
        const int low = (int)low_bits;                                                             \
        if (count <= NOVA_INSERTED_WORDS) {                                                        \
            name##_rank(to, from, count, low);                                                     \
            return;                                                                                \
        }                                                                                          \
        word most, least = name##_span(from, count, low, &most);                                   \
        int bits = 0;                                                                              \
        while (bits < (int)(8 * sizeof(word)) && (word)(most - least) >> bits != 0)                \
            bits++;                                                                                \
        if ((uint64_t)count * sizeof(word) <= NOVA_CACHED_BYTES) {                                 \
            memcpy(to, from, (size_t)count * sizeof(word));                                        \
            name##_bucket(to, beside, count, low, least, bits);                                    \
            return;                                                                                \
        }                                                                                          \
        int64_t begins[NOVA_DIGITS], ends[NOVA_DIGITS];                                            \
        int lowest = nova_lowest_bit(count, bits);                                                 \
        name##_share(to, from, count, low, least, lowest, begins, ends);                           \
        for (int k = 0; k < NOVA_DIGITS && lowest > 0; k++)                                        \
            name##_bucket(to + begins[k], beside + begins[k], ends[k] - begins[k], low,            \
                          (word)(least + ((word)k << lowest)), lowest);                            \
    }

/* Defines the sort of words of a type. */
#define NOVA_WORD_SORT(name, word)                                                                 \
    NOVA_INSERT_WORDS(name, word)                                                                  \
    NOVA_SORT_TWO_DIGITS(name, word)                                                               \
    NOVA_COUNT_DIGITS(name, word)                                                                  \
    NOVA_MOVE_WORDS(name, word)                                                                    \
    NOVA_SHARE_WORDS(name, word)                                                                   \
    NOVA_SORT_BUCKET(name, word)                                                                   \
    NOVA_SPAN_WORDS(name, word)                                                                    \
    NOVA_RANK_WORDS(name, word)                                                                    \
    NOVA_SORT_WORDS(name, word)

NOVA_WORD_SORT(nova_sort_words_u32, uint32_t)

NOVA_WORD_SORT(nova_sort_words_u64, uint64_t)

#endif
