// Sparse matrix times vector in ELL format with Thrust: a row by a plain loop, which vectorises.
#include "thrust.h"

struct product_of_row {
    const float *values;
    const int32_t *columns;
    int64_t width;
    const float *x;
    float operator()(int64_t r) const
    {
        double sum = 0;
        for (int64_t i = r * width; i < (r + 1) * width; i++)
            sum += values[i] * x[columns[i]];
        return static_cast<float>(sum);
    }
};

extern "C" int peer_spmv_thrust(int64_t *result_len, float **result, int64_t values_dim0,
                                int64_t values_dim1, const float *values, int64_t, int64_t,
                                const int32_t *columns, int64_t, const float *x)
{
    int code = result_vector(result_len, result, values_dim0);
    if (code != 0)
        return code;
    thrust::transform(thrust::device, index_iterator(0), index_iterator(values_dim0), *result,
                      product_of_row{values, columns, values_dim1, x});
    return 0;
}
