/* Calls that a profile of a processor counts: from several threads, with empty arrays, with an operation
 * that fails. */
#include "five.h"
#include "loops.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                        \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);              \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

enum { THREADS = 4, CALLS = 5, N = 300 };

/* Loops inside loops, and rows. */
static void call_loops(const float *X)
{
    const int64_t offsets[3] = {0, 200, 300};
    int64_t length = 0;
    float *result = NULL;
    EXPECT(steps(&length, &result, 3, N, X) == 0 && length == N);
    free(result);
    result = NULL;
    EXPECT(steps(&length, &result, 2, 0, NULL) == 0 && length == 0);
    free(result);
    result = NULL;
    EXPECT(grown(&length, &result, 64, 4, X) == 0 && length == 64 && result[63] == X[3] + 4);
    free(result);
    result = NULL;
    EXPECT(norms(&length, &result, 2, offsets, X) == 0 && length == 2);
    free(result);
}

/* A loop that fails, and one whose result is as long as values say. */
static void call_whole(const int32_t *whole)
{
    int32_t divisors[N];
    int64_t length = 0;
    int32_t *result = NULL;
    for (int i = 0; i < N; i++)
        divisors[i] = i;
    EXPECT(divided(&length, &result, N, whole, N, divisors) == 1);
    divisors[0] = 1;
    EXPECT(divided(&length, &result, N, whole, N, divisors) == 0 && result[2] == 1);
    free(result);
    result = NULL;
    EXPECT(kept(&length, &result, N, whole) == 0 && length == N - 10);
    free(result);
}

/* Five loops, over this many elements. */
static void call_five(int32_t n, int32_t m)
{
    nova_tuple4_vector_float_vector_int_vector_float_vector2_float result;
    EXPECT(five(&result, n, m) == 0);
    EXPECT(result.e0.len == n && result.e1.len == 256 && result.e2.len == n / 16);
    EXPECT(result.e3.dim0 == m && result.e3.dim1 == m);
    five_free_result(result);
}

static void *many_calls(void *argument)
{
    float X[N];
    int32_t whole[N];
    (void)argument;
    for (int i = 0; i < N; i++) {
        X[i] = (float)i;
        whole[i] = i;
    }
    for (int k = 0; k < CALLS; k++) {
        call_loops(X);
        call_whole(whole);
        call_five(N, 5);
        call_five(0, 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        EXPECT(pthread_create(&threads[k], NULL, many_calls, NULL) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    printf("all right\n");
    return 0;
}
