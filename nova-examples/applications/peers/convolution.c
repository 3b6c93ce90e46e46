/* A layer of convolutions, no less than zero. Limited by arithmetic: sums of several filters at
 * neighbouring places are held in registers. The places of a picture are taken as one row, and sums
 * whose window reaches over an edge are dropped, so that vectors are full in narrow pictures. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
    FILTERS = 8,
#else
    WIDTH = 8,
    FILTERS = 4,
#endif
    VECTORS = 3,
    PLACES = VECTORS * WIDTH,
    /* Products that are worth a second thread. */
    WORTHWHILE = 1 << 18,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));

/* Numbers of a window, and how far each is from the window's place in a picture; filters in groups,
 * those of a group beside each other for each number of the window. */
typedef struct {
    int64_t numbers, outputs;
    int64_t *offsets;
    float *filters;
    const float *bias;
    /* Rows and columns of results; columns of pictures, and places up to the last result. */
    int64_t height, width, stride, places;
} layer;

static inline vec get(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* The sums of a group of filters at PLACES places. */
static void multiply(float *sums, const layer *l, const float *filters, const float *places)
{
    vec acc[FILTERS][VECTORS];
    const int64_t *offsets = l->offsets;
#pragma GCC unroll 8
    for (int f = 0; f < FILTERS; f++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            acc[f][v] = (vec){0};
    for (int64_t k = 0; k < l->numbers; k++, filters += FILTERS)
#pragma GCC unroll 8
        for (int f = 0; f < FILTERS; f++)
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                acc[f][v] += filters[f] * get(places + offsets[k] + v * WIDTH);
#pragma GCC unroll 8
    for (int f = 0; f < FILTERS; f++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            memcpy(sums + f * PLACES + v * WIDTH, &acc[f][v], sizeof(vec));
}

/* Writes the results of a filter at the places from `first` to `last` that are not over an edge. */
static void put_results(const layer *l, float *out, const float *sums, float bias, int64_t first,
                        int64_t last)
{
    while (first < last) {
        int64_t y = first / l->stride, x = first % l->stride;
        int64_t end = last - first + x < l->width ? last - first + x : l->width;
        for (int64_t k = x; k < end; k++) {
            float sum = sums[k - x] + bias;
            out[y * l->width + k] = sum > 0 ? sum : 0;
        }
        sums += l->stride - x;
        first += l->stride - x;
    }
}

/* The results of a group of filters at the places from `first` on, of one picture. */
static void one_tile(const layer *l, float *result, const float *picture, int64_t first,
                     int64_t group)
{
    _Alignas(64) float sums[FILTERS * PLACES];
    int64_t last = first + PLACES < l->places ? first + PLACES : l->places;
    /* The last tile overlaps the one before. */
    int64_t begin = last - PLACES > 0 ? last - PLACES : 0;
    begin = begin < first ? begin : first;
    multiply(sums, l, l->filters + group * FILTERS * l->numbers, picture + begin);
    for (int64_t f = 0; f < FILTERS && group * FILTERS + f < l->outputs; f++) {
        int64_t o = group * FILTERS + f;
        put_results(l, result + o * l->height * l->width, sums + f * PLACES + (first - begin),
                    l->bias[o], first, last);
    }
}

/* All tiles of all pictures, each `size` numbers. */
static void convolve(const layer *l, float *result, int64_t count, const float *pictures,
                     int64_t size)
{
    int64_t tiles = (l->places + PLACES - 1) / PLACES;
    int64_t groups = (l->outputs + FILTERS - 1) / FILTERS;
    int64_t all = count * tiles * groups;
#ifdef _OPENMP
    int64_t threads = l->numbers * PLACES * FILTERS * all < WORTHWHILE ? 1 : omp_get_max_threads();
    int64_t grain = all / (16 * threads) > 0 ? all / (16 * threads) : 1;
#endif
#pragma omp parallel for schedule(dynamic, grain) num_threads((int)threads)
    for (int64_t k = 0; k < all; k++) {
        int64_t group = k % groups, tile = k / groups % tiles, picture = k / groups / tiles;
        one_tile(l, result + picture * l->outputs * l->height * l->width, pictures + picture * size,
                 tile * PLACES, group);
    }
}

/* Where the numbers of a window are, and the filters in groups, with zeros behind the last one. */
static void arrange(layer *l, const float *filters, int64_t channels, int64_t size, int64_t h,
                    int64_t w)
{
    for (int64_t c = 0, k = 0; c < channels; c++)
        for (int64_t i = 0; i < h; i++)
            for (int64_t j = 0; j < w; j++)
                l->offsets[k++] = c * size + i * l->stride + j;
    int64_t groups = (l->outputs + FILTERS - 1) / FILTERS;
    for (int64_t o = 0; o < groups * FILTERS; o++)
        for (int64_t k = 0; k < l->numbers; k++)
            l->filters[o / FILTERS * FILTERS * l->numbers + k * FILTERS + o % FILTERS] =
                o < l->outputs ? filters[o * l->numbers + k] : 0;
}

int peer_convolution(int64_t *result_dim0, int64_t *result_dim1, int64_t *result_dim2,
                     int64_t *result_dim3, float **result, int64_t pictures_dim0,
                     int64_t pictures_dim1, int64_t pictures_dim2, int64_t pictures_dim3,
                     const float *pictures, int64_t filters_dim0, int64_t filters_dim1,
                     int64_t filters_dim2, int64_t filters_dim3, const float *filters,
                     int64_t bias_len, const float *bias)
{
    (void)filters_dim1, (void)bias_len;
    int64_t count = pictures_dim0, channels = pictures_dim1, h = filters_dim2, w = filters_dim3;
    int64_t height = pictures_dim2 - h + 1 > 0 ? pictures_dim2 - h + 1 : 0;
    int64_t width = pictures_dim3 - w + 1 > 0 ? pictures_dim3 - w + 1 : 0;
    int64_t size = pictures_dim2 * pictures_dim3, all = count * filters_dim0 * height * width;
    int64_t room = *result_dim0 * *result_dim1 * *result_dim2 * *result_dim3;
    int own = *result == NULL;
    int code = result_vector(&room, (void **)result, all, sizeof **result);
    if (code == 2)
        return code;
    *result_dim0 = count, *result_dim1 = filters_dim0, *result_dim2 = height, *result_dim3 = width;
    if (code != 0 || all == 0)
        return code;
    layer l = {channels * h * w, filters_dim0, NULL, NULL, bias, height, width, pictures_dim3,
               (height - 1) * pictures_dim3 + width};
    int64_t padded = (l.outputs + FILTERS - 1) / FILTERS * FILTERS;
    /* Tiles of pictures with too few places reach behind the end. */
    int64_t copied = l.places < PLACES ? count * channels * size : 0;
    l.offsets = malloc((size_t)(l.numbers + 1) * sizeof *l.offsets);
    l.filters = malloc((size_t)(padded * l.numbers + copied + PLACES) * sizeof *l.filters);
    if (l.offsets != NULL && l.filters != NULL) {
        arrange(&l, filters, channels, size, h, w);
        if (copied > 0) {
            float *copy = l.filters + padded * l.numbers;
            memcpy(copy, pictures, (size_t)copied * sizeof *copy);
            memset(copy + copied, 0, PLACES * sizeof *copy);
            pictures = copy;
        }
        convolve(&l, *result, count, pictures, channels * size);
    } else {
        code = 2;
        if (own)
            free(*result), *result = NULL;
    }
    free(l.offsets);
    free(l.filters);
    return code;
}
