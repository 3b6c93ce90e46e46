/* Work-groups that propagate prefixes in ordered regions, as generated kernels do: each iteration gets
 * the combination of all earlier ones, whatever groups run at a time. */
#define NOVA_BLOCK_SIZE 64
#include "threads.h"
#include <string.h>
#include "../../../runtime-c/cuda/ordered.h"

enum { THREADS = NOVA_BLOCK_SIZE };

static __device__ int64_t sum(int64_t a, int64_t b)
{
    return a + b;
}

static __device__ float most(float a, float b)
{
    return a < b ? b : a;
}

static __device__ uint8_t parity(uint8_t a, uint8_t b)
{
    return (uint8_t)(a ^ b);
}

/* Each iteration adds the numbers of its row, then propagates three prefixes in its ordered region.
 * Later iterations read after their ordered regions what its threads have written before its own. */
static __global__ void propagate(int64_t count, int64_t row, const int *x, uint64_t *words,
                                 int64_t *sums, float *greatest, uint8_t *parities,
                                 int64_t *first_sums, float *first_greatest,
                                 uint8_t *first_parities, int64_t *left, int64_t *seen)
{
    for (;;) {
        int64_t i = nova_take_ticket(words);
        if (i >= count)
            break;
        NOVA_SHARED(int64_t, all, THREADS);
        int64_t of_thread = 0, own = 0;
        NOVA_LOCAL_LOOP(k, row)
            of_thread += x[i * row + k];
        __syncthreads();
        all[threadIdx.x] = of_thread;
        __syncthreads();
        for (int k = 0; k < THREADS; k++)
            own += all[k];
        left[i * THREADS + threadIdx.x] = own + threadIdx.x;
        int64_t before = nova_propagate_prefix(words, i, count, 0, sums, own, sum);
        if (threadIdx.x == 0)
            seen[i] = i == 0 ? 0 : left[i * THREADS - 1];
        float greater = nova_propagate_prefix(words, i, count, 1, greatest, (float)(own % 1000), most);
        uint8_t odd = nova_propagate_prefix(words, i, count, 2, parities, (uint8_t)own, parity);
        if (threadIdx.x == 0) {
            first_sums[i] = before;
            first_greatest[i] = greater;
            first_parities[i] = odd;
        }
    }
}

static void check(int count, int row, int blocks)
{
    std::vector<int> x = numbers((size_t)count * row);
    std::vector<int64_t> start = {1000};
    std::vector<float> least = {-1};
    std::vector<uint8_t> even = {0};
    int *device_x = to_device(x);
    uint64_t *words = on_device<uint64_t>(1 + 3 * NOVA_ORDERED_WORDS * (size_t)count);
    int64_t *sums = to_device(start), *first_sums = on_device<int64_t>(count);
    float *greatest = to_device(least), *first_greatest = on_device<float>(count);
    uint8_t *parities = to_device(even), *first_parities = on_device<uint8_t>(count);
    int64_t *left = on_device<int64_t>((size_t)count * THREADS), *seen = on_device<int64_t>(count);
    DO(cudaMemset(words, 0, (1 + 3 * NOVA_ORDERED_WORDS * (size_t)count) * sizeof *words));
    DO(nova_put_launch(propagate, blocks, THREADS, 0, 0, (int64_t)count, (int64_t)row, device_x, words,
                       sums, greatest, parities, first_sums, first_greatest, first_parities,
                       left, seen));
    std::vector<int64_t> made = to_host(first_sums, count);
    std::vector<float> made_greatest = to_host(first_greatest, count);
    std::vector<uint8_t> made_parities = to_host(first_parities, count);
    std::vector<int64_t> made_seen = to_host(seen, count);
    int64_t all = 1000, last = 0;
    float greater = -1;
    uint8_t odd = 0;
    for (int i = 0; i < count; i++) {
        CHECK(made[i] == all && made_greatest[i] == greater && made_parities[i] == odd);
        CHECK(made_seen[i] == last);
        int64_t own = 0;
        for (int k = 0; k < row; k++)
            own += x[(size_t)i * row + k];
        last = own + THREADS - 1;
        all += own;
        greater = greater < (float)(own % 1000) ? (float)(own % 1000) : greater;
        odd = (uint8_t)(odd ^ own);
    }
    CHECK(to_host(sums, 1)[0] == all && to_host(greatest, 1)[0] == greater);
    CHECK(to_host(parities, 1)[0] == odd);
    DO(cudaFree(device_x));
    DO(cudaFree(words));
    DO(cudaFree(sums));
    DO(cudaFree(greatest));
    DO(cudaFree(parities));
    DO(cudaFree(first_sums));
    DO(cudaFree(first_greatest));
    DO(cudaFree(first_parities));
    DO(cudaFree(left));
    DO(cudaFree(seen));
}

int main(int count, char **arguments)
{
    for (int length : lengths(count, arguments)) {
        int tiles = length / 33;
        if (tiles == 0 || tiles > 200)
            continue;
        for (int blocks : {1, 7, tiles})
            check(tiles, 33, blocks);
    }
    check(1, 1, 3);
    return 0;
}
