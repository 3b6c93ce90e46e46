// Accelerations of bodies with Thrust: the sources are taken apart into four vectors, so that the loop
// over them, in the functor of each target, vectorises.
#include "thrust.h"

struct body {
    float x, y, z, mass;
};

struct triple {
    float x, y, z;
};

struct take_apart {
    thrust::tuple<float, float, float, float> operator()(const body &b) const
    {
        return thrust::make_tuple(b.x, b.y, b.z, b.mass);
    }
};

struct acceleration {
    const float *x, *y, *z, *mass;
    int64_t n;
    float eps2;
    triple operator()(const body &p) const
    {
        float ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n; j++) {
            float dx = x[j] - p.x, dy = y[j] - p.y, dz = z[j] - p.z;
            float inverse = 1.0f / sqrtf(dx * dx + (dy * dy + (dz * dz + eps2)));
            float scale = mass[j] * inverse * (inverse * inverse);
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        return {ax, ay, az};
    }
};

extern "C" int peer_nbody_thrust(int64_t *result_len, triple **result, int64_t bodies_len,
                                 const body *bodies, float eps2)
{
    int64_t n = bodies_len;
    int code = result_vector(result_len, result, n);
    if (code != 0)
        return code;
    thrust::device_vector<float> x(n), y(n), z(n), mass(n);
    auto parts = thrust::make_tuple(x.begin(), y.begin(), z.begin(), mass.begin());
    thrust::transform(thrust::device, bodies, bodies + n, thrust::make_zip_iterator(parts),
                      take_apart());
    acceleration by_all = {x.data().get(), y.data().get(), z.data().get(), mass.data().get(),
                           n,              eps2};
    thrust::transform(thrust::device, bodies, bodies + n, *result, by_all);
    return 0;
}
