/* A picture of spheres by rays, with shadows. Limited by arithmetic, in full vectors of pixels: a
 * tile of pixels meets only those spheres that a cone around its rays meets, and its shadows come
 * only from those that a cone around the lamp and what the tile sees meets. Threads take tiles. */
#include "../../benchmarks/peers/peer.h"
#include "spheres.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
#else
    WIDTH = 8,
#endif
    /* A tile is WIDTH columns of so many rows. */
    ROWS = 16,
    /* Spheres that are compared with a cone together. */
    GROUP = 16,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));
typedef nova_tuple3_float_float_float triple;

/* Lanes that something is true of: a bit or a lane of ones for each. */
#ifdef __AVX512F__
typedef __mmask16 mask;

static inline mask below(vec a, vec b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
}

static inline vec choose(mask m, vec a, vec b)
{
    return (vec)_mm512_mask_mov_ps((__m512)b, m, (__m512)a);
}

static inline vec root(vec a)
{
    return (vec)_mm512_sqrt_ps((__m512)a);
}
#else
typedef ivec mask;

static inline mask below(vec a, vec b)
{
    return a < b;
}

static inline vec choose(mask m, vec a, vec b)
{
#ifdef __AVX__
    return (vec)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
#else
    return (vec)((m & (ivec)a) | (~m & (ivec)b));
#endif
}

static inline vec root(vec a)
{
#ifdef __AVX__
    return (vec)_mm256_sqrt_ps((__m256)a);
#else
    for (int k = 0; k < WIDTH; k++)
        a[k] = sqrtf(a[k]);
    return a;
#endif
}
#endif

static inline int any(mask m)
{
#if defined(__AVX512F__)
    return m != 0;
#elif defined(__AVX__)
    return _mm256_movemask_ps((__m256)m) != 0;
#else
    int32_t bits = 0;
    for (int k = 0; k < WIDTH; k++)
        bits |= m[k];
    return bits != 0;
#endif
}

static inline vec all(float x)
{
    return x - (vec){0};
}

/* Three coordinates of each lane. */
typedef struct {
    vec x, y, z;
} places;

static inline vec dot(places a, places b)
{
    return a.x * b.x + (a.y * b.y + a.z * b.z);
}

static inline places unit(places a)
{
    vec scale = 1.0f / root(dot(a, a));
    return (places){scale * a.x, scale * a.y, scale * a.z};
}

/* All spheres as somebody at a point sees them: in what direction, how far away, and with what sine
 * and cosine of half of the angle that they fill. Those that the point is in fill all. */
typedef struct {
    float *x, *y, *z, *distance, *sine, *cosine;
} view;

/* Spheres, up to whole groups of them, and how the eye and the lamp see them. The square of a
 * radius, and what it is more than the square of the distance to the eye. */
typedef struct {
    int64_t count, padded;
    float *x, *y, *z, *radius, *square, *excess;
    view eye, lamp;
} scene;

/* Rays from a point, or through it: close to an axis, and up to some distance. */
typedef struct {
    triple axis;
    float sine, cosine, reach;
    /* Whether rays go on behind the point. */
    int through;
} cone;

static view see(const scene *s, float *room, triple from)
{
    int64_t n = s->padded;
    view v = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n};
    for (int64_t k = 0; k < n; k++) {
        float x = s->x[k] - from.e0, y = s->y[k] - from.e1, z = s->z[k] - from.e2;
        float distance = sqrtf(x * x + y * y + z * z), radius = fabsf(s->radius[k]);
        int within = distance <= radius * 1.0001f;
        float scale = within ? 0 : 1 / distance, sine = within ? 1 : radius * scale;
        v.x[k] = x * scale, v.y[k] = y * scale, v.z[k] = z * scale;
        v.distance[k] = distance - radius;
        v.sine[k] = sine;
        v.cosine[k] = within ? -2 : sqrtf(1 - sine * sine);
    }
    return v;
}

/* Lists the spheres that a cone may meet, in their order, and returns how many. Where cosines are
 * compared, rounding is allowed for. */
static int64_t list_in_cone(int32_t *list, const scene *s, const view *v, cone c)
{
    int64_t count = 0;
    float back = c.through ? -1 : 0;
    for (int64_t begin = 0; begin < s->padded; begin += GROUP) {
        int32_t meets[GROUP], any_meets = 0;
        for (int64_t k = 0; k < GROUP; k++) {
            int64_t i = begin + k;
            float along = c.axis.e0 * v->x[i] + c.axis.e1 * v->y[i] + c.axis.e2 * v->z[i];
            float least = c.cosine * v->cosine[i] - c.sine * v->sine[i] - 1e-5f;
            int32_t ahead = (along >= least) & (v->distance[i] <= c.reach);
            int32_t behind = back * along >= least;
            meets[k] = ahead | behind;
            any_meets |= meets[k];
        }
        if (any_meets == 0)
            continue;
        for (int32_t k = 0; k < GROUP && begin + k < s->count; k++) {
            list[count] = (int32_t)begin + k;
            count += meets[k];
        }
    }
    return count;
}

