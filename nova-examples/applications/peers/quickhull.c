/* The convex hull of points in the plane. Limited by the bandwidth of reading the points once, if
 * most of them are inside: those within an octagon of extreme points of a sample are left out at
 * once. The others are split by quickhull, in full vectors that are compressed to what is outside
 * of either new side, with the farthest points found on the way; threads take sides. Operations are
 * rounded as they are written, since a corner must have no area with itself. */
#pragma GCC optimize("fp-contract=off", "no-associative-math")
#include "../../benchmarks/peers/peer.h"
#include "quickhull.h"
#include <float.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#elif defined(__AVX2__)
    WIDTH = 4,
#else
    WIDTH = 1,
#endif
    EDGES = 8,
    /* Points of a sample, and of a part that shows whether it pays to leave out points. */
    SAMPLE = 2048,
    PART = 8192,
    /* Points of a side that is worth a thread. */
    WORTH = 8192,
};

typedef nova_tuple2_double_double point;

/* Points, coordinate by coordinate. */
typedef struct {
    double *x, *y;
} points;

/* From a point on, in a direction: points on its left have a positive area with it. */
typedef struct {
    double x, y, dx, dy;
} line;

/* A point outside of a line, the farthest one so far, and its area. */
typedef struct {
    double area, x, y;
} corner;

static inline points from(points p, int64_t i)
{
    return (points){p.x + i, p.y + i};
}

static inline line line_of(point a, point b)
{
    return (line){a.e0, a.e1, b.e0 - a.e0, b.e1 - a.e1};
}

static inline int before(double ax, double ay, double bx, double by)
{
    return ax < bx || (ax == bx && ay < by);
}

/* Keeps the farther one of two points, or the first one by coordinates. */
static inline void keep_farther(corner *c, double area, double x, double y)
{
    if (area > c->area || (area == c->area && before(x, y, c->x, c->y)))
        *c = (corner){area, x, y};
}

/* The points outside of a line, how many, and the farthest one. */
typedef struct {
    points of;
    int64_t count;
    corner farthest;
} outside;

static inline double area_of(line l, double x, double y)
{
    return l.dx * (y - l.y) - l.dy * (x - l.x);
}

static inline void take_point(outside *side, double area, double x, double y)
{
    side->of.x[side->count] = x, side->of.y[side->count] = y;
    side->count++;
    keep_farther(&side->farthest, area, x, y);
}

#ifdef __AVX2__
typedef double vec __attribute__((vector_size(8 * WIDTH)));

static inline vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Bits for the lanes where a is larger, and where both are equal. */
static inline unsigned where_larger(vec a, vec b)
{
#ifdef __AVX512F__
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
#else
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GT_OQ));
#endif
}

static inline unsigned where_equal(vec a, vec b)
{
#ifdef __AVX512F__
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
#else
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_EQ_OQ));
#endif
}

#ifndef __AVX512F__
/* For each set of four lanes, the halves of those lanes, packed. */
static const int32_t packed[16][8] = {
    {0},
    {0, 1},
    {2, 3},
    {0, 1, 2, 3},
    {4, 5},
    {0, 1, 4, 5},
    {2, 3, 4, 5},
    {0, 1, 2, 3, 4, 5},
    {6, 7},
    {0, 1, 6, 7},
    {2, 3, 6, 7},
    {0, 1, 2, 3, 6, 7},
    {4, 5, 6, 7},
    {0, 1, 4, 5, 6, 7},
    {2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
};

/* All bits of the lanes that are set. */
static inline __m256d lanes_of(unsigned set)
{
    __m256i bits = _mm256_set_epi64x(8, 4, 2, 1);
    __m256i own = _mm256_and_si256(_mm256_set1_epi64x((long long)set), bits);
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(own, bits));
}
#endif

/* Stores the lanes that are set one behind the other, and something behind them. */
static inline void store_packed(double *to, vec v, unsigned set)
{
#ifdef __AVX512F__
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd((__mmask8)set, (__m512d)v));
#else
    __m256i order = _mm256_loadu_si256((const __m256i *)packed[set]);
    __m256i lanes = _mm256_permutevar8x32_epi32((__m256i)v, order);
    _mm256_storeu_si256((__m256i *)to, lanes);
#endif
}

static inline vec choose(unsigned set, vec a, vec b)
{
#ifdef __AVX512F__
    return (vec)_mm512_mask_mov_pd((__m512d)b, (__mmask8)set, (__m512d)a);
#else
    return (vec)_mm256_blendv_pd((__m256d)b, (__m256d)a, lanes_of(set));
#endif
}

