/* Clusters by k-means. Limited by the bandwidth of reading points, which are kept in blocks with
 * the same coordinate of neighbouring points in a vector. As in Hamerly's algorithm, each point has
 * bounds of its distances to its own and the second nearest centre, and blocks are not read while
 * these show that no point can move. Sums of clusters are corrected by the points that do. */
#include "../../benchmarks/peers/peer.h"
#include "kmeans.h"
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
#else
    WIDTH = 8,
#endif
    VECTORS = 2,
    /* Points of a block, and centres whose distances are computed at once. */
    POINTS = VECTORS * WIDTH,
    CENTRES = 4,
    /* Products of points, centres, and coordinates that are worth a second thread. */
    WORTHWHILE = 1 << 16,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));
/* Squares of distances, or something else of the points of a block. */
typedef vec of_points[VECTORS];
typedef nova_tuple2_vector2_float_vector_int clusters;

typedef struct {
    int64_t n, d, k;
    const float *points;
    float *centres;
    int32_t *members;
    /* Blocks of points, and bounds of the distances to the own centre, and to all others. */
    float *blocks, *upper, *lower;
    /* How far each centre moved last, half its distance to the nearest other one, and how far the
     * centres other than it moved at most; then the same for points that are too far from all. */
    float *moved, *half_gaps, *others_moved;
    /* Sums and sizes of clusters, then for each thread what changes. */
    double *sums, *sizes;
} problem;

