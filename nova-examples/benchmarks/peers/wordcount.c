/* The number of words of a text. Limited by the bandwidth of reading: 64 bytes become one mask of
 * letters, a word begins at a letter whose neighbour is none. */
#include "peer.h"

static inline int is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

#ifdef __AVX512BW__
static inline uint64_t letters(const uint8_t *text)
{
    __m512i c = _mm512_or_si512(_mm512_loadu_si512(text), _mm512_set1_epi8(0x20));
    c = _mm512_sub_epi8(c, _mm512_set1_epi8('a'));
    return _mm512_cmplt_epu8_mask(c, _mm512_set1_epi8(26));
}
#else
static inline uint64_t letters(const uint8_t *text)
{
    uint64_t mask = 0;
    for (int k = 0; k < 64; k++)
        mask |= (uint64_t)is_letter(text[k]) << k;
    return mask;
}
#endif

/* The words that begin in a line of 64 bytes; `letter` is whether the byte before it is a letter,
 * then whether its last is. */
static inline int64_t words_in_line(const uint8_t *text, uint64_t *letter)
{
    uint64_t mask = letters(text), before = *letter;
    *letter = mask >> 63;
    return __builtin_popcountll(mask & ~(mask << 1 | before));
}

/* The words that begin in n bytes; `before` is whether the byte before them is a letter. */
static int64_t words_in(const uint8_t *text, int64_t n, uint64_t before)
{
    int64_t i = 0, words = 0;
    while (IN_TURN && i + 512 <= n) {
        int64_t eighth = 4 * eighth_of((n - i) / 4), found[8] = {0};
        uint64_t letter[8] = {before};
        for (int k = 1; k < 8; k++)
            letter[k] = (uint64_t)is_letter(text[i + eighth * k - 1]);
        for (int64_t j = i; j < i + eighth; j += 64)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                prefetch(text + j + eighth * k, AHEAD_OF_EIGHT);
                found[k] += words_in_line(text + j + eighth * k, &letter[k]);
            }
        for (int k = 0; k < 8; k++)
            words += found[k];
        before = letter[7];
        i += 8 * eighth;
    }
    for (; i + 64 <= n; i += 64) {
        prefetch(text + i, AHEAD);
        words += words_in_line(text + i, &before);
    }
    for (; i < n; i++) {
        uint64_t letter = (uint64_t)is_letter(text[i]);
        words += (int64_t)(letter & ~before);
        before = letter;
    }
    return words;
}

int peer_wordcount(int32_t *result, int64_t text_len, const uint8_t *text)
{
    *result = (int32_t)words_in(text, text_len, 0);
    return 0;
}
