/* Calls generated sparse products on rows of many lengths and checks them against plain loops, and
 * where an index is bad the message, which names the first of them. The sums are exact here. */
#include "pairs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 37, LENGTHS = 7 };

static int failures;

/* The length of a row: all empty, of one element, of sixteen, of several, some of them long. */
static int64_t length_of(int which, int64_t row)
{
    switch (which) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return 16;
    case 3:
        return row * 7 % 19;
    case 4:
        return row % 50 == 13 ? 130 : row * 5 % 31;
    case 5:
        return row % 90 == 40 ? 3000 : row * 5 % 9;
    default:
        return row % 11 == 0 ? 3 : 0;
    }
}

/* The number in a place, a whole one or half of one. */
static double number(int64_t place)
{
    return (double)(place * 31 % 101 - 50) / 2;
}

static void is_true(int holds, const char *name, int which, int64_t rows)
{
    if (!holds) {
        printf("%s of %lld rows of kind %d\n", name, (long long)rows, which);
        failures++;
    }
}

/* Calls an entry without a bad index and with some. The arrays end with their last elements. */
#define CHECK_ENTRY(name, pair, index_type, number_type, GET_INDEX, SET)                           \
    static void check_##name(int which, int64_t rows)                                             \
    {                                                                                             \
        int64_t *starts = (int64_t *)malloc((size_t)(rows + 1) * sizeof *starts);                 \
        starts[0] = 0;                                                                            \
        for (int64_t r = 0; r < rows; r++)                                                        \
            starts[r + 1] = starts[r] + length_of(which, r);                                      \
        const int64_t total = starts[rows];                                                       \
        pair *elements = (pair *)malloc((size_t)(total + (total == 0)) * sizeof *elements);       \
        number_type *x = (number_type *)malloc(NUMBERS * sizeof *x);                              \
        double *result = (double *)malloc((size_t)(rows + (rows == 0)) * sizeof *result);         \
        for (int k = 0; k < NUMBERS; k++)                                                         \
            x[k] = (number_type)(k - 9);                                                          \
        for (int64_t k = 0; k < total; k++)                                                       \
            SET(elements[k], (index_type)(k * 11 % NUMBERS), k);                                  \
        int64_t length = rows;                                                                    \
        is_true(name(&length, &result, rows, starts, elements, NUMBERS, x) == 0 && length == rows, \
                #name, which, rows);                                                              \
        for (int64_t r = 0; r < rows; r++) {                                                      \
            double sum = 0;                                                                       \
            for (int64_t k = starts[r]; k < starts[r + 1]; k++)                                   \
                sum += WEIGHT_##name(elements[k]) * (double)x[GET_INDEX(elements[k])];            \
            is_true(result[r] == sum, #name, which, rows);                                        \
        }                                                                                         \
        for (int64_t first = 0; first < total; first += 1 + total / 9) {                          \
            /* A later one, and the first one. */                                                 \
            const int64_t last = first + (total - first) / 2;                                     \
            const index_type good = GET_INDEX(elements[first]), other = GET_INDEX(elements[last]); \
            char wanted[32];                                                                      \
            SET(elements[last], NUMBERS + 5, last);                                               \
            SET(elements[first], first % 2 == 0 ? -3 : NUMBERS, first);                           \
            snprintf(wanted, sizeof wanted, "%s", first % 2 == 0 ? "-3" : "37");                  \
            length = rows;                                                                        \
            is_true(name(&length, &result, rows, starts, elements, NUMBERS, x) != 0 &&            \
                        strstr(name##_error(), wanted) != NULL,                                   \
                    name##_error(), which, rows);                                                 \
            SET(elements[last], other, last);                                                     \
            SET(elements[first], good, first);                                                    \
        }                                                                                         \
        free(result);                                                                             \
        free(x);                                                                                  \
        free(elements);                                                                           \
        free(starts);                                                                             \
    }

#define INDEX(e) (e).e0
#define SET_FLOAT(e, index, k) ((e).e0 = (index), (e).e1 = (float)number(k))
#define SET_DOUBLE(e, index, k) ((e).e0 = (index), (e).e1 = number(k))
#define ITSELF(e) (e)
#define SET_ITSELF(e, index, k) ((e) = (index))
#define WEIGHT_floats(e) (double)(e).e1
#define WEIGHT_doubles(e) (e).e1
#define WEIGHT_mixed(e) (e).e1
#define WEIGHT_numbers(e) 1.0

CHECK_ENTRY(floats, nova_tuple2_int_float, int32_t, float, INDEX, SET_FLOAT)

CHECK_ENTRY(doubles, nova_tuple2_int64_double, int64_t, double, INDEX, SET_DOUBLE)

CHECK_ENTRY(mixed, nova_tuple2_int_double, int32_t, int64_t, INDEX, SET_DOUBLE)

CHECK_ENTRY(numbers, int32_t, int32_t, int32_t, ITSELF, SET_ITSELF)

int main(void)
{
    static const int64_t rows[] = {0, 1, 31, 32, 33, 64, 200, 1500};
    for (int which = 0; which < LENGTHS; which++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            check_floats(which, rows[k]);
            check_doubles(which, rows[k]);
            check_mixed(which, rows[k]);
            check_numbers(which, rows[k]);
        }
    printf("%d failures\n", failures);
    return failures != 0;
}
