/* The Mandelbrot set as a picture. Limited by arithmetic, nine operations for a step of a vector of
 * pixels: three vectors take turns, so that none waits for the last one's results, and each goes on
 * with the next pixels as soon as all of its own are done. A pixel whose orbit returns to an
 * earlier place exactly never leaves, and is not followed further. Operations are rounded as they
 * are written, since fused ones would give other counts at the border of the set; only twice a
 * product is exact, and is added at once. */
#pragma GCC optimize("fp-contract=off", "no-associative-math")
#include "../../benchmarks/peers/peer.h"

enum {
#ifdef __AVX512F__
    WIDTH = 16,
#else
    WIDTH = 8,
#endif
    /* Vectors that take turns, and steps between two looks at what is done. */
    SLOTS = 3,
    STEPS = 8,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));

/* The pixels that are still inside: a bit or a lane of ones for each. */
#ifdef __AVX512F__
typedef __mmask16 mask;

static inline void count_inside(vec norm, mask *inside, ivec *counts)
{
    *inside = _mm512_mask_cmp_ps_mask(*inside, (__m512)norm, _mm512_set1_ps(4.0f), _CMP_LE_OQ);
    *counts = (ivec)_mm512_mask_add_epi32((__m512i)*counts, *inside, (__m512i)*counts,
                                          _mm512_set1_epi32(1));
}

static inline mask equal(vec a, vec b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ);
}

static inline ivec choose(mask m, ivec a, ivec b)
{
    return (ivec)_mm512_mask_mov_epi32((__m512i)b, m, (__m512i)a);
}

static inline int any(mask m)
{
    return m != 0;
}

static const mask EVERY = 0xffff;
#else
typedef ivec mask;

static inline void count_inside(vec norm, mask *inside, ivec *counts)
{
    *inside &= norm <= 4.0f;
    *counts -= *inside;
}

static inline mask equal(vec a, vec b)
{
    return a == b;
}

static inline ivec choose(mask m, ivec a, ivec b)
{
    return (m & a) | (~m & b);
}

static inline int any(mask m)
{
#ifdef __AVX__
    return _mm256_movemask_ps((__m256)m) != 0;
#else
    int32_t bits = 0;
    for (int k = 0; k < WIDTH; k++)
        bits |= m[k];
    return bits != 0;
#endif
}

static const mask EVERY = {-1, -1, -1, -1, -1, -1, -1, -1};
#endif

/* The picture, and the next row that nobody has taken. */
typedef struct {
    int32_t *pixels;
    int64_t width, height;
    int32_t most;
    float left, top, scale;
    int64_t next_row;
} picture;

/* A vector of pixels: its place and where it is written, how often it was looked at, and its
 * orbits, with an earlier place of each. Without pixels it writes nowhere. */
typedef struct {
    vec x, y, cx, cy, old_x, old_y;
    ivec counts;
    mask inside;
    int32_t *to;
    int64_t pixels, looks;
} slot;

/* Where a thread is in its row. */
typedef struct {
    int64_t row, column;
} cursor;

static inline vec all(float x)
{
    return x - (vec){0};
}

static inline vec add_twice(vec a, vec b)
{
#if defined(__AVX512F__)
    return (vec)_mm512_fmadd_ps(_mm512_set1_ps(2.0f), (__m512)b, (__m512)a);
#elif defined(__FMA__)
    return (vec)_mm256_fmadd_ps(_mm256_set1_ps(2.0f), (__m256)b, (__m256)a);
#else
    return a + (b + b);
#endif
}

/* Takes the steps between two looks. */
static inline void run(slot *slots)
{
    vec x[SLOTS], y[SLOTS];
    ivec counts[SLOTS];
    mask inside[SLOTS];
#pragma GCC unroll 4
    for (int k = 0; k < SLOTS; k++) {
        x[k] = slots[k].x, y[k] = slots[k].y;
        counts[k] = slots[k].counts, inside[k] = slots[k].inside;
    }
    for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 4
        for (int k = 0; k < SLOTS; k++) {
            vec xx = x[k] * x[k], yy = y[k] * y[k], xy = x[k] * y[k];
            count_inside(xx + yy, &inside[k], &counts[k]);
            x[k] = slots[k].cx + (xx - yy);
            y[k] = add_twice(slots[k].cy, xy);
        }
#pragma GCC unroll 4
    for (int k = 0; k < SLOTS; k++) {
        slots[k].x = x[k], slots[k].y = y[k];
        slots[k].counts = counts[k], slots[k].inside = inside[k];
    }
}

/* Gives a slot the next pixels, or none. */
static void refill(slot *s, picture *p, cursor *at)
{
    *s = (slot){.to = NULL};
    if (at->column >= p->width) {
        at->column = 0;
#pragma omp atomic capture
        at->row = p->next_row++;
    }
    if (at->row >= p->height)
        return;
    for (int k = 0; k < WIDTH; k++)
        s->cx[k] = fmaf(p->scale, (float)((int32_t)at->column + k), p->left);
    s->cy = all(fmaf(-p->scale, (float)at->row, p->top));
    s->inside = EVERY;
    s->to = p->pixels + at->row * p->width + at->column;
    s->pixels = p->width - at->column < WIDTH ? p->width - at->column : WIDTH;
    at->column += WIDTH;
}

/* Finds orbits that return, and compares with a later place after 1, 2, 4, 8 ... looks. Returns
 * whether any pixel is left. */
static inline int look(slot *s, int32_t most)
{
    mask returned = s->inside & equal(s->x, s->old_x) & equal(s->y, s->old_y);
    s->counts = choose(returned, most - (ivec){0}, s->counts);
    s->inside &= ~returned;
    s->looks++;
    if ((s->looks & (s->looks - 1)) == 0)
        s->old_x = s->x, s->old_y = s->y;
    return any(s->inside) && s->looks * STEPS < most;
}

/* Writes the counts of a slot. */
static inline void finish(slot *s, int32_t most)
{
    for (int k = 0; k < WIDTH; k++)
        s->counts[k] = s->counts[k] < most ? s->counts[k] : most;
    if (s->pixels == WIDTH)
        memcpy(s->to, &s->counts, sizeof s->counts);
    else
        memcpy(s->to, &s->counts, (size_t)s->pixels * sizeof *s->to);
}

/* The work of one thread, which takes rows. */
static void rows(picture *p)
{
    slot slots[SLOTS];
    cursor at = {0, p->width};
    int busy = 0;
    for (int k = 0; k < SLOTS; k++) {
        refill(slots + k, p, &at);
        busy += slots[k].to != NULL;
    }
    while (busy > 0) {
        run(slots);
        for (int k = 0; k < SLOTS; k++)
            if (slots[k].to != NULL && !look(slots + k, p->most)) {
                finish(slots + k, p->most);
                refill(slots + k, p, &at);
                busy -= slots[k].to == NULL;
            }
    }
}

int peer_mandelbrot(int64_t *result_dim0, int64_t *result_dim1, int32_t **result, int32_t width,
                    int32_t height, int32_t most, float left, float top, float scale)
{
    int code = result_matrix(result_dim0, result_dim1, (void **)result, height, width,
                             sizeof **result);
    if (code != 0 || width == 0)
        return code;
    picture p = {*result, width, height, most > 0 ? most : 0, left, top, scale, 0};
#pragma omp parallel if ((int64_t)width * height > 1024)
    rows(&p);
    return 0;
}
