/* The game of life on a torus, from one world into another and back: rows are read at three shifts,
 * which compilers make vectors of bytes; the first and the last column are apart. */
#include "../../benchmarks/peers/peer.h"

static inline uint8_t alive(int around, uint8_t now)
{
    return around == 3 || (around == 2 && now == 1);
}

static void next_row(uint8_t *restrict to, const uint8_t *above, const uint8_t *row,
                     const uint8_t *below, int64_t m)
{
    for (int64_t end = 0; end < 2; end++) {
        int64_t j = end == 0 ? 0 : m - 1, left = j == 0 ? m - 1 : j - 1, right = j == m - 1 ? 0 : j + 1;
        uint8_t around = above[left] + above[j] + above[right] + row[left] + row[right]
            + below[left] + below[j] + below[right];
        to[j] = alive(around, row[j]);
    }
    for (int64_t j = 1; j < m - 1; j++) {
        uint8_t around = above[j - 1] + above[j] + above[j + 1] + row[j - 1] + row[j + 1]
            + below[j - 1] + below[j] + below[j + 1];
        to[j] = (uint8_t)((around == 3) | ((around == 2) & (row[j] == 1)));
    }
}

int peer_life(int64_t *dim0, int64_t *dim1, uint8_t **result, int32_t steps, int64_t n, int64_t m,
              const uint8_t *world)
{
    size_t cells = (size_t)(n * m);
    uint8_t *now = *result, *next = malloc(cells > 0 ? cells : 1);
    if (next == NULL)
        return 2;
    if (cells > 0)
        memcpy(now, world, cells);
    for (int32_t step = 0; step < steps && cells > 0; step++) {
        for (int64_t i = 0; i < n; i++)
            next_row(next + i * m, now + (i == 0 ? n - 1 : i - 1) * m, now + i * m,
                     now + (i == n - 1 ? 0 : i + 1) * m, m);
        uint8_t *other = now;
        now = next;
        next = other;
    }
    if (now != *result) {
        memcpy(*result, now, cells);
        next = now;
    }
    free(next);
    *dim0 = n;
    *dim1 = m;
    return 0;
}
