/* Sums: within warps by shuffles, of warps in shared memory, of blocks by a second kernel or by the
 * block that comes last, always in the same order. */
#include "sample.h"

enum { THREADS = 128 };

static __device__ double add_warp(double sum)
{
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    return sum;
}

/* The sum of what all threads of the block have; for its first thread. */
static __device__ double add_block(double sum)
{
    NOVA_SHARED(double, warps, THREADS / 32);
    sum = add_warp(sum);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32)
        sum = add_warp(threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : 0.0);
    return sum;
}

static __global__ void add_parts(int length, const double *x, double *parts)
{
    double sum = 0.0;
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < length; i += gridDim.x * THREADS)
        sum += x[i];
    sum = add_block(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

/* As add_parts, but whoever draws the last ticket adds all parts. */
static __global__ void add_all(int length, const double *x, double *parts, unsigned *tickets,
                               double *result)
{
    NOVA_SHARED(bool, is_last, 1);
    double sum = 0.0;
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < length; i += gridDim.x * THREADS)
        sum += x[i];
    sum = add_block(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        is_last[0] = atomicAdd(tickets, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last[0])
        return;
    sum = 0.0;
    for (int i = (int)threadIdx.x; i < (int)gridDim.x; i += THREADS)
        sum += parts[i];
    sum = add_block(sum);
    if (threadIdx.x == 0)
        *result = sum;
}

int main(int count, char **arguments)
{
    for (int length : lengths(count, arguments)) {
        std::vector<double> x(length);
        double expected = 0.0;
        for (int i = 0; i < length; i++)
            expected += x[i] = (double)(i % 1000);
        int blocks = blocks_for(length, 4 * THREADS);
        double *device_x = to_device(x), *parts = on_device<double>(blocks);
        double *result = on_device<double>(1);
        unsigned *tickets = on_device<unsigned>(1);
        DO(nova_put_launch(add_parts, blocks, THREADS, 0, 0, length, device_x, parts));
        DO(nova_put_launch(add_parts, 1, THREADS, 0, 0, blocks, (const double *)parts, result));
        CHECK(to_host(result, 1)[0] == expected);
        DO(cudaMemset(tickets, 0, sizeof *tickets));
        DO(cudaMemset(result, 0xff, sizeof *result));
        DO(nova_put_launch(add_all, blocks, THREADS, 0, 0, length, device_x, parts, tickets, result));
        CHECK(to_host(result, 1)[0] == expected);
        DO(cudaFree(device_x));
        DO(cudaFree(parts));
        DO(cudaFree(result));
        DO(cudaFree(tickets));
    }
    return 0;
}
