/* Speckle-reducing anisotropic diffusion. Limited by the bandwidth of the cache that the image fits
 * into, and by arithmetic in the nearest ones: each step is one pass, in place. It keeps old rows
 * and two rows of coefficients in the first-level cache, takes the sums for the next step on the
 * way, and has one division for a pixel, since all quotients of a coefficient are brought to
 * one. */
#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    /* Floats that are added in single precision before they are added to a double. */
    PART = 1024,
    /* Pixels that are worth a thread. */
    WORTH = 8192,
};

/* An image, where the sums of the threads stand, and what it has to be taken by. */
typedef struct {
    float *pixels;
    int64_t height, width;
    double (*sums)[8];
    float rate;
} image;

/* The rows of a thread, from top to bottom, and its buffers: the row above the current one and the
 * current one as they were, the two rows below the thread's, and two rows of coefficients. */
typedef struct {
    int64_t top, bottom;
    float *above, *current, *below[2], *c, *c_south;
} band;

/* The coefficient of a pixel x with these neighbours. With the sum s and the sum of squares q of
 * the differences, it is K d^2 / (q0^2 d^2 + n), where d = x + s/4, n = q/2 - s^2/16, K = q0 (1 +
 * q0). */
static inline float coefficient(float x, float north, float south, float west, float east, float q0)
{
    north -= x, south -= x, west -= x, east -= x;
    float sum = (north + south) + (west + east);
    float squares = (north * north + south * south) + (west * west + east * east);
    float d = x + 0.25f * sum, d2 = d * d;
    float c = q0 * (1.0f + q0) * d2 / (q0 * q0 * d2 + (0.5f * squares - 0.0625f * (sum * sum)));
    return c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

static void coefficients(float *restrict c, const float *restrict x, const float *restrict north,
                         const float *restrict south, int64_t width, float q0)
{
    int64_t last = width - 1;
    c[0] = coefficient(x[0], north[0], south[0], x[0], x[last > 0], q0);
    for (int64_t j = 1; j < last; j++)
        c[j] = coefficient(x[j], north[j], south[j], x[j - 1], x[j + 1], q0);
    if (last > 0)
        c[last] = coefficient(x[last], north[last], south[last], x[last - 1], x[last], q0);
}

/* What a pixel becomes. */
static inline float diffused(float x, float north, float south, float west, float east, float c,
                             float c_south, float c_east, float rate)
{
    return x + rate * ((c * (north - x) + c_south * (south - x)) +
                       (c * (west - x) + c_east * (east - x)));
}

/* A new row. */
static void diffuse(float *restrict to, const float *restrict x, const float *restrict north,
                    const float *restrict south, const float *restrict c,
                    const float *restrict c_south, int64_t width, float rate)
{
    int64_t last = width - 1, next = last > 0;
    to[0] = diffused(x[0], north[0], south[0], x[0], x[next], c[0], c_south[0], c[next], rate);
    for (int64_t j = 1; j < last; j++)
        to[j] = diffused(x[j], north[j], south[j], x[j - 1], x[j + 1], c[j], c_south[j], c[j + 1],
                         rate);
    if (last > 0)
        to[last] = diffused(x[last], north[last], south[last], x[last - 1], x[last], c[last],
                            c_south[last], c[last], rate);
}

/* Adds the sum of a row and that of its squares. */
static inline void add(double *sums, const float *row, int64_t width)
{
    for (int64_t begin = 0; begin < width; begin += PART) {
        int64_t end = begin + PART < width ? begin + PART : width;
        float sum = 0, squares = 0;
        for (int64_t j = begin; j < end; j++) {
            sum += row[j];
            squares += row[j] * row[j];
        }
        sums[0] += sum;
        sums[1] += squares;
    }
}

/* The old row i, below the current one, of a band. */
static inline const float *old_row(const image *m, const band *b, int64_t i)
{
    if (i >= m->height)
        i = m->height - 1;
    return i < b->bottom ? m->pixels + i * m->width : b->below[i - b->bottom];
}

/* Keeps the old rows next to a band. */
static void keep(const image *m, band *b)
{
    size_t bytes = (size_t)m->width * sizeof(float);
    int64_t above = b->top > 0 ? b->top - 1 : 0;
    memcpy(b->above, m->pixels + above * m->width, bytes);
    for (int k = 0; k < 2; k++)
        if (b->bottom + k < m->height)
            memcpy(b->below[k], m->pixels + (b->bottom + k) * m->width, bytes);
}

/* One step for a band, whose neighbours have been kept. */
static void sweep(const image *m, band *b, float q0, double *sums)
{
    int64_t width = m->width;
    for (int64_t i = b->top; i < b->bottom; i++) {
        float *to = m->pixels + i * width;
        memcpy(b->current, to, (size_t)width * sizeof *to);
        const float *south = i + 1 < m->height ? old_row(m, b, i + 1) : b->current;
        if (i == b->top)
            coefficients(b->c, b->current, b->above, south, width, q0);
        float *c_south = b->c;
        if (i + 1 < m->height) {
            c_south = b->c_south;
            coefficients(c_south, south, b->current, old_row(m, b, i + 2), width, q0);
        }
        diffuse(to, b->current, b->above, south, b->c, c_south, width, m->rate);
        add(sums, to, width);
        float *swap = b->above;
        b->above = b->current, b->current = swap;
        swap = b->c;
        b->c = b->c_south, b->c_south = swap;
    }
}

/* The speckle of the image, from the sums of all threads in the last step. */
static float speckle(const image *m, int threads, int parity)
{
    double sum = 0, squares = 0, size = (double)m->height * (double)m->width;
    for (int t = 0; t < threads; t++) {
        sum += m->sums[t][2 * parity];
        squares += m->sums[t][2 * parity + 1];
    }
    double mean = sum / size, variance = squares / size - mean * mean;
    return (float)(variance / (mean * mean));
}

/* All steps, as thread `me` of so many. `room` is for six rows. */
static void all_steps(const image *m, const float *from, float *room, int32_t steps, int threads,
                      int me)
{
    int64_t top = m->height * me / threads, bottom = m->height * (me + 1) / threads, w = m->width;
    band b = {top, bottom, room, room + w, {room + 2 * w, room + 3 * w}, room + 4 * w,
              room + 5 * w};
    double *sums = m->sums[me];
    memcpy(m->pixels + top * w, from + top * w, (size_t)((bottom - top) * w) * sizeof *from);
    sums[0] = sums[1] = 0;
    for (int64_t i = top; i < bottom && steps > 0; i++)
        add(sums, m->pixels + i * w, w);
#pragma omp barrier
    for (int32_t s = 0; s < steps; s++) {
        int parity = s % 2;
        float q0 = speckle(m, threads, parity);
        sums[2 - 2 * parity] = sums[3 - 2 * parity] = 0;
        keep(m, &b);
#pragma omp barrier
        sweep(m, &b, q0, sums + 2 - 2 * parity);
#pragma omp barrier
    }
}

int peer_srad(int64_t *result_dim0, int64_t *result_dim1, float **result, int32_t steps,
              float lambda0, int64_t image_dim0, int64_t image_dim1, const float *pixels)
{
    int64_t threads = 1;
#ifdef _OPENMP
    threads = image_dim0 * image_dim1 / WORTH + 1;
    threads = threads < omp_get_max_threads() ? threads : omp_get_max_threads();
#endif
    /* Each thread's rows on lines of its own. */
    size_t row = ((size_t)image_dim1 + LANES - 1) / LANES * LANES, room = 6 * row + LANES;
    float *memory = aligned_alloc(64, (size_t)threads * (room + LANES) * sizeof(float));
    if (memory == NULL)
        return 2;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, image_dim0, image_dim1,
                             sizeof **result);
    if (code == 0 && image_dim0 * image_dim1 > 0) {
        image m = {*result, image_dim0, image_dim1, (double(*)[8])memory, 0.25f * lambda0};
        float *rows = memory + threads * LANES;
#pragma omp parallel num_threads((int)threads)
        {
            int me = 0, team = 1;
#ifdef _OPENMP
            me = omp_get_thread_num(), team = omp_get_num_threads();
#endif
            all_steps(&m, pixels, rows + (size_t)me * room, steps, team, me);
        }
    }
    free(memory);
    return code;
}
