/* The foreign functions of tests of programs that call some. Those with effects keep a log of what
 * they were given, which the program takes as its last value. */
#include FOREIGN_HEADER
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 20 };
static int32_t logged[LONGEST];
static int64_t length;

static void log_one(int32_t value)
{
    if (length < LONGEST)
        logged[length++] = value;
}

static int32_t *copy(const int32_t *data, int64_t count)
{
    int32_t *result = (int32_t *)malloc((size_t)(count > 0 ? count : 1) * sizeof *result);
    if (count > 0)
        memcpy(result, data, (size_t)count * sizeof *result);
    return result;
}

/* Logs a number; gives another. */
void note(int32_t *result, int32_t a)
{
    log_one(a);
    *result = (int32_t)(2 * (uint32_t)a + 1);
}

/* Logs a number; gives whether it is odd. */
void asks(int *result, int32_t a)
{
    log_one(a);
    *result = a & 1;
}

/* Logs all numbers; gives them. */
void notes(int64_t *result_len, int32_t **result, int64_t a_len, const int32_t *a)
{
    for (int64_t i = 0; i < a_len; i++)
        log_one(a[i]);
    *result = copy(a, a_len);
    *result_len = a_len;
}

/* The log so far, which is empty then. */
void taken(int64_t *result_len, int32_t **result, int32_t a)
{
    (void)a;
    *result = copy(logged, length);
    *result_len = length;
    length = 0;
}

/* A number of a number. */
void thrice(int32_t *result, int32_t a)
{
    *result = (int32_t)(3 * (uint32_t)a - 1);
}

/* Whether a number is even. */
void is_even(int *result, int32_t a)
{
    *result = (a & 1) == 0;
}

/* A vector of a number: as many as its last digit says. */
void some(int64_t *result_len, int32_t **result, int32_t a)
{
    int64_t count = (int64_t)((uint32_t)a % 10);
    *result = (int32_t *)malloc((size_t)(count > 0 ? count : 1) * sizeof **result);
    for (int64_t i = 0; i < count; i++)
        (*result)[i] = (int32_t)((uint32_t)a + (uint32_t)i);
    *result_len = count;
}

/* A number of a vector. */
void total(int32_t *result, int64_t a_len, const int32_t *a)
{
    uint32_t sum = 7;
    for (int64_t i = 0; i < a_len; i++)
        sum += (uint32_t)a[i];
    *result = (int32_t)sum;
}

/* A vector of a vector. */
void doubled(int64_t *result_len, int32_t **result, int64_t a_len, const int32_t *a)
{
    *result = copy(a, a_len);
    for (int64_t i = 0; i < a_len; i++)
        (*result)[i] = (int32_t)(2 * (uint32_t)a[i]);
    *result_len = a_len;
}

/* A pair of a pair. */
void swap(nova_tuple2_int_int *result, nova_tuple2_int_int a)
{
    result->e0 = a.e1;
    result->e1 = a.e0;
}