static inline vec get(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void put(float *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

static inline vec choose(ints condition, vec a, vec b)
{
    return (vec)((condition & (ints)a) | (~condition & (ints)b));
}

/* The squares of the distances of a block to some centres. */
static inline __attribute__((always_inline)) void
distances(of_points *squares, const float *block, const float *centres, int64_t d, int count)
{
    of_points acc[CENTRES];
#pragma GCC unroll 4
    for (int c = 0; c < count; c++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            acc[c][v] = (vec){0};
    for (int64_t j = 0; j < d; j++, block += POINTS)
#pragma GCC unroll 4
        for (int c = 0; c < count; c++)
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++) {
                vec x = get(block + v * WIDTH) - centres[c * d + j];
                acc[c][v] += x * x;
            }
#pragma GCC unroll 4
    for (int c = 0; c < count; c++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            squares[c][v] = acc[c][v];
}

static void some_distances(of_points *squares, const float *block, const float *centres, int64_t d,
                           int64_t count)
{
    if (count == 4)
        distances(squares, block, centres, d, 4);
    else if (count == 3)
        distances(squares, block, centres, d, 3);
    else if (count == 2)
        distances(squares, block, centres, d, 2);
    else
        distances(squares, block, centres, d, 1);
}

/* Finds the nearest centres of a block's points, and brings their bounds up to date. */
static void find_nearest(const problem *p, int64_t block, int32_t *nearest)
{
    of_points squares[CENTRES], best, second;
    ints which[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        best[v] = second[v] = (vec){0} + 1e30f;
        which[v] = (ints){0} + (int32_t)p->k;
    }
    /* Groups of nearly the same size. */
    int64_t groups = (p->k + CENTRES - 1) / CENTRES;
    for (int64_t g = 0; g < groups; g++) {
        int64_t begin = p->k * g / groups, end = p->k * (g + 1) / groups;
        some_distances(squares, p->blocks + block * POINTS * p->d, p->centres + begin * p->d, p->d,
                       end - begin);
        for (int64_t c = begin; c < end; c++)
            for (int v = 0; v < VECTORS; v++) {
                vec square = squares[c - begin][v];
                ints less = square < best[v], among = square < second[v];
                second[v] = choose(less, best[v], choose(among, square, second[v]));
                best[v] = choose(less, square, best[v]);
                which[v] = (less & (int32_t)c) | (~less & which[v]);
            }
    }
    float *upper = p->upper + block * POINTS, *lower = p->lower + block * POINTS;
    for (int v = 0; v < VECTORS; v++) {
        put(upper + v * WIDTH, best[v]);
        put(lower + v * WIDTH, second[v]);
        memcpy(nearest + v * WIDTH, &which[v], sizeof which[v]);
    }
    for (int i = 0; i < POINTS; i++)
        upper[i] = sqrtf(upper[i]), lower[i] = sqrtf(lower[i]);
}

/* Corrects the bounds of a block after centres moved; returns whether a point may have another
 * nearest centre, with some room for rounding. */
static int may_change(const problem *p, int64_t block)
{
    float *upper = p->upper + block * POINTS, *lower = p->lower + block * POINTS;
    const int32_t *members = p->members + block * POINTS;
    float room = 1 + (float)(p->d + 16) * 4e-7f;
    int64_t count = p->n - block * POINTS < POINTS ? p->n - block * POINTS : POINTS;
    int change = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t own = members[i];
        upper[i] += p->moved[own];
        lower[i] -= p->others_moved[own];
        float bound = lower[i] > p->half_gaps[own] ? lower[i] : p->half_gaps[own];
        change |= upper[i] * room >= bound;
    }
    return change;
}

/* Adds a point to a cluster, or takes it away. */
static inline void change_sums(const problem *p, double *sums, int64_t point, int64_t cluster,
                               double sign)
{
    const float *x = p->points + point * p->d;
    double *restrict sum = sums + cluster * p->d;
    for (int64_t j = 0; j < p->d; j++)
        sum[j] += sign * x[j];
}

/* Moves the points of a block; returns how many did. */
static int64_t move_points(const problem *p, int64_t block, double *sums, double *sizes)
{
    int32_t nearest[POINTS];
    find_nearest(p, block, nearest);
    int64_t first = block * POINTS, moved = 0;
    for (int64_t i = 0; i < POINTS && first + i < p->n; i++) {
        int32_t old = p->members[first + i], new = nearest[i];
        if (old == new)
            continue;
        moved++;
        p->members[first + i] = new;
        if (old >= 0) {
            change_sums(p, sums, first + i, old, -1);
            sizes[old]--;
        }
        if (new < p->k) {
            change_sums(p, sums, first + i, new, 1);
            sizes[new]++;
        }
    }
    return moved;
}

/* Moves centres to the means of their points. */
static void move_centres(const problem *p)
{
    for (int64_t c = 0; c < p->k; c++) {
        float *centre = p->centres + c * p->d;
        double square = 0;
        for (int64_t j = 0; j < p->d && p->sizes[c] > 0; j++) {
            float mean = (float)(p->sums[c * p->d + j] / p->sizes[c]);
            square += (double)(mean - centre[j]) * (mean - centre[j]);
            centre[j] = mean;
        }
        p->moved[c] = (float)sqrt(square) * 1.000001f;
    }
}

/* What the bounds of distances depend on. */
static void measure_centres(const problem *p)
{
    for (int64_t c = 0; c < p->k; c++) {
        double least = 1e60;
        p->others_moved[c] = 0;
        for (int64_t o = 0; o < p->k; o++) {
            double square = 0;
            if (o == c)
                continue;
            for (int64_t j = 0; j < p->d; j++) {
                double x = (double)p->centres[c * p->d + j] - p->centres[o * p->d + j];
                square += x * x;
            }
            least = square < least ? square : least;
            if (p->moved[o] > p->others_moved[c])
                p->others_moved[c] = p->moved[o];
        }
        p->half_gaps[c] = (float)(0.499999 * sqrt(least));
    }
    p->moved[p->k] = 1e30f;
    p->half_gaps[p->k] = p->others_moved[p->k] = 0;
}

/* Adds the changes of a team of threads to sums and sizes, and clears them. */
static void gather_changes(const problem *p, int64_t threads)
{
    int64_t numbers = p->k * p->d + p->k;
    for (int64_t t = 1; t <= threads; t++)
        for (int64_t j = 0; j < numbers; j++) {
            p->sums[j] += p->sums[t * numbers + j];
            p->sums[t * numbers + j] = 0;
        }
}

/* All rounds, by thread `me` of a team; `moved` is shared. */
static void cluster(const problem *p, int32_t rounds, int64_t *moved, int64_t me, int64_t threads)
{
    int64_t blocks = (p->n + POINTS - 1) / POINTS, numbers = p->k * p->d + p->k;
    double *sums = p->sums + (me + 1) * numbers, *sizes = sums + p->k * p->d;
    for (int32_t round = 0; round < rounds; round++) {
        int64_t here = 0;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++)
            if (round == 0 || may_change(p, b))
                here += move_points(p, b, sums, sizes);
#pragma omp atomic
        moved[round % 2] += here;
#pragma omp barrier
        int64_t all = moved[round % 2];
#pragma omp barrier
#pragma omp single
        {
            moved[round % 2] = 0;
            gather_changes(p, threads);
            move_centres(p);
            measure_centres(p);
        }
        if (all == 0)
            break;
    }
}

/* Packs a block of points, four of them and four coordinates at a time. */
static void pack(const problem *p, int64_t block)
{
    float *to = p->blocks + block * POINTS * p->d;
    for (int64_t i = 0; i < POINTS; i += 4) {
        int64_t first = block * POINTS + i, j = 0;
        const float *from = p->points + first * p->d;
#ifdef __SSE2__
        for (; first + 4 <= p->n && j + 4 <= p->d; j += 4) {
            __m128 a = _mm_loadu_ps(from + j), b = _mm_loadu_ps(from + p->d + j);
            __m128 c = _mm_loadu_ps(from + 2 * p->d + j), d = _mm_loadu_ps(from + 3 * p->d + j);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to + j * POINTS + i, a);
            _mm_storeu_ps(to + (j + 1) * POINTS + i, b);
            _mm_storeu_ps(to + (j + 2) * POINTS + i, c);
            _mm_storeu_ps(to + (j + 3) * POINTS + i, d);
        }
#endif
        for (; j < p->d; j++)
            for (int64_t k = 0; k < 4; k++)
                to[j * POINTS + i + k] = first + k < p->n ? from[k * p->d + j] : 0;
    }
}

