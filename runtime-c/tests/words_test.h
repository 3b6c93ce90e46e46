/* Words for tests of sorts, and a sort to compare with. */
#ifndef NOVA_WORDS_TEST_H
#define NOVA_WORDS_TEST_H

#include <stdint.h>

/* The next of some random numbers. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

enum { WAYS = 6 };

/* A word of one of several distributions. */
static uint64_t some_word(int way, uint64_t *state)
{
    uint64_t bits = draw(state);
    switch (way) {
    case 0:
        return bits;
    case 1:
        return bits % 5 * UINT64_C(0x123456789abcdef1);
    case 2:
        return (UINT64_C(0x80000000) << 32 | UINT64_C(0x7ffffff0)) + bits % 40;
    case 3:
        return bits >> bits % 64;
    case 4:
        return UINT64_C(77);
    default:
        return bits % 8 == 0 ? bits : UINT64_C(0x5555555555550000) + bits % 2000;
    }
}

/* Sorts words stably by their bits from `low` on, by one bit after the other. */
#define SORT_BY_BITS(word)                                                                       \
    static void sort_by_bits_##word(word *words, word *beside, int64_t count, int low)           \
    {                                                                                              \
        for (int bit = low; bit < (int)(8 * sizeof(word)); bit++) {                                \
            int64_t zeros = 0, ones = 0;                                                           \
            for (int64_t i = 0; i < count; i++)                                                    \
                if (words[i] >> bit & 1)                                                           \
                    beside[ones++] = words[i];                                                     \
                else                                                                               \
                    words[zeros++] = words[i];                                                     \
            for (int64_t i = 0; i < ones; i++)                                                     \
                words[zeros + i] = beside[i];                                                      \
        }                                                                                          \
    }

SORT_BY_BITS(uint32_t)
SORT_BY_BITS(uint64_t)

#endif
