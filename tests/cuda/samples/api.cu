/* The API of the emulation: devices, memory and its limit, streams that are late, events, failures
 * of every call, orders. Only for the emulation, which it sets up in many ways. */
#include "sample.h"
#include <algorithm>

static uint64_t in_use()
{
    return nova_emulation_count("allocations") + nova_emulation_count("pinned") +
           nova_emulation_count("streams") + nova_emulation_count("events");
}

static __global__ void add_one(int *x, int count)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        x[i]++;
}

static void devices()
{
    int count = -1;
    void *data = NULL;
    nova_emulation_set("DEVICES", "0");
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
    CHECK(cudaMalloc(&data, 4) == cudaErrorNoDevice && cudaGetLastError() == cudaErrorNoDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(strcmp(cudaGetErrorName(cudaErrorNoDevice), "cudaErrorNoDevice") == 0);
    nova_emulation_set("DEVICES", "2");
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 2);
    CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
    DO(cudaSetDevice(1));
    DO(cudaGetDevice(&count));
    CHECK(count == 1);
    cudaDeviceProp properties;
    DO(cudaGetDeviceProperties(&properties, 1));
    DO(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 1));
    CHECK(properties.multiProcessorCount == count && properties.warpSize == 32);
    DO(cudaSetDevice(0));
    nova_emulation_set("DEVICES", "1");
    cudaGetLastError();
}

static void memory()
{
    char *a, *b;
    nova_emulation_set("MEMORY", "1000000");
    DO(cudaMalloc(&a, 600000));
    CHECK((uintptr_t)a % 256 == 0);
    CHECK(cudaMalloc(&b, 600000) == cudaErrorMemoryAllocation && b == NULL);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    size_t available, total;
    DO(cudaMemGetInfo(&available, &total));
    CHECK(available == 400000 && total == 1000000);
    std::vector<char> seen(1000, 0);
    DO(cudaMemcpy(seen.data(), a, 1000, cudaMemcpyDeviceToHost));
    CHECK(std::count(seen.begin(), seen.end(), 0) == 0);
    cudaError_t outside = cudaMemcpy(seen.data(), a + 599001, 1000, cudaMemcpyDeviceToHost);
    cudaError_t of_the_host = cudaMemcpy(a, seen.data(), 10, cudaMemcpyDeviceToDevice);
    CHECK(outside == cudaErrorInvalidValue && of_the_host == cudaErrorInvalidValue);
    CHECK(cudaMemset(seen.data(), 0, 10) == cudaErrorInvalidValue);
    cudaPointerAttributes attributes;
    DO(cudaPointerGetAttributes(&attributes, a + 5));
    CHECK(attributes.type == cudaMemoryTypeDevice);
    DO(cudaPointerGetAttributes(&attributes, seen.data()));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaFree(a + 1) == cudaErrorInvalidValue);
    DO(cudaFree(a));
    CHECK(cudaFree(a) == cudaErrorInvalidValue);
    DO(cudaFree(NULL));
    cudaGetLastError();
    nova_emulation_set("MEMORY", "1073741824");
}

