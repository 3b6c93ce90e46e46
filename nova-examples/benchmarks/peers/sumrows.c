/* The sum of each row of irregular rows. Limited by the bandwidth of reading if no branch depends on
 * the length of a short row and the data are prefetched: a row of up to 64 is four masked loads,
 * and the lanes of sixteen rows are added in one transposition. Long rows are added in blocks. */
#include "peer.h"

/* The sums of sixteen rows. */
static inline lanes sixteen_rows(const int64_t *offsets, const float *data)
{
    lanes parts[LANES];
    unsigned is_long = 0;
#pragma GCC unroll 16
    for (int k = 0; k < LANES; k++) {
        int64_t n = offsets[k + 1] - offsets[k];
        is_long |= (unsigned)(n > 64) << k;
        parts[k] = sum_of_short(data + offsets[k], n < 64 ? n : 64);
    }
    lanes sums = sums_of_each(parts);
    for (; is_long != 0; is_long &= is_long - 1) {
        int k = __builtin_ctz(is_long);
        sums[k] = (float)sum_of_long(data + offsets[k], offsets[k + 1] - offsets[k]);
    }
    return sums;
}

/* Writes the sums of the rows from r to `end`. */
static void sum_rows(float *out, const int64_t *offsets, const float *data, int64_t r, int64_t end)
{
    for (; r < end && ((uintptr_t)(out + r) & 63) != 0; r++)
        out[r] = (float)sum_of_long(data + offsets[r], offsets[r + 1] - offsets[r]);
    for (; r + LANES <= end; r += LANES) {
        prefetch(offsets + r, 1024);
        prefetch(offsets + r + 8, 1024);
        int64_t count = offsets[r + LANES] - offsets[r];
        for (int64_t i = 0; i < (count < BLOCK ? count : BLOCK); i += 16)
            prefetch(data + offsets[r] + i, AHEAD);
        stream(out + r, sixteen_rows(offsets + r, data));
    }
    for (; r < end; r++)
        out[r] = (float)sum_of_long(data + offsets[r], offsets[r + 1] - offsets[r]);
    stream_end();
}

int peer_sumrows(int64_t *result_len, float **result, int64_t rows_len, const int64_t *rows_seg1,
                 const float *rows)
{
    int code = result_vector(result_len, (void **)result, rows_len, sizeof **result);
    if (code != 0)
        return code;
    sum_rows(*result, rows_seg1, rows, 0, rows_len);
    return 0;
}
