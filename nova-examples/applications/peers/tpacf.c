/* Counts of the angles between two sets of directions. Limited by arithmetic: up to 31 bounds stay
 * in registers of AVX-512, where a vector of cosines looks up its bins in five steps of a search,
 * without a branch, and counters count two pairs at once; without AVX-512 all are compared with
 * each bound. For more bounds a table tells the bin from the leading bits of a number's distance to
 * 1, but for the bounds next to it. Threads have counters of their own. */
#include "../../benchmarks/peers/peer.h"
#include "tpacf.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* Directions of the second set that are taken together. */
    TILE = 512,
    /* Bounds that stay in registers, and the bits of a bin's number. */
    FEW = 31,
    BITS = 5,
    /* Copies of counters, so that one does not wait for the last one. */
    COPIES = 4,
    /* The cells of the table: so many leading bits of a fraction, from so small an exponent on. */
    FRACTION = 5,
    LEAST_EXPONENT = 1023 - 56,
    CELLS = 60 << FRACTION,
};

typedef nova_tuple3_double_double_double direction;

/* The second set, coordinate by coordinate, up to whole vectors with directions that are 0. */
typedef struct {
    int64_t count, padded;
    double *x, *y, *z;
} directions;

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#ifdef __AVX512F__
/* What is compared in each of five steps: in a step each bit of the place says which way an earlier
 * step went. The place of a bin has its bits in the opposite order. */
typedef struct {
    __m512d first, second[2], third, fourth, fifth[2];
} bounds;

static bounds bounds_of(const double *cosines, int64_t count)
{
    double all[1 << BITS], steps[BITS][16] = {{0}};
    for (int k = 0; k < 1 << BITS; k++)
        all[k] = k < count ? cosines[k] : -HUGE_VAL;
    for (int step = 0; step < BITS; step++)
        for (int place = 0; place < 1 << step; place++) {
            int bin = 0;
            for (int k = 0; k < step; k++)
                bin += (place >> k & 1) << (BITS - 1 - k);
            steps[step][place] = all[bin + (1 << (BITS - 1 - step)) - 1];
        }
    return (bounds){
        _mm512_set1_pd(steps[0][0]), {_mm512_set1_pd(steps[1][0]), _mm512_set1_pd(steps[1][1])},
        _mm512_loadu_pd(steps[2]),   _mm512_loadu_pd(steps[3]),
        {_mm512_loadu_pd(steps[4]), _mm512_loadu_pd(steps[4] + 8)}};
}

/* The places of the bins of eight cosines. */
static inline __m512i places_of(const bounds *b, __m512d c)
{
    __mmask8 down = _mm512_cmp_pd_mask(c, b->first, _CMP_LT_OQ);
    __m512i place = _mm512_maskz_set1_epi64(down, 1);
    __m512d bound = _mm512_mask_mov_pd(b->second[0], down, b->second[1]);
    down = _mm512_cmp_pd_mask(c, bound, _CMP_LT_OQ);
    place = _mm512_mask_or_epi64(place, down, place, _mm512_set1_epi64(2));
    down = _mm512_cmp_pd_mask(c, _mm512_permutexvar_pd(place, b->third), _CMP_LT_OQ);
    place = _mm512_mask_or_epi64(place, down, place, _mm512_set1_epi64(4));
    down = _mm512_cmp_pd_mask(c, _mm512_permutexvar_pd(place, b->fourth), _CMP_LT_OQ);
    place = _mm512_mask_or_epi64(place, down, place, _mm512_set1_epi64(8));
    bound = _mm512_permutex2var_pd(b->fifth[0], place, b->fifth[1]);
    down = _mm512_cmp_pd_mask(c, bound, _CMP_LT_OQ);
    return _mm512_mask_or_epi64(place, down, place, _mm512_set1_epi64(16));
}

static inline __m512d cosines_of(const directions *d, int64_t i, __m512d x, __m512d y, __m512d z)
{
    __m512d c = _mm512_mul_pd(z, _mm512_loadu_pd(d->z + i));
    c = _mm512_fmadd_pd(y, _mm512_loadu_pd(d->y + i), c);
    return _mm512_fmadd_pd(x, _mm512_loadu_pd(d->x + i), c);
}

/* Counts the pairs of a direction with those of a tile, by the places of two bins: first all
 * places, so that no counter is read before it is known where the last one was written. */
