/* What benchmarks use of Thrust and CUB: memory that algorithms take for a while, made before they are
 * timed, so that no allocation is. */
#ifndef NOVA_BENCHMARK_LIBRARIES_H
#define NOVA_BENCHMARK_LIBRARIES_H

#include "benchmark.h"

#ifndef NOVA_CUDA_EMULATION
#include <cub/cub.cuh>
#include <memory>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

namespace benchmark
{

/* An algorithm of CUB, which says at its first call how much memory it needs, with that memory. */
template <typename Call> std::function<void(cudaStream_t)> with_memory(Call call)
{
    size_t bytes = 0;
    SUCCEED(call(NULL, bytes, (cudaStream_t)0));
    auto memory = std::make_shared<array<char>>(bytes);
    return [=](cudaStream_t stream) {
        size_t room = memory->bytes();
        SUCCEED(call(memory->data(), room, stream));
    };
}

/* An allocator for Thrust that keeps what is given back. */
class kept_memory
{
  public:
    typedef char value_type;
    char *allocate(std::ptrdiff_t bytes)
    {
        for (piece &each : *pieces_)
            if (!each.used && each.memory->count() >= (size_t)bytes) {
                each.used = true;
                return each.memory->data();
            }
        pieces_->push_back({std::make_shared<array<char>>((size_t)bytes), true});
        return pieces_->back().memory->data();
    }
    void deallocate(char *data, size_t)
    {
        for (piece &each : *pieces_)
            if (each.memory->data() == data)
                each.used = false;
    }

  private:
    struct piece {
        std::shared_ptr<array<char>> memory;
        bool used;
    };
    std::shared_ptr<std::vector<piece>> pieces_ = std::make_shared<std::vector<piece>>();
};

} // namespace benchmark
#endif

#endif
