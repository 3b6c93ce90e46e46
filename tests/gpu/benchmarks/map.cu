/* a x + y for each pair of elements: limited by memory, 12 bytes for each pair. cuBLAS writes over y, which
 * is as many bytes. */
#include "libraries.h"
#include "map.h"
#ifndef NOVA_CUDA_EMULATION
#include <cublas_v2.h>
#endif

using namespace benchmark;

static const float factor = 0.5f;

/* Sixteen bytes of each array at a time, in one step of a loop over the whole grid. */
static __global__ void __launch_bounds__(256)
    map_by_hand(float a, const float4 *x, const float4 *y, float4 *result, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        float4 u = x[i], v = y[i];
        result[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
}

/* The same for one pair, as Thrust has it. */
struct scaled_sum {
    __device__ float operator()(float u, float v) const { return 0.5f * u + v; }
};

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    array<float> x(n), y(n), found(n), other(n);
    fill(x, 1);
    fill(y, 2);
    auto same = [&] { return agree(other, found, n, 1e-6); };
    contest all = {"map", n, 12.0 * (double)n, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             int64_t length = (int64_t)n;
                             float *result = found.data();
                             SUCCEED(map_device(&length, &result, factor, (int64_t)n, x.data(),
                                                (int64_t)n, y.data(), stream));
                         },
                         [] { return true; }});
    all.sides.push_back({"by hand",
                         [&](cudaStream_t stream) {
                             int64_t vectors = (int64_t)n / 4;
                             SUCCEED(nova_put_launch(
                                 map_by_hand, blocks_for(vectors), threads, 0, stream, factor,
                                 (const float4 *)x.data(), (const float4 *)y.data(),
                                 (float4 *)other.data(), vectors));
                         },
                         same});
#ifndef NOVA_CUDA_EMULATION
    kept_memory kept;
    all.sides.push_back({"Thrust",
                         [&](cudaStream_t stream) {
                             thrust::transform(thrust::cuda::par_nosync(kept).on(stream), x.data(),
                                               x.data() + n, y.data(), other.data(), scaled_sum());
                         },
                         same});
    /* Its result stays in y, so that it is checked on a copy and then goes on in that. */
    cublasHandle_t handle;
    SUCCEED(cublasCreate(&handle));
    SUCCEED(cublasSetStream(handle, watch.stream()));
    array<float> sums(n);
    SUCCEED(cudaMemcpy(sums.data(), y.data(), y.bytes(), cudaMemcpyDeviceToDevice));
    all.sides.push_back({"cuBLAS",
                         [&](cudaStream_t) {
                             SUCCEED(cublasSaxpy(handle, (int)n, &factor, x.data(), 1, sums.data(),
                                                 1));
                         },
                         [&] { return agree(sums, found, n, 1e-6); }});
#endif
    bool right = all.check(watch);
    if (right)
        all.measure(watch, limit);
#ifndef NOVA_CUDA_EMULATION
    SUCCEED(cublasDestroy(handle));
#endif
    return right;
}

int main(int count, char **arguments)
{
    return run(count, arguments, "map", 5 * sizeof(float), at_size);
}
