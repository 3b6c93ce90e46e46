/* The even numbers of an array, in order: about a half. */
#include "filter.h"
#include "libraries.h"

using namespace benchmark;

/* What stays. */
struct is_even {
    __host__ __device__ bool operator()(int32_t x) const { return x % 2 == 0; }
};

static bool at_size(size_t n, const timer &watch, const copying &limit)
{
    array<int32_t> x(n), found(n), other(n);
    int64_t length = 0;
    fill(x, 0xffffu);
    contest all = {"filter", n, 0, {}};
    all.sides.push_back({"NOVA",
                         [&](cudaStream_t stream) {
                             int32_t *result = found.data();
                             length = (int64_t)n;
                             SUCCEED(filter_device(&length, &result, (int64_t)n, x.data(), stream));
                         },
                         [&] { return agree((double)length, 0.5 * (double)n, 0.5); }});
#ifndef NOVA_CUDA_EMULATION
    kept_memory kept;
    int64_t of_thrust = 0;
    all.sides.push_back({"Thrust",
                         [&](cudaStream_t stream) {
                             of_thrust = thrust::copy_if(thrust::cuda::par(kept).on(stream),
                                                         x.data(), x.data() + n, other.data(),
                                                         is_even())
                                         - other.data();
                         },
                         [&] {
                             return of_thrust == length && agree(other, found, (size_t)length);
                         }});
    array<int32_t> of_cub(1);
    all.sides.push_back(
        {"CUB", with_memory([&, n](void *memory, size_t &bytes, cudaStream_t stream) {
             return cub::DeviceSelect::If(memory, bytes, x.data(), other.data(), of_cub.data(),
                                          (int)n, is_even(), stream);
         }),
         [&] { return of_cub.at(0) == length && agree(other, found, (size_t)length); }});
#endif
    bool right = all.check(watch);
    if (right)
        all.measure(watch, limit);
    return right;
}

int main(int count, char **arguments)
{
    return run(count, arguments, "filter", 5 * sizeof(int32_t), at_size);
}
