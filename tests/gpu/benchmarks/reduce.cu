/* The sum of floats: limited by memory, 4 bytes for each. None is negative, so that cuBLAS's sum of absolute
 * values is the sum. */
#include "libraries.h"
#include "reduce.h"
#ifndef NOVA_CUDA_EMULATION
#include <cublas_v2.h>
#endif

using namespace benchmark;

/* The sum over a block, for its first thread. */
static __device__ float sum_of_block(float sum)
{
    NOVA_SHARED(float, warps, 32);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    return sum;
}

/* As many blocks as the device runs at once; each thread has four loads of sixteen bytes on the way. The block
 * that ends last adds what the blocks give, so that there is one launch. */
static __global__ void __launch_bounds__(256)
    reduce_by_hand(const float4 *x, int64_t count, float *partial, unsigned *ended, float *result)
{
    NOVA_SHARED(int, last, 1);
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sums[4] = {0, 0, 0, 0};
    for (; i + 3 * step < count; i += 4 * step) {
        float4 v[4];
        for (int k = 0; k < 4; k++)
            v[k] = x[i + k * step];
        for (int k = 0; k < 4; k++)
            sums[k] += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    for (; i < count; i += step)
        sums[0] += (x[i].x + x[i].y) + (x[i].z + x[i].w);
    float sum = sum_of_block((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) {
        nova_store(&partial[blockIdx.x], sum);
        __threadfence();
        last[0] = atomicAdd(ended, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last[0])
        return;
    sum = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x)
        sum += nova_load(&partial[k]);
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        *result = sum;
        *ended = 0;
    }
}

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    array<float> x(n), partial(most_blocks), other(1);
    array<unsigned> ended(1);
    float found = 0;
    fill(x, 1);
    SUCCEED(cudaMemset(ended.data(), 0, ended.bytes()));
    auto same = [&] { return agree((double)other.at(0), (double)found, 1e-3); };
    contest all = {"reduce", n, 4.0 * (double)n, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             SUCCEED(reduce_device(&found, (int64_t)n, x.data(), stream));
                         },
                         /* Half of the numbers, about. */
                         [&] { return agree((double)found, 0.5 * (double)n, 0.3); }});
    unsigned blocks = resident_blocks(reduce_by_hand, (int64_t)n / 4);
    all.sides.push_back({"by hand",
                         [&, blocks](cudaStream_t stream) {
                             SUCCEED(nova_put_launch(reduce_by_hand, blocks, threads, 0, stream,
                                                     (const float4 *)x.data(), (int64_t)n / 4,
                                                     partial.data(), ended.data(), other.data()));
                         },
                         same});
#ifndef NOVA_CUDA_EMULATION
    kept_memory kept;
    float sum = 0;
    all.sides.push_back({"Thrust",
                         [&](cudaStream_t stream) {
                             sum = thrust::reduce(thrust::cuda::par(kept).on(stream), x.data(),
                                                  x.data() + n, 0.0f);
                         },
                         [&] { return agree((double)sum, (double)found, 1e-3); }});
    all.sides.push_back(
        {"CUB", with_memory([&, n](void *memory, size_t &bytes, cudaStream_t stream) {
             return cub::DeviceReduce::Sum(memory, bytes, x.data(), other.data(), (int)n, stream);
         }),
         same});
    cublasHandle_t handle;
    SUCCEED(cublasCreate(&handle));
    SUCCEED(cublasSetStream(handle, watch.stream()));
    SUCCEED(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    all.sides.push_back({"cuBLAS",
                         [&](cudaStream_t) {
                             SUCCEED(cublasSasum(handle, (int)n, x.data(), 1, other.data()));
                         },
                         same});
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
    return run(count, arguments, "reduce", 2 * sizeof(float), at_size);
}