static inline triple normal_of(float x, float y, float z)
{
    float scale = 1 / sqrtf(x * x + y * y + z * z);
    return (triple){x * scale, y * scale, z * scale};
}

/* What a row of a tile sees: the lanes that see a sphere, where, and the normal there. */
typedef struct {
    places at, normal;
    mask hit;
} sight;

/* The picture, and its rays: columns of the same x, rows of the same y. */
typedef struct {
    const scene *all;
    float *pixels;
    int64_t width, height;
    triple lamp;
} picture;

static inline float x_of(const picture *p, int64_t j)
{
    return ((float)j - (float)(p->width - 1) / 2) / (float)p->width;
}

static inline float y_of(const picture *p, int64_t i)
{
    return ((float)(p->height - 1) / 2 - (float)i) / (float)p->width;
}

/* The cone of the rays of a tile: around its middle, as wide as its corners. */
static cone cone_of_rays(const picture *p, int64_t row, int64_t column)
{
    float x0 = x_of(p, column), x1 = x_of(p, column + WIDTH - 1);
    float y0 = y_of(p, row), y1 = y_of(p, row + ROWS - 1);
    triple axis = normal_of((x0 + x1) / 2, (y0 + y1) / 2, 1);
    float cosine = 1;
    for (int corner = 0; corner < 4; corner++) {
        triple ray = normal_of(corner & 1 ? x0 : x1, corner & 2 ? y0 : y1, 1);
        float along = axis.e0 * ray.e0 + axis.e1 * ray.e1 + axis.e2 * ray.e2;
        cosine = along < cosine ? along : cosine;
    }
    cosine = cosine - 1e-6f;
    return (cone){axis, sqrtf(1 - cosine * cosine), cosine, 3e38f, 0};
}

/* The first of the listed spheres that each ray from the eye meets. */
static inline sight look(const scene *s, const int32_t *list, int64_t count, places ray)
{
    vec far = all(1e30f), best = far;
    places centre = {{0}, {0}, {0}};
    for (int64_t i = 0; i < count; i++) {
        int32_t k = list[i];
        vec along = s->x[k] * ray.x + (s->y[k] * ray.y + s->z[k] * ray.z);
        vec inside = along * along + s->excess[k];
        mask meets = (mask)~below(inside, (vec){0});
        if (!any(meets))
            continue;
        vec near = along - root(inside);
        meets = (mask)(meets & below(all(0.001f), near) & below(near, best));
        best = choose(meets, near, best);
        centre.x = choose(meets, all(s->x[k]), centre.x);
        centre.y = choose(meets, all(s->y[k]), centre.y);
        centre.z = choose(meets, all(s->z[k]), centre.z);
    }
    places at = {best * ray.x, best * ray.y, best * ray.z};
    places out = {at.x - centre.x, at.y - centre.y, at.z - centre.z};
    return (sight){at, unit(out), below(best, far)};
}

/* The lanes whose way to the lamp, or on from there, one of the listed spheres is in. */
static inline mask shadows(const scene *s, const int32_t *list, int64_t count, const sight *seen,
                           places light)
{
    mask dark = below((vec){0}, (vec){0});
    for (int64_t i = 0; i < count; i++) {
        int32_t k = list[i];
        places to = {s->x[k] - seen->at.x, s->y[k] - seen->at.y, s->z[k] - seen->at.z};
        vec along = dot(to, light), inside = s->square[k] - (dot(to, to) - along * along);
        /* The root of `inside` exists, and is smaller by more than 0.001 than `along`. */
        vec beyond = along - 0.001f;
        mask meets = (mask)(~below(inside, (vec){0}) & below((vec){0}, beyond));
        dark |= meets & below(inside, beyond * beyond);
        if (!any((mask)(seen->hit & ~dark)))
            break;
    }
    return dark;
}

/* The cone of the lines through the lamp from what a tile sees: around the middle of the smallest
 * box that has it all. */
static cone cone_of_shadows(triple lamp, const sight *rows, int count)
{
    vec far = all(3e38f);
    places low = {far, far, far}, high = {-far, -far, -far};
    for (int r = 0; r < count; r++) {
        places at = rows[r].at;
        mask hit = rows[r].hit;
        low.x = choose((mask)(hit & below(at.x, low.x)), at.x, low.x);
        low.y = choose((mask)(hit & below(at.y, low.y)), at.y, low.y);
        low.z = choose((mask)(hit & below(at.z, low.z)), at.z, low.z);
        high.x = choose((mask)(hit & below(high.x, at.x)), at.x, high.x);
        high.y = choose((mask)(hit & below(high.y, at.y)), at.y, high.y);
        high.z = choose((mask)(hit & below(high.z, at.z)), at.z, high.z);
    }
    float box[6] = {3e38f, 3e38f, 3e38f, -3e38f, -3e38f, -3e38f};
    for (int k = 0; k < WIDTH; k++) {
        box[0] = fminf(box[0], low.x[k]), box[3] = fmaxf(box[3], high.x[k]);
        box[1] = fminf(box[1], low.y[k]), box[4] = fmaxf(box[4], high.y[k]);
        box[2] = fminf(box[2], low.z[k]), box[5] = fmaxf(box[5], high.z[k]);
    }
    float x = (box[0] + box[3]) / 2 - lamp.e0, y = (box[1] + box[4]) / 2 - lamp.e1;
    float z = (box[2] + box[5]) / 2 - lamp.e2, a = box[3] - box[0], b = box[4] - box[1];
    float c = box[5] - box[2], radius = 0.5001f * sqrtf(a * a + b * b + c * c) + 1e-5f;
    float distance = sqrtf(x * x + y * y + z * z), sine = radius / distance;
    if (!(sine < 0.99f))
        return (cone){{0, 0, 0}, 1, 0, 3e38f, 1};
    float cosine = sqrtf(1 - sine * sine), reach = 1.0001f * (distance + radius);
    return (cone){normal_of(x, y, z), sine, cosine, reach, 1};
}

