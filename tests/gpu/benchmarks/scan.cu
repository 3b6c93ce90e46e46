/* Running sums of integers: limited by memory, 8 bytes for each, which single-pass scans read and write
 * once. CUB's is one of those (decoupled look-back), and what is best known. */
#include "libraries.h"
#include "scan.h"

using namespace benchmark;

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    array<int32_t> x(n), found(n), other(n);
    /* Sums of zeros and ones do not overflow. */
    fill(x, 1u);
    auto same = [&] { return agree(other, found, n); };
    contest all = {"scan", n, 8.0 * (double)n, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             int64_t length = (int64_t)n;
                             int32_t *result = found.data();
                             SUCCEED(scan_device(&length, &result, (int64_t)n, x.data(), stream));
                         },
                         [] { return true; }});
#ifndef NOVA_CUDA_EMULATION
    kept_memory kept;
    all.sides.push_back({"Thrust",
                         [&](cudaStream_t stream) {
                             thrust::inclusive_scan(thrust::cuda::par_nosync(kept).on(stream),
                                                    x.data(), x.data() + n, other.data());
                         },
                         same});
    all.sides.push_back(
        {"CUB", with_memory([&, n](void *memory, size_t &bytes, cudaStream_t stream) {
             return cub::DeviceScan::InclusiveSum(memory, bytes, x.data(), other.data(), (int)n,
                                                  stream);
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
    return run(count, arguments, "scan", 5 * sizeof(int32_t), at_size);
}
