/* Forms of one computation, measured in turn. A file says what they are:
 *
 *     static void prepare(int64_t size);      makes the inputs
 *     static double checked(void);            a number that the result must give
 *     static const form forms[] = {{"by hand", hand}, ...};
 *     FORMS
 *
 * and gets a program that takes the size and the number of rounds, and prints a row for each form: its
 * median time, and the medians of its time over that of the first form and over that of the fastest
 * other one, each of one round. */
#ifndef FORMS_H
#define FORMS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    const char *name;
    int (*run)(void);
} form;

enum { MOST_FORMS = 12, MOST_ROUNDS = 101 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof(double));
    qsort(sorted, (size_t)count, sizeof(double), by_value);
    return sorted[count / 2];
}

/* Runs all forms once, if they give the same; 1 if one fails or gives something else. */
static int check_forms(const form *forms, int count, double (*checked)(void))
{
    double expected = 0;
    for (int k = 0; k < count; k++) {
        if (forms[k].run() != 0) {
            fprintf(stderr, "%s fails\n", forms[k].name);
            return 1;
        }
        double found = checked();
        if (k == 0)
            expected = found;
        if (!(fabs(found - expected) <= 1e-4 * fabs(expected) + 1e-6)) {
            fprintf(stderr, "%s gives %g, not %g\n", forms[k].name, found, expected);
            return 1;
        }
    }
    return 0;
}

static int measure_forms(const char *family, const form *forms, int count, int rounds,
                         double (*checked)(void))
{
    static double times[MOST_FORMS][MOST_ROUNDS];
    if (check_forms(forms, count, checked) != 0)
        return 1;
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < count; k++) {
            double start = seconds();
            forms[k].run();
            times[k][round] = seconds() - start;
        }
    }
    int fastest = 1;
    for (int k = 2; k < count; k++) {
        if (median(times[k], rounds) < median(times[fastest], rounds))
            fastest = k;
    }
    for (int k = 0; k < count; k++) {
        double over_first[MOST_ROUNDS], over_fastest[MOST_ROUNDS];
        for (int round = 0; round < rounds; round++) {
            over_first[round] = times[k][round] / times[0][round];
            over_fastest[round] = times[k][round] / times[fastest][round];
        }
        printf("| %s | %s | %.3f | %.2f | %.2f |\n", family, forms[k].name,
               median(times[k], rounds) * 1e3, median(over_first, rounds),
               median(over_fastest, rounds));
    }
    return 0;
}

#define FORMS                                                                                      \
    int main(int argc, char **argv)                                                               \
    {                                                                                             \
        int rounds = argc > 2 ? atoi(argv[2]) : 11;                                               \
        prepare(argc > 1 ? atoll(argv[1]) : 1 << 20);                                             \
        rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;                    \
        return measure_forms(FAMILY, forms, (int)(sizeof forms / sizeof *forms), rounds, checked); \
    }

/* n floats from 0 to 1 in no order. */
static inline float *random_floats(int64_t n)
{
    float *made = malloc((size_t)n * sizeof *made + 1);
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        made[i] = (float)(state >> 8) / 16777216.0f;
    }
    return made;
}

static inline double sum_of(const float *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += values[i] * (double)(i % 7 + 1);
    return sum;
}

#endif