/* A result is there when somebody has waited for it, and not before. */
static void late_streams()
{
    nova_emulation_set("STREAMS", "lazy");
    cudaStream_t first, second;
    cudaEvent_t event;
    int *pinned, *x, pageable[100];
    DO(cudaStreamCreate(&first));
    DO(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    DO(cudaEventCreate(&event));
    DO(cudaMallocHost(&pinned, sizeof pageable));
    DO(cudaMallocAsync(&x, sizeof pageable, first));
    std::fill(pageable, pageable + 100, 5);
    DO(cudaMemcpyAsync(x, pageable, sizeof pageable, cudaMemcpyHostToDevice, first));
    std::fill(pageable, pageable + 100, 0);
    DO(nova_put_launch(add_one, 4, 32, 0, first, x, 100));
    DO(cudaEventRecord(event, first));
    DO(cudaStreamWaitEvent(second, event));
    DO(cudaMemcpyAsync(pinned, x, sizeof pageable, cudaMemcpyDeviceToHost, second));
    CHECK(nova_emulation_count("launches") == 0 && pinned[0] != 6);
    CHECK(cudaStreamQuery(second) == cudaErrorNotReady && cudaPeekAtLastError() == cudaSuccess);
    CHECK(nova_emulation_count("launches") == 1);
    uint64_t waits = nova_emulation_count("waits"), to_host = nova_emulation_count("to host");
    DO(cudaStreamSynchronize(second));
    CHECK(std::count(pinned, pinned + 100, 6) == 100);
    CHECK(nova_emulation_count("waits") == waits + 1);
    /* What is read from pinned memory is read late. */
    DO(cudaMemcpyAsync(x, pinned, sizeof pageable, cudaMemcpyHostToDevice, first));
    std::fill(pinned, pinned + 100, 7);
    DO(cudaMemcpy(pageable, x, sizeof pageable, cudaMemcpyDeviceToHost));
    CHECK(std::count(pageable, pageable + 100, 7) == 100);
    CHECK(nova_emulation_count("waits") == waits + 2);
    CHECK(nova_emulation_count("to host") == to_host + sizeof pageable);
    DO(cudaFreeAsync(x, first));
    CHECK(nova_emulation_count("allocations") == 1);
    DO(cudaDeviceSynchronize());
    CHECK(nova_emulation_count("allocations") == 0);
    DO(cudaFreeHost(pinned));
    DO(cudaEventDestroy(event));
    DO(cudaStreamDestroy(first));
    DO(cudaStreamDestroy(second));
    nova_emulation_set("STREAMS", "eager");
}

/* A host that gives up when a call fails, and gives back what it has; 0 if none fails. */
static int careful_host()
{
    int *x = NULL, *pinned = NULL, seen[64] = {};
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    bool done = cudaStreamCreate(&stream) == cudaSuccess && cudaMalloc(&x, 256) == cudaSuccess &&
                cudaMallocHost(&pinned, 256) == cudaSuccess &&
                cudaEventCreate(&event) == cudaSuccess &&
                cudaMemsetAsync(x, 0, 256, stream) == cudaSuccess &&
                nova_put_launch(add_one, 2, 32, 0, stream, x, 64) == cudaSuccess &&
                cudaMemcpyAsync(pinned, x, 256, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
                cudaEventRecord(event, stream) == cudaSuccess &&
                cudaEventSynchronize(event) == cudaSuccess &&
                cudaMemcpy(seen, x, 256, cudaMemcpyDeviceToHost) == cudaSuccess &&
                cudaDeviceSynchronize() == cudaSuccess;
    CHECK(!done || (seen[0] == 1 && pinned[63] == 1));
    if (event != NULL && cudaEventDestroy(event) != cudaSuccess)
        done = false;
    if (stream != NULL && cudaStreamDestroy(stream) != cudaSuccess)
        done = false;
    if (cudaFree(x) != cudaSuccess)
        done = false;
    if (cudaFreeHost(pinned) != cudaSuccess)
        done = false;
    return done ? 0 : 1;
}

static void failures()
{
    uint64_t before = in_use();
    for (const char *rest : {"", "+"}) {
        int call = 1;
        for (;; call++) {
            char setting[32];
            snprintf(setting, sizeof setting, "%d%s", call, rest);
            nova_emulation_set("FAIL", setting);
            int failed = careful_host();
            CHECK(in_use() == before);
            if (!failed)
                break;
        }
        CHECK(call == 16);
    }
    nova_emulation_set("FAIL", "0");
}

static __global__ void trapped(int *x)
{
    if (threadIdx.x == 3)
        __trap();
    __syncthreads();
    x[0] = 1;
}

/* Extents and memory that a launch may not have. */
static void launches()
{
    int *x = on_device<int>(1);
    CHECK(nova_put_launch(add_one, 0, 32, 0, 0, x, 0) == cudaErrorInvalidConfiguration);
    CHECK(nova_put_launch(add_one, 1, 1025, 0, 0, x, 0) == cudaErrorInvalidConfiguration);
    CHECK(nova_put_launch(add_one, dim3(1, 65536), 1, 0, 0, x, 0) == cudaErrorInvalidConfiguration);
    CHECK(nova_put_launch(add_one, 1, 1, 100000, 0, x, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    DO(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    DO(nova_put_launch(add_one, 1, 1, 100000, 0, x, 0));
    int blocks = 0;
    DO(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 128, 0));
    CHECK(blocks == 1);
    DO(cudaFree(x));
}

/* The numbers of blocks in the order in which their first threads come by. */
static __global__ void enlist(int *place, int *order)
{
    if (threadIdx.x == 0)
        order[atomicAdd(place, 1)] = (int)blockIdx.x;
}

static std::vector<int> order_of_blocks(const char *order, const char *seed)
{
    nova_emulation_set("ORDER", order);
    nova_emulation_set("SEED", seed);
    int *list = on_device<int>(51);
    DO(cudaMemset(list, 0, 51 * sizeof(int)));
    DO(nova_put_launch(enlist, 50, 33, 0, 0, list, list + 1));
    std::vector<int> found = to_host(list + 1, 50);
    DO(cudaFree(list));
    return found;
}

static void orders()
{
    std::vector<int> up(50), down(50);
    for (int i = 0; i < 50; i++) {
        up[i] = i;
        down[i] = 49 - i;
    }
    CHECK(order_of_blocks("ascending", "1") == up && order_of_blocks("descending", "1") == down);
    std::vector<int> first = order_of_blocks("random", "1");
    std::vector<int> second = order_of_blocks("random", "2");
    std::vector<int> mixed = order_of_blocks("interleaved", "1");
    CHECK(first != up && first != down && first != second && mixed != first);
    for (std::vector<int> each : {first, second, mixed})
        CHECK(std::is_permutation(each.begin(), each.end(), up.begin()));
    nova_emulation_set("ORDER", "random");
}

static void traps()
{
    int *x = on_device<int>(1);
    nova_put_launch(trapped, 2, 32, 0, 0, x);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cudaMemset(x, 0, 4) == cudaErrorLaunchFailure);
    CHECK(cudaFree(x) == cudaErrorLaunchFailure);
}

int main(void)
{
    CHECK(nova_emulation_set("COLOUR", "blue") != 0);
    devices();
    memory();
    late_streams();
    failures();
    launches();
    orders();
    CHECK(in_use() == 0);
    traps();
    return 0;
}