/* Draws the tile at a row and a column. `list` has room for all spheres. */
static void draw_tile(const picture *p, int32_t *list, int64_t row, int64_t column)
{
    const scene *s = p->all;
    int64_t columns = p->width - column < WIDTH ? p->width - column : WIDTH;
    int rows = p->height - row < ROWS ? (int)(p->height - row) : ROWS, hits = 0;
    int64_t count = list_in_cone(list, s, &s->eye, cone_of_rays(p, row, column));
    sight seen[ROWS];
    vec x;
    for (int k = 0; k < WIDTH; k++)
        x[k] = x_of(p, column + k);
    for (int r = 0; r < rows && count > 0; r++) {
        seen[r] = look(s, list, count, unit((places){x, all(y_of(p, row + r)), all(1)}));
        hits += any(seen[r].hit);
    }
    if (hits > 0)
        count = list_in_cone(list, s, &s->lamp, cone_of_shadows(p->lamp, seen, rows));
    for (int r = 0; r < rows; r++) {
        vec colour = {0};
        if (hits > 0 && any(seen[r].hit)) {
            places at = seen[r].at, to = {p->lamp.e0 - at.x, p->lamp.e1 - at.y, p->lamp.e2 - at.z};
            places light = unit(to);
            vec shade = all(0.1f), bright = dot(seen[r].normal, light);
            mask dark = shadows(s, list, count, &seen[r], light);
            bright = choose((mask)(~dark & below(shade, bright)), bright, shade);
            colour = choose(seen[r].hit, bright, colour);
        }
        memcpy(p->pixels + (row + r) * p->width + column, &colour, (size_t)columns * sizeof(float));
    }
}

/* The spheres, in arrays of their own, as the eye and the lamp see them. */
static void set_scene(scene *s, float *room, const nova_tuple4_float_float_float_float *spheres,
                      triple lamp)
{
    int64_t n = s->padded;
    s->x = room, s->y = room + n, s->z = room + 2 * n, s->radius = room + 3 * n;
    s->square = room + 4 * n, s->excess = room + 5 * n;
    memset(room, 0, 6 * (size_t)n * sizeof *room);
    for (int64_t k = 0; k < s->count; k++) {
        float x = spheres[k].e0, y = spheres[k].e1, z = spheres[k].e2, radius = spheres[k].e3;
        s->x[k] = x, s->y[k] = y, s->z[k] = z;
        s->radius[k] = radius;
        s->square[k] = radius * radius;
        s->excess[k] = radius * radius - (x * x + (y * y + z * z));
    }
    s->eye = see(s, room + 6 * n, (triple){0, 0, 0});
    s->lamp = see(s, room + 12 * n, lamp);
}

int peer_spheres(int64_t *result_dim0, int64_t *result_dim1, float **result, int32_t width,
                 int32_t height, int64_t spheres_len,
                 const nova_tuple4_float_float_float_float *spheres, triple lamp)
{
    int64_t threads = 1, padded = (spheres_len + GROUP - 1) & -(int64_t)GROUP;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    /* Eighteen arrays for the scene, and a list for each thread, with room for one more. */
    size_t numbers = (size_t)(18 * padded + threads * (padded + GROUP));
    float *memory = malloc(numbers * sizeof *memory);
    if (memory == NULL)
        return 2;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, height, width,
                             sizeof **result);
    if (code == 0 && width > 0) {
        scene s = {.count = spheres_len, .padded = padded};
        set_scene(&s, memory, spheres, lamp);
        picture p = {&s, *result, width, height, lamp};
        int32_t *lists = (int32_t *)(memory + 18 * padded);
#pragma omp parallel for collapse(2) schedule(dynamic)
        for (int64_t row = 0; row < height; row += ROWS)
            for (int64_t column = 0; column < width; column += WIDTH) {
                int64_t me = 0;
#ifdef _OPENMP
                me = omp_get_thread_num();
#endif
                draw_tile(&p, lists + me * (padded + GROUP), row, column);
            }
    }
    free(memory);
    return code;
}
