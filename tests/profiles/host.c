/* Calls that a profile counts: from several threads, with a kernel that fails, with one that is run
 * again. */
#include "profiled.h"
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

static void *many_calls(void *argument)
{
    float X[N], found[N], *result = found;
    (void)argument;
    for (int i = 0; i < N; i++)
        X[i] = (float)i;
    for (int k = 0; k < CALLS; k++) {
        int64_t length = N;
        EXPECT(scaled(&length, &result, 3, N, X) == 0);
        EXPECT(length == N && result == found && found[N - 1] == 3 * X[N - 1]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int32_t X[N], Y[N], found[N], *result = found;
    int64_t length = N;
    for (int k = 0; k < THREADS; k++)
        EXPECT(pthread_create(&threads[k], NULL, many_calls, NULL) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (int i = 0; i < N; i++)
        X[i] = Y[i] = i;
    EXPECT(divided(&length, &result, N, X, N, Y) == 1);
    Y[0] = 1;
    EXPECT(divided(&length, &result, N, X, N, Y) == 0 && found[0] == 0 && found[N - 1] == 1);
    EXPECT(lengths(&length, &result, N, X) == 0 && found[N - 1] == N - 1);
    printf("all right\n");
    return 0;
}
