// The bounding box with Thrust, as its example bounding_box.
#include "thrust.h"

struct point {
    float x, y;
};

struct box {
    point lower, upper;
};

struct box_of_point {
    box operator()(const point &p) const { return {p, p}; }
};

struct join {
    box operator()(const box &a, const box &b) const
    {
        return {{b.lower.x < a.lower.x ? b.lower.x : a.lower.x,
                 b.lower.y < a.lower.y ? b.lower.y : a.lower.y},
                {b.upper.x > a.upper.x ? b.upper.x : a.upper.x,
                 b.upper.y > a.upper.y ? b.upper.y : a.upper.y}};
    }
};

extern "C" int peer_bbox_thrust(box *result, int64_t points_len, const point *points)
{
    const float far = std::numeric_limits<float>::infinity();
    *result = thrust::transform_reduce(thrust::device, points, points + points_len, box_of_point(),
                                       box{{far, far}, {-far, -far}}, join());
    return 0;
}
