// A vector times a number with Thrust.
#include "thrust.h"

struct times {
    float a;
    float operator()(float x) const { return a * x; }
};

extern "C" int peer_scal_thrust(int64_t *result_len, float **result, float a, int64_t X_len,
                                const float *X)
{
    int code = result_vector(result_len, result, X_len);
    if (code != 0)
        return code;
    thrust::transform(thrust::device, X, X + X_len, *result, times{a});
    return 0;
}
