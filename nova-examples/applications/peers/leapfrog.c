/* Bodies that attract each other, over time. Limited by arithmetic: each pair is computed once for
 * both of its bodies, in full vectors, and one over the cube of a distance is an estimate of the
 * processor's, corrected by a series, instead of a root and a division. Columns are taken in tiles
 * that stay in the first-level cache; threads add up accelerations of their own. */
#include "../../benchmarks/peers/peer.h"
#include "leapfrog.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#else
    WIDTH = 4,
#endif
    /* Bodies of a tile. */
    TILE = 256,
    /* Fewer bodies are not worth a second thread. */
    FEW = 192,
};

typedef double vec __attribute__((vector_size(8 * WIDTH)));
typedef nova_tuple3_double_double_double triple;

/* Places and masses, and for each thread accelerations, up to whole vectors of bodies. Bodies that
 * fill the last vector have no mass. */
typedef struct {
    int64_t count, padded;
    double *x, *y, *z, *mass, *pulls;
} bodies;

static inline vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void put(double *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

static inline vec all(double x)
{
    return x - (vec){0};
}

static inline double sum(vec v)
{
    double s = 0;
    for (int k = 0; k < WIDTH; k++)
        s += v[k];
    return s;
}

/* One over the square root, to the power of 3: with an estimate y and e = 1 - a y^2 it is y^3 times
 * (1 - e) to the power of -3/2. */
static inline vec inverse_cube(vec a)
{
#if defined(__AVX512F__)
    vec y = (vec)_mm512_rsqrt14_pd((__m512d)a);
    vec e = 1.0 - (a * y) * y;
    vec series = 1.5 + e * (1.875 + e * (2.1875 + e * 2.4609375));
#elif defined(__AVX2__)
    vec y = (vec)_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps((__m256d)a)));
    vec e = 1.0 - (a * y) * y;
    vec series = 1.5 + e * (1.875 + e * (2.1875 + e * (2.4609375 + e * 2.70703125)));
#else
    vec y, e = {0}, series = {0};
    for (int k = 0; k < WIDTH; k++)
        y[k] = 1.0 / sqrt(a[k]);
#endif
    vec cube = (y * y) * y;
    return cube + cube * (e * series);
}

/* Adds to `pulls` what the bodies from `first` to `last` and those of the rows pull each other, for
 * pairs whose second body is in a later vector than the first, and the rows' pairs within a
 * vector. */
static void tile(const bodies *all_bodies, double *pulls, int64_t begin, int64_t end, int64_t first,
                 int64_t last)
{
    const bodies b = *all_bodies;
    double *restrict ax = pulls, *restrict ay = ax + b.padded, *restrict az = ay + b.padded;
    for (int64_t i = begin; i < end; i++) {
        vec x = all(b.x[i]), y = all(b.y[i]), z = all(b.z[i]), mass = all(b.mass[i]);
        vec sx = {0}, sy = {0}, sz = {0};
        int64_t j = i & -(int64_t)WIDTH;
        int within = j >= first;
        for (j = within ? j : first; j < last; j += WIDTH) {
            vec dx = get(b.x + j) - x, dy = get(b.y + j) - y, dz = get(b.z + j) - z;
            vec w = inverse_cube(dx * dx + (dy * dy + (dz * dz + 1e-4)));
            vec own = w * get(b.mass + j), other = w * mass;
            sx += own * dx, sy += own * dy, sz += own * dz;
            if (within) {
                within = 0;
                continue;
            }
            put(ax + j, get(ax + j) - other * dx);
            put(ay + j, get(ay + j) - other * dy);
            put(az + j, get(az + j) - other * dz);
        }
        ax[i] += sum(sx), ay[i] += sum(sy), az[i] += sum(sz);
    }
}

/* One step of the calling team of `threads`, of which this is number `me`. */
static void step(const bodies *b, int threads, int me, double dt, triple *places,
                 triple *velocities)
{
    int64_t padded = b->padded;
    double *own = b->pulls + 3 * padded * me;
    memset(own, 0, 3 * (size_t)padded * sizeof *own);
#pragma omp for collapse(2) schedule(dynamic)
    for (int64_t first = 0; first < padded; first += TILE)
        for (int64_t begin = 0; begin < padded; begin += TILE)
            if (begin <= first) {
                int64_t last = first + TILE < padded ? first + TILE : padded;
                int64_t end = begin + TILE < b->count ? begin + TILE : b->count;
                tile(b, own, begin, end, first, last);
            }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < b->count; i++) {
        double x = 0, y = 0, z = 0;
        for (int t = 0; t < threads; t++) {
            const double *pulls = b->pulls + 3 * padded * t + i;
            x += pulls[0], y += pulls[padded], z += pulls[2 * padded];
        }
        triple *v = velocities + i, *p = places + i;
        v->e0 += dt * x, v->e1 += dt * y, v->e2 += dt * z;
        p->e0 += dt * v->e0, p->e1 += dt * v->e1, p->e2 += dt * v->e2;
        b->x[i] = p->e0, b->y[i] = p->e1, b->z[i] = p->e2;
    }
}

/* Moves the bodies; 2 where memory is short. */
static int move(int32_t steps, double dt, int64_t count, const double *masses, triple *places,
                triple *velocities)
{
    int64_t padded = (count + WIDTH - 1) & -(int64_t)WIDTH;
    int threads = 1;
#ifdef _OPENMP
    threads = count < FEW ? 1 : omp_get_max_threads();
#endif
    size_t numbers = (size_t)padded * (4 + 3 * (size_t)threads);
    double *memory = aligned_alloc(64, (numbers * sizeof(double) + 64) & ~(size_t)63);
    if (memory == NULL)
        return 2;
    bodies b = {count, padded, memory, memory + padded, memory + 2 * padded, memory + 3 * padded,
                memory + 4 * padded};
    memset(memory, 0, numbers * sizeof(double));
    for (int64_t i = 0; i < count; i++) {
        b.x[i] = places[i].e0, b.y[i] = places[i].e1, b.z[i] = places[i].e2;
        b.mass[i] = masses[i];
    }
#pragma omp parallel num_threads(threads)
    {
        int me = 0, team = 1;
#ifdef _OPENMP
        me = omp_get_thread_num(), team = omp_get_num_threads();
#endif
        for (int32_t s = 0; s < steps; s++)
            step(&b, team, me, dt, places, velocities);
    }
    free(memory);
    return 0;
}

int peer_leapfrog(
    nova_tuple2_vector_tuple3_double_double_double_vector_tuple3_double_double_double *result,
    int32_t steps, double dt, int64_t masses_len, const double *masses, int64_t places_len,
    const triple *places, int64_t velocities_len, const triple *velocities)
{
    (void)masses_len, (void)velocities_len;
    int64_t len = 0;
    triple *p = NULL, *v = NULL;
    int code = result_vector(&len, (void **)&p, places_len, sizeof *p);
    if (code == 0)
        code = result_vector(&len, (void **)&v, places_len, sizeof *v);
    if (code == 0) {
        memcpy(p, places, (size_t)places_len * sizeof *p);
        memcpy(v, velocities, (size_t)places_len * sizeof *v);
        code = move(steps, dt, places_len, masses, p, v);
    }
    if (code != 0) {
        free(p);
        free(v);
        return code;
    }
    result->e0.len = result->e1.len = places_len;
    result->e0.data = p;
    result->e1.data = v;
    return 0;
}
