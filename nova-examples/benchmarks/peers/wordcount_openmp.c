/* The number of words with OpenMP: a chunk counts the words that begin in it. */
#include "wordcount.c"
#include "openmp.h"

int peer_wordcount_openmp(int32_t *result, int64_t text_len, const uint8_t *text)
{
    chunks all = cut(text_len, 2 * CHEAP, BLOCK);
    int64_t words = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : words) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t i = chunk_begin(all, c);
        words += words_in(text + i, chunk_length(all, c), i > 0 && is_letter(text[i - 1]));
    }
    *result = (int32_t)words;
    return 0;
}