/* The farthest points so far, of those in each lane. */
typedef struct {
    vec area, x, y;
} corners;

/* Of lanes with equal areas, keeps the first points by coordinates. */
static __attribute__((noinline)) corners keep_first(corners c, unsigned equal, vec x, vec y)
{
    for (int k = 0; k < WIDTH; k++)
        if (equal >> k & 1 && before(x[k], y[k], c.x[k], c.y[k]))
            c.x[k] = x[k], c.y[k] = y[k];
    return c;
}

/* Takes in the lanes that are set, those outside of a line. */
static inline void take_points(outside *side, corners *c, unsigned set, vec area, vec x, vec y)
{
    store_packed(side->of.x + side->count, x, set);
    store_packed(side->of.y + side->count, y, set);
    side->count += __builtin_popcount(set);
    unsigned equal = where_equal(area, c->area) & set;
    if (__builtin_expect(equal != 0, 0))
        *c = keep_first(*c, equal, x, y);
    unsigned farther = where_larger(area, c->area) & set;
    c->area = choose(farther, area, c->area);
    c->x = choose(farther, x, c->x);
    c->y = choose(farther, y, c->y);
}

/* Splits the points of whole vectors; returns how many. */
static inline int64_t split_vectors(points p, int64_t n, line l, line m, outside *left,
                                    outside *right)
{
    outside a = *left, b = *right;
    corners of_a = {{0}, {0}, {0}}, of_b = of_a;
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        vec x = get(p.x + i), y = get(p.y + i);
        vec area_l = l.dx * (y - l.y) - l.dy * (x - l.x);
        vec area_m = m.dx * (y - m.y) - m.dy * (x - m.x);
        unsigned outside_l = where_larger(area_l, (vec){0});
        unsigned outside_m = where_larger(area_m, (vec){0}) & ~outside_l;
        if (outside_l != 0)
            take_points(&a, &of_a, outside_l, area_l, x, y);
        if (outside_m != 0)
            take_points(&b, &of_b, outside_m, area_m, x, y);
    }
    for (int k = 0; k < WIDTH; k++) {
        if (of_a.area[k] > 0)
            keep_farther(&a.farthest, of_a.area[k], of_a.x[k], of_a.y[k]);
        if (of_b.area[k] > 0)
            keep_farther(&b.farthest, of_b.area[k], of_b.x[k], of_b.y[k]);
    }
    *left = a, *right = b;
    return i;
}
#endif

/* Splits points into those outside of a line, which may stand where the points do, and those
 * outside of another one. */
static void split(points p, int64_t n, line l, line m, outside *left, outside *right)
{
    int64_t i = 0;
#ifdef __AVX2__
    i = split_vectors(p, n, l, m, left, right);
#endif
    for (; i < n; i++) {
        double x = p.x[i], y = p.y[i], area_l = area_of(l, x, y), area_m = area_of(m, x, y);
        if (area_l > 0)
            take_point(left, area_l, x, y);
        else if (area_m > 0)
            take_point(right, area_m, x, y);
    }
}

static int64_t two_sides(point *to, point a, point c, point b, const outside *left,
                         const outside *right, int64_t n);

/* Writes the corners between a and b, in their order: those of the n points of p outside of the
 * line between them, of which c is the farthest one. `spare` has room for as many. Returns their
 * number. */
static int64_t corners_between(point *to, point a, point b, corner farthest, points p, int64_t n,
                               points spare)
{
    if (n == 0)
        return 0;
    point c = {farthest.x, farthest.y};
    outside left = {p, 0, {0, 0, 0}}, right = {spare, 0, {0, 0, 0}};
    split(p, n, line_of(a, c), line_of(c, b), &left, &right);
    return two_sides(to, a, c, b, &left, &right, n);
}

/* Writes the corners between a and c, c, and those between c and b, from the n points outside of
 * both lines. What either has left of its buffer is the other's spare room. */
static int64_t two_sides(point *to, point a, point c, point b, const outside *left,
                         const outside *right, int64_t n)
{
    points spare_of_left = from(right->of, right->count);
    points spare_of_right = from(left->of, left->count);
    int64_t first, second;
    if (n < WORTH) {
        first = corners_between(to, a, c, left->farthest, left->of, left->count, spare_of_left);
        to[first] = c;
        second = corners_between(to + first + 1, c, b, right->farthest, right->of, right->count,
                                 spare_of_right);
        return first + 1 + second;
    }
    point *behind = to + left->count + 1;
#pragma omp task shared(first)
    first = corners_between(to, a, c, left->farthest, left->of, left->count, spare_of_left);
    second = corners_between(behind, c, b, right->farthest, right->of, right->count,
                             spare_of_right);
#pragma omp taskwait
    to[first] = c;
    memmove(to + first + 1, behind, (size_t)second * sizeof *to);
    return first + 1 + second;
}

