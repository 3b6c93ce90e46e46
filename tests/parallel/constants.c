/* Compares constants that the program copies with those that it says. */
#include "constants.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void compare(const char *name, int code, const void *given, int64_t length, const void *expected,
                    size_t size)
{
    if (code == 0 && length == 8 && memcmp(given, expected, 8 * size) == 0)
        return;
    printf("%s: error %d, or %d elements, or others\n", name, code, (int)length);
    failed = 1;
}

int main(void)
{
    const int32_t x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    /* Volatile, so that this compiler loses nothing itself. */
    volatile int32_t seven = 7;
    volatile int64_t two = 2;
    int32_t narrow[8] = {0};
    int64_t wide_ones[8] = {0};
    char text[8][4] = {{0}};
    for (int i = 0; i < 6; i++) {
        narrow[i] = seven;
        memcpy(text[i], "abab", 4);
    }
    for (int i = 0; i < 7; i++)
        wide_ones[i] = two;

    int64_t length = -1;
    int32_t *some = NULL;
    int code = rows(&length, &some, 1, x);
    compare("rows", code, some, length, narrow, sizeof *some);
    free(some);
    int64_t *more = NULL;
    code = wide(&length, &more, 1, x);
    compare("wide", code, more, length, wide_ones, sizeof *more);
    free(more);
    some = NULL;
    code = placed(&length, &some, 8, x);
    compare("placed", code, some, length, narrow, sizeof *some);
    free(some);
    uint8_t *bytes = NULL;
    code = texts(&length, &bytes, 1, x);
    compare("texts", code, bytes, length / 4, text, sizeof text[0]);
    free(bytes);
    return failed;
}
