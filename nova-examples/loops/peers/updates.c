/* A walk that changes one element in each step, in the result's memory. Each step waits for the
 * element that the last one found. */
#include "../../benchmarks/peers/peer.h"

int peer_updates(int64_t *len, int32_t **result, int32_t n, int64_t X_len, const int32_t *X)
{
    if (X_len == 0 && n > 0)
        return 1;
    int32_t *state = *result;
    if (X_len > 0)
        memcpy(state, X, (size_t)X_len * sizeof *state);
    int32_t at = 0;
    for (int32_t step = 0; step < n; step++) {
        int32_t value = state[at] + 1;
        state[at] = value;
        at = (int32_t)((uint32_t)(at + value) % (uint32_t)X_len);
    }
    *len = X_len;
    return 0;
}
