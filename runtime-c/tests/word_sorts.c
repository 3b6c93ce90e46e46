/* Tests of sorts of words: results are those of a sort by insertion of the same words, for keys of all
 * ranges, and equal keys keep their order. Buckets are so small that all ways of sorting occur. */
#define NOVA_CACHED_BYTES 2048
#define NOVA_NEAR_BYTES 8192
#include "../common/word_sorts.h"
#include "test.h"
#include "words_test.h"

#define CHECK_SORT(name, word)                                                                     \
    do {                                                                                           \
        const int64_t most = 9000;                                                                 \
        uint64_t state = 88172645463325252u;                                                       \
        for (int64_t count = 0; count <= most; count = count * 5 / 3 + 1)                          \
            for (int way = 0; way < WAYS; way++)                                                   \
                for (int low = 0; low < (int)(8 * sizeof(word)); low += 13)                        \
                    for (int is_same = 0; is_same < 2; is_same++) {                                \
                        size_t bytes = (size_t)(count + (count == 0)) * sizeof(word);              \
                        word *from = (word *)malloc(bytes), *beside = (word *)malloc(bytes);       \
                        word *to = (word *)malloc(bytes), *wanted = (word *)malloc(bytes);         \
                        CHECK(from != NULL && beside != NULL && to != NULL && wanted != NULL);     \
                        for (int64_t i = 0; i < count; i++)                                        \
                            wanted[i] = from[i] = (word)some_word(way, &state);                    \
                        sort_by_bits_##word(wanted, beside, count, low);                         \
                        name(to, is_same ? from : beside, from, count, low);                       \
                        CHECK(count == 0 || memcmp(to, wanted, (size_t)count * sizeof(word)) == 0); \
                        free(from);                                                                \
                        free(beside);                                                              \
                        free(to);                                                                  \
                        free(wanted);                                                              \
                    }                                                                              \
    } while (0)

int main(void)
{
    CHECK_SORT(nova_sort_words_u32, uint32_t);
    CHECK_SORT(nova_sort_words_u64, uint64_t);
    return 0;
}
