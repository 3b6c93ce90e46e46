// alpha times a matrix times a vector, plus beta times another, with Thrust: a row by a plain loop,
// which vectorises.
#include "thrust.h"

struct element {
    const float *A;
    int64_t width;
    const float *x, *y;
    float alpha, beta;
    float operator()(int64_t r) const
    {
        const float *row = A + r * width;
        double sum = 0;
        for (int64_t c = 0; c < width; c++)
            sum += static_cast<double>(row[c]) * x[c];
        return static_cast<float>(alpha * sum + beta * y[r]);
    }
};

extern "C" int peer_gemv_thrust(int64_t *result_len, float **result, int64_t A_dim0, int64_t A_dim1,
                                const float *A, int64_t, const float *x, int64_t, const float *y,
                                float alpha, float beta)
{
    int code = result_vector(result_len, result, A_dim0);
    if (code != 0)
        return code;
    thrust::transform(thrust::device, index_iterator(0), index_iterator(A_dim0), *result,
                      element{A, A_dim1, x, y, alpha, beta});
    return 0;
}
