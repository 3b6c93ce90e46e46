/* Running sums: in three phases, and in a single pass in which each tile looks back at those before
 * it (decoupled look-back, Merrill and Garland 2016), tiles handed out by tickets. */
#include "sample.h"

enum { THREADS = 128 };

/* The running sums of what the threads of a block have; the sum of all in *total. */
static __device__ int scan_block(int value, int *total)
{
    NOVA_SHARED(int, warps, THREADS / 32);
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance)
            value += before;
    }
    if (lane == 31)
        warps[warp] = value;
    __syncthreads();
    int before = 0, all = 0;
    for (int i = 0; i < THREADS / 32; i++) {
        before += i < warp ? warps[i] : 0;
        all += warps[i];
    }
    __syncthreads();
    *total = all;
    return value + before;
}

static __global__ void scan_tiles(int length, const int *x, int *result, int *totals)
{
    int i = (int)(blockIdx.x * THREADS + threadIdx.x), total;
    int sum = scan_block(i < length ? x[i] : 0, &total);
    if (i < length)
        result[i] = sum;
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

/* One block; totals become what stands before each. */
static __global__ void scan_totals(int count, int *totals)
{
    int before = 0;
    for (int first = 0; first < count; first += THREADS) {
        int i = first + (int)threadIdx.x, all;
        int own = i < count ? totals[i] : 0;
        int sum = scan_block(own, &all);
        if (i < count)
            totals[i] = before + sum - own;
        before += all;
    }
}

static __global__ void add_totals(int length, const int *totals, int *result)
{
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < length)
        result[i] += totals[blockIdx.x];
}

/* What is known of a tile: nothing, its own sum, the sum up to its end. */
enum { NOTHING, OWN, INCLUSIVE };

/* The sum of all tiles before this one; by one thread. */
static __device__ int look_back(int tile, const unsigned *states, const int *own,
                                const int *inclusive)
{
    int sum = 0;
    for (int i = tile - 1; i >= 0; i--) {
        unsigned state;
        do
            state = nova_load(&states[i]);
        while (state == NOTHING);
        __threadfence();
        if (state == INCLUSIVE)
            return sum + inclusive[i];
        sum += own[i];
    }
    return sum;
}

static __global__ void scan_once(int length, const int *x, int *result, unsigned *ticket,
                                 unsigned *states, int *own, int *inclusive)
{
    NOVA_SHARED(int, shared, 2);
    if (threadIdx.x == 0)
        shared[0] = (int)atomicAdd(ticket, 1u);
    __syncthreads();
    int tile = shared[0], i = tile * THREADS + (int)threadIdx.x, total;
    int sum = scan_block(i < length ? x[i] : 0, &total);
    if (threadIdx.x == 0) {
        own[tile] = total;
        __threadfence();
        nova_store(&states[tile], (unsigned)OWN);
        int before = look_back(tile, states, own, inclusive);
        inclusive[tile] = before + total;
        __threadfence();
        nova_store(&states[tile], (unsigned)INCLUSIVE);
        shared[1] = before;
    }
    __syncthreads();
    if (i < length)
        result[i] = shared[1] + sum;
}

static void check(const std::vector<int> &x, const int *result)
{
    std::vector<int> made = to_host(result, x.size());
    int sum = 0;
    for (size_t i = 0; i < x.size(); i++)
        CHECK(made[i] == (sum += x[i]));
}

int main(int count, char **arguments)
{
    for (int length : lengths(count, arguments)) {
        std::vector<int> x = numbers(length);
        int tiles = blocks_for(length, THREADS);
        int *device_x = to_device(x), *result = on_device<int>(length);
        int *own = on_device<int>(tiles), *inclusive = on_device<int>(tiles);
        unsigned *states = on_device<unsigned>(tiles + 1);
        DO(nova_put_launch(scan_tiles, tiles, THREADS, 0, 0, length, device_x, result, own));
        DO(nova_put_launch(scan_totals, 1, THREADS, 0, 0, tiles, own));
        DO(nova_put_launch(add_totals, tiles, THREADS, 0, 0, length, own, result));
        check(x, result);
        DO(cudaMemset(result, 0xff, length * sizeof *result));
        DO(cudaMemset(states, 0, (tiles + 1) * sizeof *states));
        DO(nova_put_launch(scan_once, tiles, THREADS, 0, 0, length, device_x, result, states + tiles,
                       states, own, inclusive));
        check(x, result);
        DO(cudaFree(device_x));
        DO(cudaFree(result));
        DO(cudaFree(own));
        DO(cudaFree(inclusive));
        DO(cudaFree(states));
    }
    return 0;
}