/* Edges of a polygon, clockwise: a point is surely inside where dx y - dy x is not above the bound
 * of each. There is none where so few points would be inside that it does not pay. */
typedef struct {
    double dx[EDGES], dy[EDGES], bound[EDGES];
    int exists;
} polygon;

/* The polygon of the points of a sample that are farthest in eight directions, without those close
 * enough to an edge for rounding to matter. */
static polygon polygon_of_sample(const point *all, int64_t n)
{
    static const double directions[EDGES][2] = {{-1, 0}, {-1, 1}, {0, 1},  {1, 1},
                                                {1, 0},  {1, -1}, {0, -1}, {-1, -1}};
    point tips[EDGES];
    double farthest[EDGES], most = 0;
    for (int64_t s = 0; s < SAMPLE; s++) {
        point p = all[n * s / SAMPLE];
        for (int d = 0; d < EDGES; d++) {
            double far = directions[d][0] * p.e0 + directions[d][1] * p.e1;
            if (s == 0 || far > farthest[d])
                farthest[d] = far, tips[d] = p;
        }
        most = fmax(most, fmax(fabs(p.e0), fabs(p.e1)));
    }
    polygon g;
    int edges = 0;
    for (int d = 0; d < EDGES; d++) {
        point a = tips[d], b = tips[(d + 1) % EDGES];
        double dx = b.e0 - a.e0, dy = b.e1 - a.e1;
        if (dx != 0 || dy != 0) {
            g.dx[edges] = dx, g.dy[edges] = dy;
            g.bound[edges++] = dx * a.e1 - dy * a.e0 - 1e-12 * most * (fabs(dx) + fabs(dy));
        }
    }
    g.exists = edges >= 3;
    for (int d = edges; d < EDGES && g.exists; d++)
        g.dx[d] = g.dx[0], g.dy[d] = g.dy[0], g.bound[d] = g.bound[0];
    return g;
}

static inline int surely_inside(const polygon *g, double x, double y)
{
    int inside = g->exists;
    for (int d = 0; d < EDGES && inside; d++)
        inside = g->dx[d] * y - g->dy[d] * x <= g->bound[d];
    return inside;
}