static inline void count_places(uint32_t counters[COPIES][1 << 2 * BITS], const bounds *b,
                                direction of, const directions *d, int64_t begin, int64_t end)
{
    __m512d x = _mm512_set1_pd(of.e0), y = _mm512_set1_pd(of.e1), z = _mm512_set1_pd(of.e2);
    uint32_t places[TILE / 2];
    int64_t count = 0;
    for (int64_t i = begin; i < end; i += 16, count += 8) {
        __m512i low = places_of(b, cosines_of(d, i, x, y, z));
        __m512i high = places_of(b, cosines_of(d, i + 8, x, y, z));
        __m512i both = _mm512_or_si512(low, _mm512_slli_epi64(high, BITS));
        _mm256_storeu_si256((__m256i *)(places + count), _mm512_cvtepi64_epi32(both));
    }
    for (int64_t k = 0; k < count; k += 8)
#pragma GCC unroll 8
        for (int c = 0; c < 8; c++)
            counters[c % COPIES][places[k + c]]++;
}

/* Counts the pairs of so many directions with all of the second set. */
static void count_in_registers(uint32_t *counts, const double *cosines, int64_t bins,
                               const direction *first, int64_t n, const directions *d)
{
    uint32_t counters[COPIES][1 << 2 * BITS] = {{0}};
    bounds b = bounds_of(cosines, bins);
    for (int64_t begin = 0; begin < d->padded; begin += TILE)
        for (int64_t i = 0; i < n; i++)
            count_places(counters, &b, first[i], d, begin, smaller(begin + TILE, d->padded));
    for (int pair = 0; pair < 1 << 2 * BITS; pair++)
        for (int half = 0; half < 2; half++) {
            int place = pair >> (half * BITS), bin = 0;
            for (int k = 0; k < BITS; k++)
                bin += (place >> k & 1) << (BITS - 1 - k);
            for (int copy = 0; copy < COPIES; copy++)
                if (counters[copy][pair] != 0)
                    counts[bin] += counters[copy][pair];
        }
}
#endif

/* For each cell how many bounds are surely above all of its numbers; and the most bounds of a cell,
 * which a number there is compared with. */
typedef struct {
    int32_t bins[CELLS];
    int steps;
    double *bounds;
} cells;

/* The cell of a cosine, by its distance to 1. */
static inline int32_t cell_of(double c)
{
    double distance = 1 - c;
    int64_t bits;
    distance = distance > 0x1p-56 ? distance < 8 ? distance : 8 : 0x1p-56;
    memcpy(&bits, &distance, sizeof bits);
    return (int32_t)((bits >> (52 - FRACTION)) - ((int64_t)LEAST_EXPONENT << FRACTION));
}

static void make_cells(cells *t, const double *cosines, int64_t bins)
{
    int32_t sum = 0;
    memset(t->bins, 0, sizeof t->bins);
    for (int64_t k = 0; k < bins; k++) {
        t->bins[cell_of(cosines[k])]++;
        t->bounds[k] = cosines[k];
    }
    t->bounds[bins] = -HUGE_VAL;
    t->steps = 0;
    for (int k = 0; k < CELLS; k++) {
        int32_t own = t->bins[k];
        t->steps = own > t->steps ? own : t->steps;
        t->bins[k] = sum;
        sum += own;
    }
}

/* Counts n cosines by comparing all of them with each bound, four bounds at a time: what is below a
 * bound is not in its bin, but in a later one. */
static void compare(uint32_t *counts, const cells *t, int64_t bins, const double *cosines,
                    int64_t n)
{
    counts[0] += (uint32_t)n;
    for (int64_t k = 0; k < bins; k += 4) {
        const double *bounds = t->bounds;
        double a = bounds[k], b = bounds[smaller(k + 1, bins)];
        double c = bounds[smaller(k + 2, bins)], d = bounds[smaller(k + 3, bins)];
        int64_t below[4] = {0};
        for (int64_t i = 0; i < n; i++) {
            below[0] += cosines[i] < a;
            below[1] += cosines[i] < b;
            below[2] += cosines[i] < c;
            below[3] += cosines[i] < d;
        }
        for (int64_t j = 0; j < 4 && k + j < bins; j++) {
            counts[k + j] -= (uint32_t)below[j];
            counts[k + j + 1] += (uint32_t)below[j];
        }
    }
}

