/* Calls a program twice and says what came of it: the code and, of a failure, the message; whether a
 * call that succeeds is right and one that fails leaves everything as it was. */
#include "scaled.h"
#include <stdio.h>

enum { N = 1000 };

int main(void)
{
    static float X[N], buffer[N];
    for (int i = 0; i < N; i++)
        X[i] = (float)i;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++)
            buffer[i] = -1;
        float *result = buffer;
        int64_t length = N;
        int code = scaled(&length, &result, 2, N, X);
        int right = result == buffer && length == N;
        for (int i = 0; i < N; i++)
            right = right && buffer[i] == (code == 0 ? 2 * X[i] : -1);
        printf("%d %s%s%s\n", code, right ? "right" : "wrong", code == 0 ? "" : ": ",
               code == 0 ? "" : scaled_error());
    }
    return 0;
}
