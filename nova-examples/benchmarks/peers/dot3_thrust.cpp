// The dot product of each pair with Thrust.
#include "thrust.h"

struct triple {
    float x, y, z;
};

struct product {
    float operator()(const triple &a, const triple &b) const
    {
        return a.x * b.x + a.y * b.y + a.z * b.z;
    }
};

extern "C" int peer_dot3_thrust(int64_t *result_len, float **result, int64_t A_len, const triple *A,
                                int64_t, const triple *B)
{
    int code = result_vector(result_len, result, A_len);
    if (code != 0)
        return code;
    thrust::transform(thrust::device, A, A + A_len, B, *result, product());
    return 0;
}
