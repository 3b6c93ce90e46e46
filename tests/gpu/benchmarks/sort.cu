/* Integers in rising order. Thrust sorts in place, so that its time includes a copy; the radix sort that it
 * calls is CUB's. */
#include "libraries.h"
#include "sort.h"

using namespace benchmark;

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    array<int32_t> x(n), found(n), other(n);
    fill(x, 0xffffffffu);
    auto same = [&] { return agree(other, found, n); };
    contest all = {"sort", n, 0, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             int64_t length = (int64_t)n;
                             int32_t *result = found.data();
                             SUCCEED(sort_device(&length, &result, (int64_t)n, x.data(), stream));
                         },
                         [] { return true; }});
#ifndef NOVA_CUDA_EMULATION
    kept_memory kept;
    all.sides.push_back({"Thrust",
                         [&](cudaStream_t stream) {
                             SUCCEED(cudaMemcpyAsync(other.data(), x.data(), x.bytes(),
                                                     cudaMemcpyDeviceToDevice, stream));
                             thrust::sort(thrust::cuda::par_nosync(kept).on(stream), other.data(),
                                          other.data() + n);
                         },
                         same});
    all.sides.push_back(
        {"CUB", with_memory([&, n](void *memory, size_t &bytes, cudaStream_t stream) {
             return cub::DeviceRadixSort::SortKeys(memory, bytes, x.data(), other.data(), (int)n, 0,
                                                   32, stream);
         }),
         same});
#endif
    (void)same;
    bool right = all.check(watch);
    if (right)
        all.measure(watch, limit);
    return right;
}

int main(int count, char **arguments)
{
    return run(count, arguments, "sort", 8 * sizeof(int32_t), at_size);
}
