/* Calls generated scans of many lengths and checks each result against a plain loop; results begin
 * at several distances from a line of memory. The sums of floats are exact here. */
#include "scans.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { LONGEST = 1300000, OFFSETS = 3 };

static int32_t ints[LONGEST], wanted[LONGEST], found[LONGEST + OFFSETS];
static float floats[LONGEST], wanted_halves[LONGEST], found_halves[LONGEST + OFFSETS];

/* What the scans of the first n elements give. */
static void expect(int64_t n, int which)
{
    uint32_t sum = 0;
    int32_t least = 1000, most = -1000;
    float half = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t x = ints[i];
        uint32_t before = sum;
        sum += which == 2 ? (uint32_t)x * (uint32_t)x : (uint32_t)x;
        least = x < least ? x : least;
        most = x > most ? x : most;
        half += 0.5f * floats[i];
        const uint32_t results[] = {sum, before + 7, 1 + 2 * sum, (uint32_t)least,
                                    sum - (uint32_t)most};
        wanted[i] = (int32_t)results[which];
        wanted_halves[i] = half;
    }
}

static int failures;

static void compare(const char *name, const void *a, const void *b, int64_t n, int64_t offset)
{
    if (memcmp(a, b, (size_t)n * 4) != 0) {
        printf("%s of %lld elements at %lld\n", name, (long long)n, (long long)offset);
        failures++;
    }
}

int main(void)
{
    static const struct {
        const char *name;
        int (*scan)(int64_t *, int32_t **, int64_t, const int32_t *);
    } scans[] = {{"sums", sums},
                 {"sums_before", sums_before},
                 {"sums_of_squares", sums_of_squares},
                 {"least", least},
                 {"with_maxima", with_maxima}};
    static const int64_t lengths[] = {0,  1,  15,  16,   17,    63,     64,
                                      65, 127, 1000, 65535, 65536, 100003, LONGEST};
    for (int64_t i = 0; i < LONGEST; i++) {
        ints[i] = (int32_t)(i * 7919 % 1999) - 1000 + (i == 777777 ? 1 << 30 : 0);
        floats[i] = (float)(i * 37 % 11);
    }
    for (size_t k = 0; k < COUNT(lengths); k++) {
        int64_t n = lengths[k];
        for (int64_t offset = 0; offset < OFFSETS; offset++) {
            for (size_t which = 0; which < COUNT(scans); which++) {
                expect(n, (int)which);
                int32_t *place = found + offset;
                int64_t length = n;
                if (scans[which].scan(&length, &place, n, ints) != 0 || length != n)
                    failures++;
                compare(scans[which].name, wanted, found + offset, n, offset);
            }
            float *place = found_halves + offset;
            int64_t length = n;
            if (halves(&length, &place, n, floats) != 0 || length != n)
                failures++;
            compare("halves", wanted_halves, found_halves + offset, n, offset);
        }
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
