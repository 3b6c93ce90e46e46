// The mean of each pixel's neighbourhood with Thrust: a row by a plain loop over its inner pixels,
// which vectorises.
#include "thrust.h"

struct means_of_row {
    const float *img;
    float *out;
    int64_t height, width;
    static float three(const float *row, int64_t left, int64_t j, int64_t right)
    {
        return row[left] + row[j] + row[right];
    }
    void operator()(int64_t i) const
    {
        const float *above = img + (i > 0 ? i - 1 : 0) * width, *row = img + i * width;
        const float *below = img + (i + 1 < height ? i + 1 : i) * width;
        float *to = out + i * width;
        auto mean = [=](int64_t left, int64_t j, int64_t right) {
            return (three(above, left, j, right) + three(row, left, j, right) +
                    three(below, left, j, right)) *
                   (1.0f / 9.0f);
        };
        if (width == 0)
            return;
        to[0] = mean(0, 0, width > 1 ? 1 : 0);
        for (int64_t j = 1; j < width - 1; j++)
            to[j] = mean(j - 1, j, j + 1);
        if (width > 1)
            to[width - 1] = mean(width - 2, width - 1, width - 1);
    }
};

extern "C" int peer_box3x3_thrust(int64_t *result_dim0, int64_t *result_dim1, float **result,
                                  int64_t img_dim0, int64_t img_dim1, const float *img)
{
    int64_t room = *result_dim0 * *result_dim1;
    int code = result_vector(&room, result, img_dim0 * img_dim1);
    if (code != 2) {
        *result_dim0 = img_dim0;
        *result_dim1 = img_dim1;
    }
    if (code != 0)
        return code;
    thrust::for_each(thrust::device, index_iterator(0), index_iterator(img_dim0),
                     means_of_row{img, *result, img_dim0, img_dim1});
    return 0;
}
