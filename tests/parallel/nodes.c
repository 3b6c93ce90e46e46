/* Calls programs whose parallel loops make nodes of recursive data, and compares the results with those of
 * recursion and of plain loops. With LIMITED it checks that loops that make 1.2 GB of nodes take little
 * memory. */
#include "nodes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 400, LONGEST = 500 };

static uint32_t digest(uint32_t i, int32_t k)
{
    return k == 0 ? i : i + 3 * digest(2 * i, k - 1) + 7 * digest(2 * i + 1, k - 1);
}

static void check_kept(int32_t n, int32_t k)
{
    uint32_t expected = 0;
    for (int32_t i = 0; i < n; i++)
        expected += digest((uint32_t)i, k);
    int32_t result;
    CHECK(kept(&result, n, k) == 0 && result == (int32_t)expected);
}

static void check_in_maps(int32_t n, int32_t k)
{
    int64_t count;
    int32_t *results = NULL;
    CHECK(in_maps(&count, &results, n, k) == 0 && count == n);
    for (int32_t i = 0; i < n; i++)
        CHECK(results[i] == (int32_t)digest((uint32_t)i, k));
    free(results);
}

static void check_dropped(int64_t n, int32_t longest)
{
    int32_t *lengths = malloc((size_t)(n + 1) * sizeof *lengths), *results = NULL;
    int64_t count;
    for (int64_t i = 0; i < n; i++)
        lengths[i] = (int32_t)(i * 7919 % (longest + 1));
    CHECK(dropped(&count, &results, n, lengths) == 0 && count == n);
    for (int64_t i = 0; i < n; i++) {
        uint32_t sum = 0;
        for (int32_t x = lengths[i]; x > 0; x--)
            sum = 31 * sum + (uint32_t)x;
        CHECK(results[i] == (int32_t)sum);
    }
    free(lengths);
    free(results);
}

static void check_sorted_lists(int32_t n)
{
    int64_t count;
    int32_t *results = NULL;
    CHECK(sorted_lists(&count, &results, n) == 0 && count == n);
    for (int32_t i = 0; i < n; i++) {
        int32_t sorted[40];
        uint32_t x = (uint32_t)i, sum = 0;
        for (int32_t k = 0; k < i % 40; k++) {
            int32_t number = (int32_t)x / 65536, at = k;
            for (; at > 0 && sorted[at - 1] > number; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = number;
            x = x * 1664525u + 1013904223u;
        }
        for (int32_t k = 0; k < i % 40; k++)
            sum = 31 * sum + (uint32_t)sorted[k];
        CHECK(results[i] == (int32_t)sum);
    }
    free(results);
}

static int32_t lists[2][MOST][LONGEST];
static int32_t lengths[2][MOST];

static void check_in_a_loop(int32_t n, int32_t rounds)
{
    for (int32_t i = 0; i < n; i++) {
        lengths[0][i] = i % 5;
        for (int32_t k = 0; k < i % 5; k++)
            lists[0][i][k] = k + 1;
    }
    for (int32_t round = 0; round < rounds; round++)
        for (int32_t i = 0; i < n; i++) {
            int32_t from = n - (i + 1), count = lengths[round % 2][from];
            int32_t *to = lists[(round + 1) % 2][i];
            to[0] = i;
            for (int32_t k = 0; k < count; k++)
                to[k + 1] = lists[round % 2][from][count - 1 - k];
            lengths[(round + 1) % 2][i] = count + 1;
        }
    uint32_t expected = 0;
    for (int32_t i = 0; i < n; i++) {
        uint32_t sum = 0;
        for (int32_t k = 0; k < lengths[rounds % 2][i]; k++)
            sum = 31 * sum + (uint32_t)lists[rounds % 2][i][k];
        expected += sum;
    }
    int32_t result;
    CHECK(in_a_loop(&result, n, rounds) == 0 && result == (int32_t)expected);
}

#ifdef LIMITED
/* The peak of the memory of this process. */
static long peak_in_kb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) {
            fclose(file);
            return strtol(line + 6, NULL, 10);
        }
    CHECK(file == NULL);
    return 0;
}
#endif

#ifdef NOVA_MOST_NODES
/* More nodes than links can name are an error of a thread. The next call is not affected. */
static void check_few_links(void)
{
    int32_t result;
    CHECK(kept(&result, 5, 12) == 2 && strstr(kept_error(), "more than") != NULL);
    CHECK(in_maps(&(int64_t){0}, &(int32_t *){NULL}, 3, 12) == 2);
    check_kept(20, 5);
    check_in_maps(3, 7);
}
#endif

int main(void)
{
#ifdef NOVA_MOST_NODES
    check_few_links();
    return 0;
#endif
#ifdef LIMITED
    check_dropped(50000, 400);
    CHECK(peak_in_kb() < 64 << 10);
#endif
    for (int32_t n = 0; n < MOST; n = 2 * n + 1) {
        check_kept(n, 0);
        check_kept(n, 5);
        check_in_maps(n % 16, n % 8);
        check_dropped(n, 30);
        check_sorted_lists(n);
        check_in_a_loop(n, n % 13);
    }
    check_kept(5, 12);
    check_in_maps(3, 10);
    return 0;
}
