/* A map over two vectors, element by element and four at a time. */
#include "sample.h"

static __global__ void __launch_bounds__(128)
    axpy(int length, float a, const float *__restrict__ x, const float *__restrict__ y,
         float *__restrict__ result)
{
    int stride = (int)(gridDim.x * blockDim.x);
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < length; i += stride)
        result[i] = __fmaf_rn(a, __ldg(x + i), y[i]);
}

static __global__ void axpy_by_four(int length, float a, const float4 *x, const float4 *y,
                                    float4 *result)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < length) {
        float4 u = x[i], v = y[i];
        result[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
}

/* The row and column of each element of a matrix, in blocks of two dimensions. */
static __global__ void coordinates(int rows, int columns, int2 *result)
{
    int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (row < rows && column < columns)
        result[row * columns + column] = make_int2(row, column);
}

int main(int count, char **arguments)
{
    for (int length : lengths(count, arguments)) {
        std::vector<float> x(length), y(length);
        for (int i = 0; i < length; i++) {
            x[i] = (float)i;
            y[i] = 0.5f;
        }
        float *device_x = to_device(x), *device_y = to_device(y);
        float *result = on_device<float>(length);
        DO(nova_put_launch(axpy, blocks_for(length, 300), 128, 0, 0, length, 2.0f, device_x, device_y,
                       result));
        std::vector<float> made = to_host(result, length);
        for (int i = 0; i < length; i++)
            CHECK(made[i] == 2.0f * (float)i + 0.5f);
        DO(nova_put_launch(axpy_by_four, blocks_for(length / 4, 64), 64, 0, 0, length / 4, 3.0f,
                       (const float4 *)device_x, (const float4 *)device_y, (float4 *)result));
        made = to_host(result, length);
        for (int i = 0; i < length; i++)
            CHECK(made[i] == (i < length / 4 * 4 ? 3.0f : 2.0f) * (float)i + 0.5f);
        DO(cudaFree(device_x));
        DO(cudaFree(device_y));
        DO(cudaFree(result));
    }
    int2 *places = on_device<int2>(33 * 17);
    DO(nova_put_launch(coordinates, dim3(3, 5), dim3(8, 8), 0, 0, 33, 17, places));
    std::vector<int2> made = to_host(places, 33 * 17);
    for (int i = 0; i < 33 * 17; i++)
        CHECK(made[i].x == i / 17 && made[i].y == i % 17);
    DO(cudaFree(places));
    return 0;
}
