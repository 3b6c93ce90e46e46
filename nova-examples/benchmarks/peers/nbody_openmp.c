/* Accelerations of bodies with OpenMP: as many targets as one thread does together make a chunk. */
#include "nbody.c"
#include "openmp.h"

int peer_nbody_openmp(int64_t *result_len, triple **result, int64_t bodies_len, const body *bodies,
                      float eps2)
{
    int code = result_vector(result_len, (void **)result, bodies_len, sizeof **result);
    if (code != 0)
        return code;
    triple *out = *result;
    chunks all = cut(bodies_len, TARGETS * LANES, TARGETS * LANES);
#pragma omp parallel for schedule(dynamic) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        int64_t end = chunk_begin(all, c + 1);
        for (int64_t i = chunk_begin(all, c); i < end; i += TARGETS * LANES)
            accelerate(out, i, bodies, bodies_len, eps2);
    }
    return 0;
}
