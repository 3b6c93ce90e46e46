/* Accelerations of bodies by all bodies. Limited by arithmetic: seventeen vector operations for
 * sixteen pairs, one of them an estimated reciprocal square root. Sixty-four bodies at a time stay
 * in registers while the sources are broadcast from the first-level cache; sums of 256 sources are
 * added to the totals, so that rounding errors stay small for any number of bodies. */
#include "peer.h"

enum { TARGETS = 4, PART = 256 };

typedef struct {
    float x, y, z, mass;
} body;

typedef struct {
    float x, y, z;
} triple;

/* What `count` sources do to the bodies at p, added to the sums. */
static inline void add_sources(lanes sums[3][TARGETS], lanes p[3][TARGETS], const body *sources,
                               int64_t count, float eps2)
{
    lanes ax[TARGETS] = {{0}}, ay[TARGETS] = {{0}}, az[TARGETS] = {{0}};
    for (int64_t j = 0; j < count; j++) {
        body q = sources[j];
#pragma GCC unroll 4
        for (int k = 0; k < TARGETS; k++) {
            lanes x = q.x - p[0][k], y = q.y - p[1][k], z = q.z - p[2][k];
            lanes inverse = lanes_rsqrt(x * x + (y * y + (z * z + eps2)));
            lanes scale = (q.mass * inverse) * (inverse * inverse);
            ax[k] += x * scale;
            ay[k] += y * scale;
            az[k] += z * scale;
        }
    }
    for (int k = 0; k < TARGETS; k++) {
        sums[0][k] += ax[k];
        sums[1][k] += ay[k];
        sums[2][k] += az[k];
    }
}

/* Writes the accelerations of the bodies from i on, as many as are done together. */
static void accelerate(triple *out, int64_t i, const body *bodies, int64_t n, float eps2)
{
    lanes p[3][TARGETS], sums[3][TARGETS] = {{{0}}};
    for (int k = 0; k < TARGETS * LANES; k++) {
        body b = bodies[i + k < n ? i + k : n - 1];
        p[0][k / LANES][k % LANES] = b.x;
        p[1][k / LANES][k % LANES] = b.y;
        p[2][k / LANES][k % LANES] = b.z;
    }
    for (int64_t j = 0; j < n; j += PART)
        add_sources(sums, p, bodies + j, n - j < PART ? n - j : PART, eps2);
    for (int k = 0; k < TARGETS * LANES && i + k < n; k++)
        out[i + k] = (triple){sums[0][k / LANES][k % LANES], sums[1][k / LANES][k % LANES],
                              sums[2][k / LANES][k % LANES]};
}

int peer_nbody(int64_t *result_len, triple **result, int64_t bodies_len, const body *bodies,
               float eps2)
{
    int code = result_vector(result_len, (void **)result, bodies_len, sizeof **result);
    if (code != 0)
        return code;
    for (int64_t i = 0; i < bodies_len; i += TARGETS * LANES)
        accelerate(*result, i, bodies, bodies_len, eps2);
    return 0;
}
