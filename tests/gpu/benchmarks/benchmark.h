/* What the benchmarks share: arrays on the device, data that are made there, sides that do the same and are
 * timed in turn, the comparison of their results, and the rows of a table.
 *
 * A benchmark is a program of its own, called with the binary logarithms of sizes. For each size every side
 * runs once and its result is compared with NOVA's, the first side; a wrong result ends the benchmark with
 * status 1. Then all sides run in rounds, in an order that turns by one in each, all in one stream, timed by
 * events before and behind; a copy of a large array is timed in each round, too. Results go into buffers
 * that are there before. Ratios are made within a round.
 *
 * In the emulation of CUDA, which reads no libraries, only NOVA and what is written by hand take part. */
#ifndef NOVA_BENCHMARK_H
#define NOVA_BENCHMARK_H

#include "../../../runtime-c/cuda/kernel.h"
#include "../../../runtime-c/cuda/launch.h"
#include <algorithm>
#include <functional>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

/* Ends the benchmark unless a call gives 0, whatever library it is of. */
#define SUCCEED(call)                                                                              \
    do {                                                                                           \
        int code_of_call = (int)(call);                                                            \
        if (code_of_call != 0) {                                                                   \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code_of_call);       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

namespace benchmark
{

/* Threads of a block, and the blocks that a kernel of the benchmark has at most. */
constexpr int threads = 256;
constexpr int most_blocks = 65536;

/* Rounds for each size: as many as fit into so many seconds, between these. */
constexpr double seconds_of_rounds = 4;
constexpr int least_rounds = 5, most_rounds = 41;

/* Elements on the device, not initialised. */
template <typename T> class array
{
  public:
    explicit array(size_t count) : count_(count)
    {
        SUCCEED(cudaMalloc((void **)&data_, (count > 0 ? count : 1) * sizeof(T)));
    }
    ~array() { cudaFree(data_); }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    T *data() const { return data_; }
    size_t count() const { return count_; }
    size_t bytes() const { return count_ * sizeof(T); }
    /* One element, which the host waits for. */
    T at(size_t place) const
    {
        T value;
        SUCCEED(cudaMemcpy(&value, data_ + place, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }

  private:
    T *data_ = NULL;
    size_t count_;
};

/* A number without a pattern for each place. */
inline __device__ uint32_t hash(uint64_t place)
{
    place += 0x9e3779b97f4a7c15u;
    place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9u;
    place = (place ^ (place >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(place >> 32);
}

static __global__ void fill_integers(int32_t *x, int64_t count, uint32_t mask)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        x[i] = (int32_t)(hash((uint64_t)i) & mask);
}

static __global__ void fill_floats(float *x, int64_t count, uint64_t seed)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        x[i] = (float)(hash((uint64_t)i + seed) >> 8) * 0x1p-24f;
}

/* Counts the elements that differ by more than a part of their size. */
template <typename T>
static __global__ void count_differences(const T *a, const T *b, int64_t count, double tolerance,
                                         unsigned *found)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        double difference = fabs((double)a[i] - (double)b[i]);
        if (!(difference <= tolerance * fabs((double)b[i])))
            atomicAdd(found, 1u);
    }
}

/* Blocks whose threads share so many iterations. */
inline unsigned blocks_for(int64_t count)
{
    int64_t blocks = (count + threads - 1) / threads;
    return (unsigned)(blocks < 1 ? 1 : blocks < most_blocks ? blocks : most_blocks);
}

/* Blocks of a kernel that a device runs at the same time, and no more than have something to do. */
template <typename... Parameters>
unsigned resident_blocks(void (*kernel)(Parameters...), int64_t count)
{
    int device = 0, processors = 0, each = 0;
    SUCCEED(cudaGetDevice(&device));
    SUCCEED(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    SUCCEED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0));
    return std::min(blocks_for(count), (unsigned)(processors * each));
}

/* Fills an array with integers below a power of two. */
inline void fill(const array<int32_t> &x, uint32_t mask)
{
    SUCCEED(nova_put_launch(fill_integers, blocks_for((int64_t)x.count()), threads, 0, 0, x.data(),
                            (int64_t)x.count(), mask));
    SUCCEED(cudaDeviceSynchronize());
}

/* Fills an array with floats in [0, 1). */
inline void fill(const array<float> &x, uint64_t seed)
{
    SUCCEED(nova_put_launch(fill_floats, blocks_for((int64_t)x.count()), threads, 0, 0, x.data(),
                            (int64_t)x.count(), seed));
    SUCCEED(cudaDeviceSynchronize());
}

/* Whether so many first elements of two arrays agree, up to a part of their size. */
template <typename T>
bool agree(const array<T> &a, const array<T> &b, size_t count, double tolerance = 0)
{
    array<unsigned> found(1);
    SUCCEED(cudaMemset(found.data(), 0, sizeof(unsigned)));
    SUCCEED(nova_put_launch(count_differences<T>, blocks_for((int64_t)count), threads, 0, 0,
                            (const T *)a.data(), (const T *)b.data(), (int64_t)count, tolerance,
                            found.data()));
    SUCCEED(cudaDeviceSynchronize());
    return found.at(0) == 0;
}

/* Whether two numbers do. */
inline bool agree(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

/* What does the work: puts it into the stream, or does it before it returns; and whether its last result
 * is that of the first side. */
struct side {
    std::string name;
    std::function<void(cudaStream_t)> run;
    std::function<bool()> agrees;
};

/* The middle of some numbers, or another part of the way through them. */
inline double part_of(std::vector<double> numbers, double part)
{
    std::sort(numbers.begin(), numbers.end());
    return numbers.empty() ? 0 : numbers[(size_t)(part * (double)(numbers.size() - 1) + 0.5)];
}

/* Times operations of a stream in milliseconds. */
class timer
{
  public:
    timer()
    {
        SUCCEED(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        SUCCEED(cudaEventCreate(&begin_));
        SUCCEED(cudaEventCreate(&end_));
    }
    ~timer()
    {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
        cudaStreamDestroy(stream_);
    }
    timer(const timer &) = delete;
    timer &operator=(const timer &) = delete;
    cudaStream_t stream() const { return stream_; }
    double time(const std::function<void(cudaStream_t)> &run) const
    {
        float milliseconds = 0;
        SUCCEED(cudaStreamSynchronize(stream_));
        SUCCEED(cudaEventRecord(begin_, stream_));
        run(stream_);
        SUCCEED(cudaEventRecord(end_, stream_));
        SUCCEED(cudaEventSynchronize(end_));
        SUCCEED(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return milliseconds;
    }

  private:
    cudaStream_t stream_ = NULL;
    cudaEvent_t begin_ = NULL, end_ = NULL;
};

/* A copy on the device of as much as the caches do not hold, or less where there is little memory: the
 * bytes that it reads and writes in a second are what others are compared with. */
class copying
{
  public:
    explicit copying(size_t bytes) : from_(bytes), to_(bytes)
    {
        SUCCEED(cudaMemset(from_.data(), 1, bytes));
        SUCCEED(cudaMemset(to_.data(), 2, bytes));
    }
    double bandwidth(const timer &watch) const
    {
        double milliseconds = watch.time([this](cudaStream_t stream) {
            SUCCEED(cudaMemcpyAsync(to_.data(), from_.data(), from_.bytes(),
                                    cudaMemcpyDeviceToDevice, stream));
        });
        return 2 * (double)from_.bytes() / (milliseconds * 1e-3);
    }

  private:
    array<char> from_, to_;
};

/* The sides of a benchmark at one size. What they must at least read and write is counted in bytes; 0: no
 * limit is known that way. */
struct contest {
    const char *name;
    size_t elements;
    double bytes;
    std::vector<side> sides;

    /* Runs each side once; false, and a message, if one is wrong. The first one is NOVA. */
    bool check(const timer &watch) const
    {
        bool right = true;
        for (const side &each : sides) {
            each.run(watch.stream());
            SUCCEED(cudaStreamSynchronize(watch.stream()));
            if (!each.agrees()) {
                fprintf(stderr, "%s, %zu elements: %s and NOVA disagree\n", name, elements,
                        each.name.c_str());
                right = false;
            }
        }
        return right;
    }

    /* Times all sides in turn; prints a row for each. */
    void measure(const timer &watch, const copying &limit) const
    {
        size_t count = sides.size();
        std::vector<std::vector<double>> times(count), ratios(count), parts(count);
        double round_time = 0;
        for (const side &each : sides)
            round_time += watch.time(each.run) * 1e-3;
        int rounds = (int)std::min<double>(most_rounds, seconds_of_rounds / (round_time + 1e-3));
        rounds = std::max(rounds, least_rounds);
        for (int round = 0; round < rounds; round++) {
            std::vector<double> now(count);
            double bandwidth = limit.bandwidth(watch);
            for (size_t k = 0; k < count; k++) {
                size_t turn = (k + (size_t)round) % count;
                now[turn] = watch.time(sides[turn].run);
            }
            for (size_t k = 0; k < count; k++) {
                times[k].push_back(now[k]);
                ratios[k].push_back(now[0] / now[k]);
                parts[k].push_back(bytes / (now[k] * 1e-3) / bandwidth);
            }
        }
        for (size_t k = 0; k < count; k++)
            print_row(sides[k].name, times[k], ratios[k], parts[k]);
    }

  private:
    void print_row(const std::string &side_name, const std::vector<double> &times,
                   const std::vector<double> &ratios, const std::vector<double> &parts) const
    {
        printf("| %s | 2^%.0f | %s | %.4f | ", name, log2((double)elements), side_name.c_str(),
               part_of(times, 0.5));
        printf("%.2f | %.2f–%.2f | ", part_of(ratios, 0.5), part_of(ratios, 0.25),
               part_of(ratios, 0.75));
        if (bytes > 0)
            printf("%.0f %% | ", 100 * part_of(parts, 0.5));
        else
            printf("| ");
        printf("%zu |\n", times.size());
        fflush(stdout);
    }
};

/* Bytes of memory that are free. */
inline size_t free_memory()
{
    size_t available = 0, total = 0;
    SUCCEED(cudaMemGetInfo(&available, &total));
    return available;
}

/* Runs a benchmark for each size on the command line for which there is memory: so many bytes for each
 * element, all sides together. */
inline int run(int count, char **arguments, const char *name, size_t bytes_each,
               const std::function<bool(size_t, const timer &, const copying &)> &at_size)
{
    bool right = true;
    for (int k = 1; k < count; k++) {
        int logarithm = atoi(arguments[k]);
        if (logarithm < 5 || logarithm > 40) {
            fprintf(stderr, "usage: %s LOGARITHM...\n", arguments[0]);
            return 2;
        }
        size_t elements = (size_t)1 << logarithm;
        size_t copied = std::min<size_t>((size_t)1 << 30, free_memory() / 16);
        if (free_memory() < 2 * copied + elements * bytes_each) {
            fprintf(stderr, "%s: no memory for 2^%d elements\n", name, logarithm);
            continue;
        }
        timer watch;
        copying limit(copied);
        right = at_size(elements, watch, limit) && right;
    }
    return right ? 0 : 1;
}

} // namespace benchmark

#endif
