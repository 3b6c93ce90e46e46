/* Tests of sorts of words by threads: results are those of a sort by single bits, for keys of all ranges,
 * numbers of words and numbers of threads. Few words are shared, and buckets are small. */
#define NOVA_SHARED_BYTES 256
#define NOVA_CACHED_BYTES 2048
#define NOVA_NEAR_BYTES 8192
#include "pool_test.h"
#include "../pthreads/word_sorts.h"
#include "words_test.h"

/* A sort as the body of a call. */
typedef struct sort_job {
    void *to, *beside;
    const void *from;
    int64_t count, low;
} sort_job;

#define CHECK_SORT(name, word)                                                                     \
    static void sort_##word(nova_context *context, void *call)                                     \
    {                                                                                              \
        sort_job *job = (sort_job *)call;                                                          \
        name((word *)job->to, (word *)job->beside, (const word *)job->from, context, job->count,   \
             job->low);                                                                            \
    }                                                                                              \
    static void check_##word(void)                                                                 \
    {                                                                                              \
        uint64_t state = 88172645463325252u;                                                       \
        for (int64_t count = 1; count <= 6000; count = count * 3 + 1)                              \
            for (int way = 0; way < WAYS; way++)                                                   \
                for (int low = 0; low < (int)(8 * sizeof(word)); low += 17)                        \
                    for (int is_same = 0; is_same < 2; is_same++) {                                \
                        size_t bytes = (size_t)count * sizeof(word);                               \
                        word *from = (word *)malloc(bytes), *beside = (word *)malloc(bytes);       \
                        word *to = (word *)malloc(bytes), *wanted = (word *)malloc(bytes);         \
                        CHECK(from != NULL && beside != NULL && to != NULL && wanted != NULL);     \
                        for (int64_t i = 0; i < count; i++)                                        \
                            wanted[i] = from[i] = (word)some_word(way, &state);                    \
                        sort_by_bits_##word(wanted, beside, count, low);                           \
                        sort_job job = {to, is_same ? from : beside, from, count, low};            \
                        char message[NOVA_MESSAGE_SIZE] = "";                                      \
                        CHECK(nova_call(sort_##word, &job, message) == 0);                         \
                        CHECK(memcmp(to, wanted, bytes) == 0);                                     \
                        free(from);                                                                \
                        free(beside);                                                              \
                        free(to);                                                                  \
                        free(wanted);                                                              \
                    }                                                                              \
    }

CHECK_SORT(nova_share_sort_words_u32, uint32_t)

CHECK_SORT(nova_share_sort_words_u64, uint64_t)

int main(void)
{
    static const int threads[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        use_threads(threads[i]);
        check_uint32_t();
        check_uint64_t();
    }
    return 0;
}
