/* Sparse matrix times vector with irregular rows of pairs. Limited by gathering from x, then by the
 * bandwidth of reading. Products of all entries of some rows are made in full vectors, whatever the
 * rows' ends, into a buffer in the first-level cache; then the rows are summed from it, far enough
 * behind for the stores to be done, short ones without a branch on their length. */
#include "peer.h"

enum { ROWS = 32, ENTRIES = 2048 };

typedef struct {
    int32_t column;
    float value;
} entry;

/* The products of n entries. */
static inline void multiply(float *products, const entry *entries, int64_t n, const float *x)
{
    const lanes_int odd = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        prefetch(entries + i, AHEAD);
        prefetch(entries + i + 8, AHEAD);
        lanes values = __builtin_shuffle(load(entries + i), load(entries + i + 8), odd);
        store(products + i, values * gather(x, &entries[i].column, 2));
    }
    for (; i < n; i++)
        products[i] = entries[i].value * x[entries[i].column];
}

/* One row of any length. */
static double one_row(const entry *entries, int64_t n, const float *x)
{
    float products[ENTRIES];
    double sum = 0;
    for (int64_t i = 0; i < n; i += ENTRIES) {
        int64_t part = n - i < ENTRIES ? n - i : ENTRIES;
        multiply(products, entries + i, part, x);
        sum += sum_of_long(products, part);
    }
    return sum;
}

/* Some rows that have no more than ENTRIES entries. */
static inline void some_rows(float *out, const int64_t *offsets, const entry *entries,
                             const float *x)
{
    float products[ENTRIES + 64];
    multiply(products, entries + offsets[0], offsets[ROWS] - offsets[0], x);
    for (int r = 0; r < ROWS; r += LANES) {
        lanes parts[LANES];
        for (int k = 0; k < LANES; k++) {
            const float *row = products + (offsets[r + k] - offsets[0]);
            int64_t n = offsets[r + k + 1] - offsets[r + k];
            lanes part = {0};
            for (; n > 64; n -= 64, row += 64)
                part += (load(row) + load(row + 16)) + (load(row + 32) + load(row + 48));
            parts[k] = part + sum_of_short(row, n);
        }
        stream(out + r, sums_of_each(parts));
    }
}

/* Writes the sums of the rows from r to `end`. */
static void sum_rows(float *out, const int64_t *offsets, const entry *entries, const float *x,
                     int64_t r, int64_t end)
{
    while (r < end) {
        if (((uintptr_t)(out + r) & 63) == 0 && r + ROWS <= end &&
            offsets[r + ROWS] - offsets[r] <= ENTRIES) {
            some_rows(out + r, offsets + r, entries, x);
            r += ROWS;
            continue;
        }
        /* As far as the next line of the result. */
        for (int64_t next = r + 1; r < end && (r < next || ((uintptr_t)(out + r) & 63) != 0); r++)
            out[r] = (float)one_row(entries + offsets[r], offsets[r + 1] - offsets[r], x);
    }
    stream_end();
}

int peer_spmv_csr(int64_t *result_len, float **result, int64_t rows_len, const int64_t *rows_seg1,
                  const entry *rows, int64_t x_len, const float *x)
{
    (void)x_len;
    int code = result_vector(result_len, (void **)result, rows_len, sizeof **result);
    if (code != 0)
        return code;
    sum_rows(*result, rows_seg1, rows, x, 0, rows_len);
    return 0;
}
