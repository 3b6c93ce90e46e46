/* Histograms: each block counts in shared memory of its own, as large as the launch asks for, then
 * adds to the result; and minima, which a compare-and-swap makes of any operator. */
#include "sample.h"

enum { THREADS = 128 };

static __global__ void count_values(int length, const int *x, int bins, unsigned *result)
{
    NOVA_DYNAMIC_SHARED(unsigned, own);
    for (int bin = (int)threadIdx.x; bin < bins; bin += THREADS)
        own[bin] = 0;
    __syncthreads();
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < length; i += gridDim.x * THREADS)
        atomicAdd(&own[x[i] % bins], 1u);
    __syncthreads();
    for (int bin = (int)threadIdx.x; bin < bins; bin += THREADS)
        if (own[bin] > 0)
            atomicAdd(&result[bin], own[bin]);
}

/* The least value and where it stands first, in one word. */
static __global__ void least(int length, const int *x, unsigned long long *result)
{
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= length)
        return;
    unsigned long long own = (unsigned long long)x[i] << 32 | (unsigned)i, seen = nova_load(result);
    while (own < seen) {
        unsigned long long found = atomicCAS(result, seen, own);
        if (found == seen)
            break;
        seen = found;
    }
}

int main(int count, char **arguments)
{
    for (int length : lengths(count, arguments))
        for (int bins : {1, 7, 100}) {
            std::vector<int> x = numbers(length);
            std::vector<unsigned> expected(bins);
            unsigned long long first = ~0ull;
            for (int i = 0; i < length; i++) {
                expected[x[i] % bins]++;
                unsigned long long own = (unsigned long long)x[i] << 32 | (unsigned)i;
                first = own < first ? own : first;
            }
            int *device_x = to_device(x);
            unsigned *result = on_device<unsigned>(bins);
            unsigned long long *place = on_device<unsigned long long>(1);
            DO(cudaMemset(result, 0, bins * sizeof *result));
            DO(cudaMemset(place, 0xff, sizeof *place));
            DO(nova_put_launch(count_values, blocks_for(length, 8 * THREADS), THREADS,
                           bins * sizeof(unsigned), 0, length, device_x, bins, result));
            CHECK(to_host(result, bins) == expected);
            DO(nova_put_launch(least, blocks_for(length, THREADS), THREADS, 0, 0, length, device_x,
                           place));
            CHECK(to_host(place, 1)[0] == first);
            DO(cudaFree(device_x));
            DO(cudaFree(result));
            DO(cudaFree(place));
        }
    return 0;
}
