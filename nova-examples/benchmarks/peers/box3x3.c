/* The mean of each pixel's 3x3 neighbourhood. Limited by the bandwidth of reading and writing once:
 * each row is read from memory once and added up along the row; the sums of the last row and of the
 * last two are kept in the first-level cache, in tiles of columns where rows are long; the result is
 * streamed. Where pages are taken in turn, a row is four quarters. */
#include "peer.h"

enum { TILE = 4096 };

typedef struct {
    /* Sums along the row before, and of the two rows before. */
    float last[TILE], two[TILE];
} rows_before;

/* The sum of three neighbours of a row, edges clamped. */
static inline float three(const float *row, int64_t width, int64_t j)
{
    return row[j > 0 ? j - 1 : 0] + row[j] + row[j + 1 < width ? j + 1 : width - 1];
}

/* One column of one_row. */
static inline void one_pixel(rows_before *before, float *out, int writes, const float *row,
                             int64_t width, int64_t j, int64_t begin)
{
    float sum = three(row, width, j);
    if (writes)
        out[j] = (before->two[j - begin] + sum) * (1.0f / 9.0f);
    before->two[j - begin] = before->last[j - begin] + sum;
    before->last[j - begin] = sum;
}

/* Sixteen columns of one_row. */
static inline void sixteen_pixels(rows_before *before, float *out, int writes, const float *row,
                                  int64_t j, int64_t begin)
{
    float *last = before->last + (j - begin), *two = before->two + (j - begin);
    prefetch(row + j, AHEAD_OF_FOUR);
    lanes sum = load(row + j - 1) + load(row + j) + load(row + j + 1);
    if (writes)
        stream(out + j, (load(two) + sum) * (1.0f / 9.0f));
    store(two, load(last) + sum);
    store(last, sum);
}

/* Takes in a row's columns from begin to end; writes the means of the row before, if asked to. */
static inline void one_row(rows_before *before, float *out, int writes, const float *row,
                           int64_t width, int64_t begin, int64_t end)
{
    int64_t j = begin;
    for (; j < end && (j == 0 || ((uintptr_t)(out + j) & 63) != 0); j++)
        one_pixel(before, out, writes, row, width, j, begin);
    int64_t quarter = ((end < width ? end : width - 1) - j) / 64 * LANES;
    for (int64_t c = 0; c < quarter; c += LANES)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            sixteen_pixels(before, out, writes, row,
                           j + (IN_TURN ? c + quarter * k : 4 * c + LANES * k), begin);
    j += 4 * quarter;
    for (; j + LANES <= end && j + LANES < width; j += LANES)
        sixteen_pixels(before, out, writes, row, j, begin);
    for (; j < end; j++)
        one_pixel(before, out, writes, row, width, j, begin);
}

/* Writes the means of the rows from `top` to `bottom`. */
static void rows_of_means(float *result, const float *img, int64_t height, int64_t width,
                          int64_t top, int64_t bottom)
{
    rows_before before = {{0}, {0}};
    for (int64_t begin = 0; top < bottom && begin < width; begin += TILE) {
        int64_t end = begin + TILE < width ? begin + TILE : width;
        /* The image's first row counts twice, and so does its last. */
        for (int64_t i = top - 1; i <= bottom; i++) {
            int64_t nearest = i < 0 ? 0 : i < height ? i : height - 1;
            int writes = i > top;
            float *out = result + (writes ? i - 1 : top) * width;
            one_row(&before, out, writes, img + nearest * width, width, begin, end);
        }
    }
    stream_end();
}

int peer_box3x3(int64_t *result_dim0, int64_t *result_dim1, float **result, int64_t img_dim0,
                int64_t img_dim1, const float *img)
{
    int64_t height = img_dim0, width = img_dim1;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, height, width,
                             sizeof **result);
    if (code != 0)
        return code;
    rows_of_means(*result, img, height, width, 0, height);
    return 0;
}