/* Finds clusters in the memory that is there for them. */
static int find_clusters(problem *p, int32_t rounds)
{
    int64_t blocks = (p->n + POINTS - 1) / POINTS, numbers = p->k * p->d + p->k;
    int64_t threads = 1, moved[2] = {0, 0};
#ifdef _OPENMP
    threads = p->n * p->d * p->k < WORTHWHILE ? 1 : omp_get_max_threads();
#endif
    size_t floats = (size_t)(blocks * POINTS * (p->d + 2) + 3 * (p->k + 1));
    p->blocks = aligned_alloc(64, (floats * sizeof(float) + 64) & ~(size_t)63);
    p->sums = calloc((size_t)((threads + 1) * numbers + 1), sizeof *p->sums);
    if (p->blocks == NULL || p->sums == NULL) {
        free(p->blocks), free(p->sums);
        return 2;
    }
    p->upper = p->blocks + blocks * POINTS * p->d;
    p->lower = p->upper + blocks * POINTS;
    p->moved = p->lower + blocks * POINTS;
    p->half_gaps = p->moved + p->k + 1;
    p->others_moved = p->half_gaps + p->k + 1;
    p->sizes = p->sums + p->k * p->d;
#pragma omp parallel num_threads((int)threads)
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++)
            pack(p, b);
#ifdef _OPENMP
        cluster(p, rounds, moved, omp_get_thread_num(), omp_get_num_threads());
#else
        cluster(p, rounds, moved, 0, 1);
#endif
    }
    free(p->blocks), free(p->sums);
    return 0;
}

int peer_kmeans(clusters *result, int32_t rounds, int64_t points_dim0, int64_t points_dim1,
                const float *points, int64_t start_dim0, int64_t start_dim1, const float *start)
{
    problem p = {.n = points_dim0, .d = points_dim1, .k = start_dim0, .points = points};
    int64_t room = 0;
    result_vector(&room, (void **)&p.centres, start_dim0 * start_dim1, sizeof(float));
    result_vector(&room, (void **)&p.members, p.n, sizeof(int32_t));
    int code = p.centres == NULL || p.members == NULL ? 2 : 0;
    if (code == 0) {
        memcpy(p.centres, start, (size_t)(start_dim0 * start_dim1) * sizeof *start);
        for (int64_t i = 0; i < p.n; i++)
            p.members[i] = -1;
        if (rounds > 0)
            code = find_clusters(&p, rounds);
    }
    if (code != 0) {
        free(p.centres), free(p.members);
        return code;
    }
    result->e0.dim0 = start_dim0, result->e0.dim1 = start_dim1;
    result->e0.data = p.centres;
    result->e1.len = p.n;
    result->e1.data = p.members;
    return 0;
}
