// Sparse matrix times vector with irregular rows with Thrust: a row by a plain loop.
#include "thrust.h"

struct entry {
    int32_t column;
    float value;
};

struct product_of_row {
    const int64_t *offsets;
    const entry *entries;
    const float *x;
    float operator()(int64_t r) const
    {
        double sum = 0;
        for (int64_t i = offsets[r]; i < offsets[r + 1]; i++)
            sum += entries[i].value * x[entries[i].column];
        return static_cast<float>(sum);
    }
};

extern "C" int peer_spmv_csr_thrust(int64_t *result_len, float **result, int64_t rows_len,
                                    const int64_t *rows_seg1, const entry *rows, int64_t,
                                    const float *x)
{
    int code = result_vector(result_len, result, rows_len);
    if (code != 0)
        return code;
    thrust::transform(thrust::device, index_iterator(0), index_iterator(rows_len), *result,
                      product_of_row{rows_seg1, rows, x});
    return 0;
}
