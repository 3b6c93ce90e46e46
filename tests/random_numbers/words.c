/* Writes the words of std/random's generator to standard output, as they lie in memory, until nobody reads
 * them: `words SEED`. */
#include "random_bits.h"

#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 1 << 20 };

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: words SEED\n");
        return 2;
    }
    uint64_t seed = strtoull(argv[1], NULL, 10);
    uint32_t *words = malloc(AT_ONCE * sizeof *words);
    if (words == NULL)
        return 1;
    for (uint64_t offset = 0;; offset += AT_ONCE) {
        int64_t count = AT_ONCE;
        if (word_stream(&count, &words, seed, offset, AT_ONCE) != 0) {
            fprintf(stderr, "words: %s\n", word_stream_error());
            return 1;
        }
        if (fwrite(words, sizeof *words, (size_t)count, stdout) != (size_t)count)
            break;
    }
    free(words);
    return 0;
}
