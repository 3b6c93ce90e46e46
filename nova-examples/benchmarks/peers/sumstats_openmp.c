/* Extremes and moments with OpenMP: those of chunks, joined by each thread, then all. */
#pragma GCC optimize("no-finite-math-only")
#include "sumstats.c"
#include "openmp.h"

#pragma omp declare reduction(summaries:summary : join(&omp_out, &omp_in)) \
    initializer(omp_priv = of_nothing())

int peer_sumstats_openmp(statistics *result, int64_t X_len, const float *X)
{
    chunks all = cut(X_len, CHEAP / 4, PAGE);
    summary whole = of_nothing();
#pragma omp parallel for schedule(dynamic) reduction(summaries : whole) if (all.count > 1)
    for (int64_t c = 0; c < all.count; c++) {
        summary part = summarise(X + chunk_begin(all, c), chunk_length(all, c));
        join(&whole, &part);
    }
    *result = statistics_of(&whole);
    return 0;
}