/* Counts the pairs of a direction with n of the second set, from `begin` on. */
static inline void count_tile(uint32_t *counts, int64_t bins, const cells *t, direction of,
                              const directions *d, int64_t begin, int64_t n)
{
    double cosines[TILE];
    int32_t places[TILE];
    const double *x = d->x + begin, *y = d->y + begin, *z = d->z + begin;
    for (int64_t i = 0; i < n; i++)
        cosines[i] = of.e0 * x[i] + (of.e1 * y[i] + of.e2 * z[i]);
    if (bins <= FEW) {
        compare(counts, t, bins, cosines, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        places[i] = cell_of(cosines[i]);
    for (int64_t i = 0; i < n; i++) {
        int32_t bin = t->bins[places[i]];
        for (int s = 0; s < t->steps; s++)
            bin += cosines[i] < t->bounds[bin];
        places[i] = bin;
    }
    for (int64_t i = 0; i < n; i++)
        counts[i % COPIES * (bins + 1) + places[i]]++;
}

/* Counts the pairs of so many directions with all of the second set, in COPIES rows of counts. */
static void count_by_cells(uint32_t *counts, int64_t bins, const cells *t, const direction *first,
                           int64_t n, const directions *d)
{
    for (int64_t begin = 0; begin < d->padded; begin += TILE)
        for (int64_t i = 0; i < n; i++)
            count_tile(counts, bins, t, first[i], d, begin, smaller(TILE, d->padded - begin));
}

/* Fills in the second set. */
static void fill(directions *d, const direction *from)
{
    for (int64_t i = 0; i < d->padded; i++) {
        direction y = i < d->count ? from[i] : (direction){0, 0, 0};
        d->x[i] = y.e0, d->y[i] = y.e1, d->z[i] = y.e2;
    }
}

/* Counts all pairs, in parts of the first set. A part has COPIES rows of counts, all 0. */
static void count_all(uint32_t *counts, const double *cosines, int64_t bins, const cells *t,
                      const direction *first, int64_t n, const directions *d, int64_t parts)
{
    (void)cosines;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++) {
        int64_t begin = n * p / parts, end = n * (p + 1) / parts;
        uint32_t *own = counts + p * COPIES * (bins + 1);
#ifdef __AVX512F__
        if (bins <= FEW) {
            count_in_registers(own, cosines, bins, first + begin, end - begin, d);
            continue;
        }
#endif
        count_by_cells(own, bins, t, first + begin, end - begin, d);
    }
}

int peer_tpacf(int64_t *result_len, int32_t **result, int64_t cosines_len, const double *cosines,
               int64_t X_len, const direction *X, int64_t Y_len, const direction *Y)
{
    int64_t bins = cosines_len, parts = 1;
#ifdef _OPENMP
    parts = smaller(omp_get_max_threads(), X_len * Y_len / 65536 + 1);
#endif
    directions d = {.count = Y_len, .padded = (Y_len + 15) & -(int64_t)16};
    int64_t rows = parts * COPIES, numbers = 3 * d.padded + bins + 1;
    double *memory = malloc((size_t)numbers * sizeof *memory);
    uint32_t *counts = calloc((size_t)(rows * (bins + 1)), sizeof *counts);
    cells *t = malloc(sizeof *t);
    int code = memory == NULL || counts == NULL || t == NULL ? 2 : 0;
    if (code == 0)
        code = result_vector(result_len, (void **)result, bins + 1, sizeof **result);
    if (code == 0) {
        d.x = memory, d.y = memory + d.padded, d.z = memory + 2 * d.padded;
        t->bounds = memory + 3 * d.padded;
        fill(&d, Y);
        make_cells(t, cosines, bins);
        count_all(counts, cosines, bins, t, X, X_len, &d, parts);
        int64_t of_nothing = 0;
        while (of_nothing < bins && 0 < cosines[of_nothing])
            of_nothing++;
        counts[of_nothing] -= (uint32_t)(X_len * (d.padded - d.count));
        for (int64_t k = 0; k <= bins; k++) {
            uint32_t sum = 0;
            for (int64_t r = 0; r < rows; r++)
                sum += counts[r * (bins + 1) + k];
            (*result)[k] = (int32_t)sum;
        }
    }
    free(t);
    free(counts);
    free(memory);
    return code;
}
