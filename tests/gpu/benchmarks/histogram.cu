/* How often each of 256 numbers occurs: limited by memory, 4 bytes for each, where atomic operations in
 * shared memory keep up. Thrust has no histogram. */
#include "histogram.h"
#include "libraries.h"

using namespace benchmark;

constexpr int bins = 256;

/* Each warp of a block counts in a histogram of its own, so that fewer threads meet in a bin; the block adds
 * them, and then adds to the result, which holds zeros before. */
static __global__ void __launch_bounds__(256)
    count_by_hand(const int4 *x, int64_t count, int32_t *result)
{
    constexpr int warps = 256 / 32;
    NOVA_SHARED(int, counts, warps * bins);
    int *own = &counts[threadIdx.x / 32 * bins];
    for (int k = (int)threadIdx.x; k < warps * bins; k += (int)blockDim.x)
        counts[k] = 0;
    __syncthreads();
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        int4 v = x[i];
        atomicAdd(&own[v.x], 1);
        atomicAdd(&own[v.y], 1);
        atomicAdd(&own[v.z], 1);
        atomicAdd(&own[v.w], 1);
    }
    __syncthreads();
    for (int bin = (int)threadIdx.x; bin < bins; bin += (int)blockDim.x) {
        int sum = 0;
        for (int warp = 0; warp < warps; warp++)
            sum += counts[warp * bins + bin];
        atomicAdd(&result[bin], sum);
    }
}

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    array<int32_t> x(n), found(bins), other(bins);
    fill(x, bins - 1);
    auto same = [&] { return agree(other, found, bins); };
    contest all = {"histogram", n, 0, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             int64_t length = bins;
                             int32_t *result = found.data();
                             SUCCEED(histogram_device(&length, &result, (int64_t)n, x.data(),
                                                      stream));
                         },
                         [] { return true; }});
    unsigned blocks = resident_blocks(count_by_hand, (int64_t)n / 4);
    all.sides.push_back({"by hand",
                         [&, blocks](cudaStream_t stream) {
                             SUCCEED(cudaMemsetAsync(other.data(), 0, other.bytes(), stream));
                             SUCCEED(nova_put_launch(count_by_hand, blocks, threads, 0, stream,
                                                     (const int4 *)x.data(), (int64_t)n / 4,
                                                     other.data()));
                         },
                         same});
#ifndef NOVA_CUDA_EMULATION
    all.sides.push_back(
        {"CUB", with_memory([&, n](void *memory, size_t &bytes, cudaStream_t stream) {
             return cub::DeviceHistogram::HistogramEven(memory, bytes, x.data(), other.data(),
                                                        bins + 1, 0, bins, (int)n, stream);
         }),
         same});
#endif
    bool right = all.check(watch);
    if (right)
        all.measure(watch, limit);
    return right;
}

int main(int count, char **arguments)
{
    return run(count, arguments, "histogram", 4 * sizeof(int32_t), at_size);
}
