/* What the measurements of recursive data share: the clock, the peak of memory, permutations, and
 * sides that run in turn. A measurement prints lines of fields separated by tabs:
 *
 *     size    N                     the number of nodes, where it is not the size asked for
 *     time    SIDE     NS NS ...    nanoseconds per node of each round
 *     value   NAME     X [MOST]     a figure, with its own bound if it has one
 *
 * A wrong result ends the process with a message and status 1. */
#ifndef RECURSION_H
#define RECURSION_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The command line: a size, a kind of data, and the number of rounds. */
struct setting {
    int64_t n;
    const char *kind;
    int rounds;
};

/* One side of a measurement. It returns the seconds of one run on the data, after it has checked
 * its result. */
struct side {
    const char *name;
    double (*run)(void *data);
};

_Noreturn static inline void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* Ends the process if a call of NOVA failed or a result is not the one expected. */
static inline void expect(const char *what, int code, const char *message, int right)
{
    if (code != 0)
        fail(what, message);
    if (!right)
        fail(what, "wrong result");
}

static inline void *get(int64_t count, size_t size)
{
    void *memory = malloc((size_t)(count > 0 ? count : 1) * size);
    if (memory == NULL)
        fail("memory", "there is not enough");
    return memory;
}

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The peak of the process's memory in bytes. That of `getrusage` begins with the memory of the process
 * that started this one. */
static inline double peak(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kilobytes = -1;
    while (file != NULL && kilobytes < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = strtol(line + 6, NULL, 10);
    if (kilobytes < 0)
        fail("/proc/self/status", "has no peak of memory");
    fclose(file);
    return 1024.0 * (double)kilobytes;
}

static inline struct setting read_setting(int count, char **words)
{
    if (count != 4)
        fail("usage", "SIZE KIND ROUNDS");
    struct setting setting = {strtoll(words[1], NULL, 10), words[2], (int)strtol(words[3], NULL, 10)};
    if (setting.n < 2 || setting.n > INT32_MAX / 2 || setting.rounds < 1)
        fail("usage", "SIZE is from 2 to 2^30, ROUNDS from 1");
    return setting;
}

static inline int is(struct setting setting, const char *kind)
{
    return strcmp(setting.kind, kind) == 0;
}

/* The next number of a xorshift generator. */
static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The numbers 0 ... n-1, in order or shuffled. */
static inline int32_t *permutation(int64_t n, int shuffled)
{
    int32_t *order = get(n, sizeof *order);
    order[0] = 0;
    for (int64_t i = 1; i < n; i++)
        order[i] = (int32_t)i;
    uint64_t state = 88172645463325252u;
    for (int64_t i = n - 1; shuffled && i > 0; i--) {
        int64_t j = (int64_t)(draw(&state) % (uint64_t)(i + 1));
        int32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    return order;
}

/* The least k with 2^k >= n. */
static inline int ceil_log2(int64_t n)
{
    int k = 0;
    while (((int64_t)1 << k) < n)
        k++;
    return k;
}

static inline void print_size(int64_t n)
{
    printf("size\t%lld\n", (long long)n);
}

static inline void print_value(const char *name, double value)
{
    printf("value\t%s\t%.9g\n", name, value);
}

static inline void print_bounded(const char *name, double value, double most)
{
    printf("value\t%s\t%.9g\t%.9g\n", name, value, most);
}

/* Longer than the time for which the threads of a pool stay awake without work. */
static inline void rest(void)
{
    struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
}

/* Runs all sides in turn, each round beginning with another one, and prints the nanoseconds per
 * node of each round. A round before the first one is not counted. */
static inline void measure(const struct side *sides, int count, struct setting setting, int64_t nodes,
                           void *data)
{
    double *times = get((int64_t)count * setting.rounds, sizeof *times);
    for (int round = -1; round < setting.rounds; round++)
        for (int k = 0; k < count; k++) {
            int side = (k + round + 1) % count;
            rest();
            double seconds = sides[side].run(data);
            if (round >= 0)
                times[side * setting.rounds + round] = seconds * 1e9 / (double)nodes;
        }
    for (int side = 0; side < count; side++) {
        printf("time\t%s\t", sides[side].name);
        for (int round = 0; round < setting.rounds; round++)
            printf("%.6g%c", times[side * setting.rounds + round], round + 1 < setting.rounds ? ' ' : '\n');
    }
    free(times);
}

#endif
