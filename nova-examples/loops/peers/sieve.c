/* The sieve of Eratosthenes, a byte for each number. It is limited by the scattered writes of the
 * small primes. */
#include "../../benchmarks/peers/peer.h"

int peer_sieve(int64_t *len, int32_t **result, int32_t n)
{
    uint8_t *marks = malloc(n > 0 ? (size_t)n : 1);
    if (marks == NULL)
        return 2;
    memset(marks, 1, n > 0 ? (size_t)n : 0);
    for (int64_t p = 2; p * p < n; p++)
        if (marks[p])
            for (int64_t multiple = p * p; multiple < n; multiple += p)
                marks[multiple] = 0;
    int32_t *primes = *result;
    int64_t count = 0;
    for (int32_t k = 2; k < n; k++)
        if (marks[k])
            primes[count++] = k;
    *len = count;
    free(marks);
    return 0;
}
