/* A kernel that may fail: threads tell the first place where something is wrong, the host reads it
 * from pinned memory after an event. And filter, whose result has a length that only the device
 * knows. */
#include "sample.h"

enum { THREADS = 64 };

struct failure {
    unsigned long long first; /* index of the element; all bits if none has failed */
};

static __global__ void gather(int length, const int *index, int size, const int *data, int *result,
                              failure *failed)
{
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= length)
        return;
    if (index[i] < 0 || index[i] >= size) {
        atomicMin(&failed->first, (unsigned long long)i);
        return;
    }
    result[i] = data[index[i]];
}

/* Keeps even numbers, in any order: each warp asks for room once. */
static __global__ void keep_even(int length, const int *x, int *result, unsigned *kept)
{
    int i = (int)(blockIdx.x * THREADS + threadIdx.x), lane = (int)threadIdx.x % 32;
    bool keeps = i < length && x[i] % 2 == 0;
    unsigned all = __ballot_sync(0xffffffff, keeps), from = 0;
    if (lane == 0 && all != 0)
        from = atomicAdd(kept, (unsigned)__popc(all));
    from = __shfl_sync(0xffffffff, from, 0);
    if (keeps)
        result[from + (unsigned)__popc(all & ((1u << lane) - 1))] = x[i];
}

static void check_gather(int length, bool bad, cudaStream_t stream)
{
    std::vector<int> index(length), data = numbers(50);
    for (int i = 0; i < length; i++)
        index[i] = bad && i % 7 == 6 ? 50 + i : i % 50;
    int *device_index = to_device(index), *device_data = to_device(data);
    int *result = on_device<int>(length);
    failure *failed = on_device<failure>(1), *seen;
    cudaEvent_t event;
    DO(cudaMallocHost(&seen, sizeof *seen));
    DO(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    DO(cudaMemsetAsync(failed, 0xff, sizeof *failed, stream));
    DO(nova_put_launch(gather, blocks_for(length, THREADS), THREADS, 0, stream, length, device_index,
                   50, device_data, result, failed));
    DO(cudaMemcpyAsync(seen, failed, sizeof *seen, cudaMemcpyDeviceToHost, stream));
    DO(cudaEventRecord(event, stream));
    DO(cudaEventSynchronize(event));
    CHECK(seen->first == (bad && length > 6 ? 6 : ~0ull));
    std::vector<int> made = to_host(result, length);
    for (int i = 0; i < length; i++)
        CHECK(index[i] >= 50 || made[i] == data[index[i]]);
    DO(cudaEventDestroy(event));
    DO(cudaFreeHost(seen));
    DO(cudaFree(device_index));
    DO(cudaFree(device_data));
    DO(cudaFree(result));
    DO(cudaFree(failed));
}

static void check_filter(int length)
{
    std::vector<int> x = numbers(length), expected(100), found(100);
    int *device_x = to_device(x), *result = on_device<int>(length);
    unsigned *kept = on_device<unsigned>(1);
    DO(cudaMemset(kept, 0, sizeof *kept));
    DO(nova_put_launch(keep_even, blocks_for(length, THREADS), THREADS, 0, 0, length, device_x, result,
                   kept));
    for (int each : x)
        expected[each] += each % 2 == 0;
    for (int each : to_host(result, to_host(kept, 1)[0]))
        found[each]++;
    CHECK(found == expected);
    DO(cudaFree(device_x));
    DO(cudaFree(result));
    DO(cudaFree(kept));
}

int main(int count, char **arguments)
{
    cudaStream_t stream;
    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int length : lengths(count, arguments)) {
        check_gather(length, false, stream);
        check_gather(length, true, cudaStreamPerThread);
        check_filter(length);
    }
    DO(cudaStreamDestroy(stream));
    return 0;
}
