/* Kernels with a race, each beside its twin without: the emulation under ThreadSanitizer must
 * report the first and not the second. Usage: races NAME, or races NAME twin. */
#include "sample.h"

enum { THREADS = 64, BLOCKS = 4, CELLS = 1024 };

/* Neighbours' values are read before all have written theirs. */
template <bool racy> static __global__ void missing_barrier(int *x)
{
    NOVA_SHARED(int, own, THREADS);
    own[threadIdx.x] = (int)threadIdx.x;
    if (!racy)
        __syncthreads();
    x[blockIdx.x * THREADS + threadIdx.x] = own[(threadIdx.x + 1) % THREADS];
}

/* The next round's values are written before all have read this round's. */
template <bool racy> static __global__ void missing_second_barrier(int *x)
{
    NOVA_SHARED(int, own, THREADS);
    int value = (int)threadIdx.x;
    for (int round = 0; round < 3; round++) {
        own[threadIdx.x] = value;
        __syncthreads();
        value += own[THREADS - 1 - threadIdx.x];
        if (!racy)
            __syncthreads();
    }
    x[blockIdx.x * THREADS + threadIdx.x] = value;
}

/* Two blocks write one element. */
template <bool racy> static __global__ void shared_element(int *x)
{
    x[blockIdx.x * (THREADS - (racy ? 1 : 0)) + threadIdx.x] = 1;
}

/* Counts without atomic operations. */
template <bool racy> static __global__ void plain_histogram(int *x)
{
    if (racy)
        x[threadIdx.x % 5]++;
    else
        atomicAdd(&x[threadIdx.x % 5], 1);
}

/* All threads of a block add to one variable. */
template <bool racy> static __global__ void shared_sum(int *x)
{
    NOVA_SHARED(int, sum, 1);
    if (threadIdx.x == 0)
        sum[0] = 0;
    __syncthreads();
    if (racy)
        sum[0] += 1;
    else
        atomicAdd(&sum[0], 1);
    __syncthreads();
    x[blockIdx.x * THREADS + threadIdx.x] = sum[0];
}

/* A shuffle does not order what its lanes have written. */
template <bool racy> static __global__ void shuffle_as_barrier(int *x)
{
    NOVA_SHARED(int, own, THREADS);
    own[threadIdx.x] = (int)threadIdx.x;
    int other = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1);
    if (!racy)
        __syncwarp();
    x[blockIdx.x * THREADS + threadIdx.x] = own[other];
}

/* __syncwarp orders nothing between warps. */
template <bool racy> static __global__ void warp_as_block(int *x)
{
    NOVA_SHARED(int, own, THREADS);
    own[threadIdx.x] = (int)threadIdx.x;
    if (racy)
        __syncwarp();
    else
        __syncthreads();
    x[blockIdx.x * THREADS + threadIdx.x] = own[(threadIdx.x + 32) % THREADS];
}

/* A barrier orders nothing between blocks. */
template <bool racy> static __global__ void block_as_grid(int *x)
{
    x[blockIdx.x * THREADS + threadIdx.x] = 1;
    __syncthreads();
    unsigned other = racy ? (blockIdx.x + 1) % BLOCKS : blockIdx.x;
    x[512 + blockIdx.x * THREADS + threadIdx.x] = x[other * THREADS + (threadIdx.x + 1) % THREADS];
}

/* One block announces a value, the other waits for it: with every fence, or without one. */
enum { ALL, NO_WRITERS, NO_READERS, TOO_EARLY };
template <int fences> static __global__ void announce(int *x)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        if (fences == TOO_EARLY)
            __threadfence();
        x[1] = 42;
        if (fences == ALL || fences == NO_READERS)
            __threadfence();
        nova_store(&x[0], 1);
    } else if (blockIdx.x == 1) {
        while (nova_load(&x[0]) == 0)
            ;
        if (fences != NO_READERS)
            __threadfence();
        x[2] = x[1];
    }
}


/* The flag itself is read as if nobody could write it. */
template <bool racy> static __global__ void plain_flag(int *x)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        nova_store(&x[0], 1);
    if (threadIdx.x == 0 && blockIdx.x == 1)
        x[1] = racy ? x[0] : nova_load(&x[0]);
}

/* The block with the last ticket reads what the others have written before theirs. */
template <bool racy> static __global__ void last_block(int *x)
{
    NOVA_SHARED(int, ticket, 1);
    x[1 + blockIdx.x * THREADS + threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (!racy)
            __threadfence();
        ticket[0] = atomicAdd(&x[0], 1);
        __threadfence();
    }
    __syncthreads();
    if (ticket[0] == BLOCKS - 1)
        for (int block = 0; block < BLOCKS; block++)
            x[512 + threadIdx.x] += x[1 + block * THREADS + threadIdx.x];
}

#define PAIR(name) {#name, name<true>, name<false>}
static const struct {
    const char *name;
    void (*racy)(int *);
    void (*twin)(int *);
} CASES[] = {
    PAIR(missing_barrier),
    PAIR(missing_second_barrier),
    PAIR(shared_element),
    PAIR(plain_histogram),
    PAIR(shared_sum),
    PAIR(shuffle_as_barrier),
    PAIR(warp_as_block),
    PAIR(block_as_grid),
    {"no_fence_before_flag", announce<NO_WRITERS>, announce<ALL>},
    {"no_fence_after_flag", announce<NO_READERS>, announce<ALL>},
    {"fence_before_value", announce<TOO_EARLY>, announce<ALL>},
    PAIR(plain_flag),
    PAIR(last_block),
};

int main(int count, char **arguments)
{
    if (count < 2)
        for (const auto &each : CASES)
            printf("%s\n", each.name);
    for (const auto &each : CASES) {
        if (count < 2 || strcmp(each.name, arguments[1]) != 0)
            continue;
        int *x = on_device<int>(CELLS);
        DO(cudaMemset(x, 0, CELLS * sizeof *x));
        DO(nova_put_launch(count > 2 ? each.twin : each.racy, BLOCKS, THREADS, 0, 0, x));
        DO(cudaDeviceSynchronize());
        DO(cudaFree(x));
    }
    return 0;
}