#ifdef __AVX2__
/* a b - c, rounded once. */
static inline vec fused_area(double a, vec b, vec c)
{
#ifdef __AVX512F__
    return (vec)_mm512_fmsub_pd(_mm512_set1_pd(a), (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (vec)_mm256_fmsub_pd(_mm256_set1_pd(a), (__m256d)b, (__m256d)c);
#else
    return a * b - c;
#endif
}

/* Takes the points of whole vectors that may be on the hull; returns how many it looked at. */
static inline int64_t take_vectors(points to, int64_t *count, const point *all, int64_t n,
                                   const polygon *g)
{
    int64_t i = 0, taken = *count;
    for (; i + WIDTH <= n; i += WIDTH) {
        vec a = get(&all[i].e0), b = get(&all[i + WIDTH / 2].e0);
#ifdef __AVX512F__
        vec x = (vec)_mm512_unpacklo_pd((__m512d)a, (__m512d)b);
        vec y = (vec)_mm512_unpackhi_pd((__m512d)a, (__m512d)b);
#else
        vec x = (vec)_mm256_unpacklo_pd((__m256d)a, (__m256d)b);
        vec y = (vec)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
#endif
        unsigned outside_of_any = (1u << WIDTH) - 1;
        if (g->exists) {
            outside_of_any = 0;
#pragma GCC unroll 8
            for (int d = 0; d < EDGES; d++)
                outside_of_any |= where_larger(fused_area(g->dx[d], y, g->dy[d] * x),
                                               g->bound[d] - (vec){0});
        }
        if (outside_of_any != 0) {
            store_packed(to.x + taken, x, outside_of_any);
            store_packed(to.y + taken, y, outside_of_any);
            taken += __builtin_popcount(outside_of_any);
        }
    }
    *count = taken;
    return i;
}
#endif

/* Takes the points that may be on the hull; returns how many. The first part shows whether it pays
 * to look. */
static int64_t take_candidates(points to, const point *all, int64_t n, polygon g)
{
    int64_t count = 0;
    for (int64_t begin = 0; begin < n; begin += PART) {
        int64_t end = begin + PART < n ? begin + PART : n, i = begin;
#ifdef __AVX2__
        i += take_vectors(to, &count, all + begin, end - begin, &g);
#endif
        for (; i < end; i++)
            if (!surely_inside(&g, all[i].e0, all[i].e1)) {
                to.x[count] = all[i].e0, to.y[count] = all[i].e1;
                count++;
            }
        if (count > end / 4 * 3)
            g.exists = 0;
    }
    return count;
}

/* The first and the last of n points, by their coordinates. */
static void ends_of(points p, int64_t n, point *first, point *last)
{
    double low = p.x[0], high = low, lowest, highest;
#pragma omp parallel for simd reduction(min : low) reduction(max : high) if (n > WORTH)
    for (int64_t i = 0; i < n; i++) {
        low = p.x[i] < low ? p.x[i] : low;
        high = p.x[i] > high ? p.x[i] : high;
    }
    lowest = DBL_MAX, highest = -DBL_MAX;
#pragma omp parallel for simd reduction(min : lowest) reduction(max : highest) if (n > WORTH)
    for (int64_t i = 0; i < n; i++) {
        double below = p.x[i] == low ? p.y[i] : DBL_MAX, above = p.x[i] == high ? p.y[i] : -DBL_MAX;
        lowest = below < lowest ? below : lowest;
        highest = above > highest ? above : highest;
    }
    *first = (point){low, lowest}, *last = (point){high, highest};
}

/* Takes the candidates of all points, in as many parts as there are threads, and moves them
 * together. Returns how many there are. */
static int64_t candidates(points to, const point *all, int64_t n)
{
    enum { MOST_PARTS = 256 };
    int64_t counts[MOST_PARTS], parts = 1, count = 0;
#ifdef _OPENMP
    parts = omp_get_max_threads() < MOST_PARTS ? omp_get_max_threads() : MOST_PARTS;
#endif
    polygon g = {.exists = 0};
    if (n > 4 * SAMPLE)
        g = polygon_of_sample(all, n);
#pragma omp parallel for schedule(static) if (n > WORTH)
    for (int64_t t = 0; t < parts; t++) {
        int64_t begin = n * t / parts, end = n * (t + 1) / parts;
        counts[t] = take_candidates(from(to, begin), all + begin, end - begin, g);
    }
    for (int64_t t = 0; t < parts; count += counts[t++]) {
        points part = from(to, n * t / parts);
        memmove(to.x + count, part.x, (size_t)counts[t] * sizeof *part.x);
        memmove(to.y + count, part.y, (size_t)counts[t] * sizeof *part.y);
    }
    return count;
}

/* Writes the hull of n points, one or more, and returns the number of its corners. There is room
 * for as many points in `spare`. */
static int64_t hull_of(point *to, points p, int64_t n, points spare)
{
    point first, last;
    ends_of(p, n, &first, &last);
    to[0] = first;
    if (!before(first.e0, first.e1, last.e0, last.e1))
        return 1;
    int64_t count = 1;
#pragma omp parallel if (n > WORTH)
#pragma omp single
    {
        outside left = {p, 0, {0, 0, 0}}, right = {spare, 0, {0, 0, 0}};
        split(p, n, line_of(first, last), line_of(last, first), &left, &right);
        count += two_sides(to + 1, first, last, first, &left, &right, n);
    }
    return count;
}

int peer_quickhull(int64_t *result_len, point **result, int64_t points_len, const point *all)
{
    if (points_len == 0)
        return result_vector(result_len, (void **)result, 0, sizeof **result);
    double *taken = malloc(2 * (size_t)points_len * sizeof *taken), *room = NULL;
    if (taken == NULL)
        return 2;
    points p = {taken, taken + points_len};
    int64_t n = candidates(p, all, points_len);
    /* Another two numbers for each point, and a corner. */
    room = malloc((4 * (size_t)n + 2) * sizeof *room);
    int code = 2;
    if (room != NULL) {
        point *corners_of_hull = (point *)(room + 2 * n);
        int64_t count = hull_of(corners_of_hull, p, n, (points){room, room + n});
        code = result_vector(result_len, (void **)result, count, sizeof **result);
        if (code == 0)
            memcpy(*result, corners_of_hull, (size_t)count * sizeof **result);
    }
    free(room);
    free(taken);
    return code;
}
