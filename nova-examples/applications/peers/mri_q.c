/* Sums of waves over all samples, for each voxel. Limited by arithmetic: sine and cosine of an
 * angle, counted in turns, come from one reduction and two short polynomials, in full vectors of
 * voxels, where functions of a library would reduce the angle twice. The sums of 64 voxels stay in
 * the first-level cache, and samples are read once for all of them. */
#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif
#include "../../benchmarks/peers/peer.h"
#include "mri_q.h"

enum {
    /* Voxels that are computed together, and samples that are added before they are added to the
     * sum of all. */
    TILE = 64,
    SAMPLES = 512,
};

typedef struct {
    float at_x[TILE], at_y[TILE], at_z[TILE], re[TILE], im[TILE];
} tile;

typedef struct {
    int64_t count;
    const float *x, *y, *z;
    float *magnitude;
} samples;

/* Adds the wave of one sample. With a = 1/4 - |turn| the cosine is the sine of a, and the sine is
 * the cosine of a with the sign of the turn. */
static inline void add_wave(tile *t, float x, float y, float z, float magnitude)
{
    for (int v = 0; v < TILE; v++) {
        float turn = x * t->at_x[v] + (y * t->at_y[v] + z * t->at_z[v]);
        turn -= rintf(turn);
        float a = 0.25f - fabsf(turn), b = a * a;
        float sine = 81.6010041f + b * (-76.5497824f + b * 39.5367068f);
        sine = a * (6.28318516f + b * (-41.3416550f + b * sine));
        float cosine = 64.9345906f + b * (-85.2403304f + b * 56.2423813f);
        cosine = 0.999999953f + b * (-19.7391714f + b * cosine);
        t->re[v] += magnitude * sine;
        t->im[v] += magnitude * copysignf(cosine, turn);
    }
}

/* The sums of n voxels, at most TILE. */
static void sums(float *re, float *im, const float *x, const float *y, const float *z, int64_t n,
                 const samples *all)
{
    tile t = {0};
    float total[2][TILE] = {{0}};
    memcpy(t.at_x, x, (size_t)n * sizeof *x);
    memcpy(t.at_y, y, (size_t)n * sizeof *y);
    memcpy(t.at_z, z, (size_t)n * sizeof *z);
    for (int64_t begin = 0; begin < all->count; begin += SAMPLES) {
        int64_t end = begin + SAMPLES < all->count ? begin + SAMPLES : all->count;
        memset(t.re, 0, sizeof t.re);
        memset(t.im, 0, sizeof t.im);
        for (int64_t s = begin; s < end; s++)
            add_wave(&t, all->x[s], all->y[s], all->z[s], all->magnitude[s]);
        for (int v = 0; v < TILE; v++) {
            total[0][v] += t.re[v];
            total[1][v] += t.im[v];
        }
    }
    memcpy(re, total[0], (size_t)n * sizeof *re);
    memcpy(im, total[1], (size_t)n * sizeof *im);
}

int peer_mri_q(nova_tuple2_vector_float_vector_float *result, int64_t kx_len, const float *kx,
               int64_t ky_len, const float *ky, int64_t kz_len, const float *kz, int64_t phi_re_len,
               const float *phi_re, int64_t phi_im_len, const float *phi_im, int64_t x_len,
               const float *x, int64_t y_len, const float *y, int64_t z_len, const float *z)
{
    (void)ky_len, (void)kz_len, (void)phi_re_len, (void)phi_im_len, (void)y_len, (void)z_len;
    samples all = {kx_len, kx, ky, kz, malloc((size_t)kx_len * sizeof(float) + 1)};
    int64_t len = 0;
    float *re = NULL, *im = NULL;
    int code = all.magnitude == NULL ? 2 : result_vector(&len, (void **)&re, x_len, sizeof *re);
    if (code == 0)
        code = result_vector(&len, (void **)&im, x_len, sizeof *im);
    if (code == 0) {
        for (int64_t s = 0; s < kx_len; s++)
            all.magnitude[s] = phi_re[s] * phi_re[s] + phi_im[s] * phi_im[s];
#pragma omp parallel for schedule(dynamic) if (x_len * kx_len > 1 << 14)
        for (int64_t v = 0; v < x_len; v += TILE)
            sums(re + v, im + v, x + v, y + v, z + v, x_len - v < TILE ? x_len - v : TILE, &all);
        *result = (nova_tuple2_vector_float_vector_float){{x_len, re}, {x_len, im}};
    } else {
        free(re);
    }
    free(all.magnitude);
    return code;
}
