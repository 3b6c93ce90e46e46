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

/* The words that begin in n bytes; `before` is whether the byte before them is a letter. */
static int64_t words_in(const uint8_t *text, int64_t n, uint64_t before)
{
    int64_t i = 0, words[4] = {0};
    for (; i + PAGES <= n; i += PAGES) {
        uint64_t left[4] = {before};
        for (int k = 1; k < 4; k++)
            left[k] = (uint64_t)is_letter(text[i + k * PAGES / 4 - 1]);
        for (int64_t j = i; j < i + PAGES / 4; j += 128)
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++) {
                const uint8_t *at = text + j + PAGES / 4 * (k / 2) + 64 * (k % 2);
                prefetch(at, PAGES);
                uint64_t mask = letters(at);
                words[k / 2] += __builtin_popcountll(mask & ~(mask << 1 | left[k / 2]));
                left[k / 2] = mask >> 63;
            }
        before = left[3];
    }
    for (; i < n; i++) {
        uint64_t letter = (uint64_t)is_letter(text[i]);
        words[0] += (int64_t)(letter & ~before);
        before = letter;
    }
    return words[0] + words[1] + words[2] + words[3];
}

int peer_wordcount(int32_t *result, int64_t text_len, const uint8_t *text)
{
    *result = (int32_t)words_in(text, text_len, 0);
    return 0;
}
