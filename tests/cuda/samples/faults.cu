/* Programs that are wrong, each in one way, for which the emulation has a message.
 * Usage: faults NAME; without a name, all of them are listed. */
#include "sample.h"

enum { THREADS = 64 };

static __global__ void fill(int *x, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        x[i] = i;
}

static void host_reads(int *x)
{
    printf("%d\n", *(volatile int *)x);
}

static void host_writes(int *x)
{
    *(volatile int *)x = 1;
}

static void freed(int *x)
{
    int *gone = on_device<int>(10);
    DO(cudaFree(gone));
    nova_put_launch(fill, 1, THREADS, 0, 0, gone, 10);
    (void)x;
}

static void far_outside(int *x)
{
    nova_put_launch(fill, 1, THREADS, 0, 0, x, 3000);
}

static void just_outside(int *x)
{
    nova_put_launch(fill, 1, THREADS, 0, 0, x + 1, 10);
}

static void host_pointer(int *)
{
    std::vector<int> mine(10);
    nova_put_launch(fill, 1, THREADS, 0, 0, mine.data(), 10);
}

static void other_device(int *x)
{
    nova_emulation_set("DEVICES", "2");
    DO(cudaSetDevice(1));
    nova_put_launch(fill, 1, THREADS, 0, 0, x, 10);
}

static __global__ void two_barriers(int *x)
{
    if (threadIdx.x < 33)
        __syncthreads();
    else
        __syncthreads();
    x[0] = 1;
}

static void barrier_divergence(int *x)
{
    nova_put_launch(two_barriers, 2, THREADS, 0, 0, x);
}

static __global__ void early(int *x)
{
    if (threadIdx.x == 5)
        return;
    __syncthreads();
    if (threadIdx.x == 6)
        x[0] = 1;
}

static void early_exit(int *x)
{
    nova_put_launch(early, 1, THREADS, 0, 0, x);
}

static __global__ void half_a_warp(int *x)
{
    int all = threadIdx.x < 16 ? __shfl_sync(0xffffffff, 1, 0) : __any_sync(0xffffffff, 1);
    x[threadIdx.x] = all;
}

static void warp_divergence(int *x)
{
    nova_put_launch(half_a_warp, 1, 10, 0, 0, x);
    nova_put_launch(half_a_warp, 1, 32, 0, 0, x);
}

static __global__ void wrong_mask(int *x)
{
    x[0] = __shfl_sync(0x7fffffff, 1, 0);
}

static void mask_without_lane(int *x)
{
    nova_put_launch(wrong_mask, 1, 32, 0, 0, x);
}

static __global__ void barrier_and_warp(int *x)
{
    if (threadIdx.x == 0)
        __syncthreads();
    else
        __syncwarp();
    x[0] = 1;
}

static void mixed_meetings(int *x)
{
    nova_put_launch(barrier_and_warp, 1, 32, 0, 0, x);
}

/* A barrier for the whole grid, which needs all blocks resident. */
static __global__ void meet(int *x)
{
    atomicAdd(x, 1);
    while (nova_load(x) < (int)gridDim.x)
        ;
}

static void too_many_blocks(int *x)
{
    DO(cudaMemset(x, 0, sizeof *x));
    nova_put_launch(meet, 100, 1, 0, 0, x);
}

static __global__ void wait_for_ever(const int *x)
{
    while (nova_load(x) != 1)
        ;
}

static void nobody_writes(int *x)
{
    nova_put_launch(wait_for_ever, 2, 2, 0, 0, x);
}

static __global__ void wait_blindly(const volatile int *x)
{
    while (*x != 1)
        ;
}

static void blind_wait(int *x)
{
    nova_put_launch(wait_blindly, 1, 1, 0, 0, x);
}

static __device__ int descend(int depth)
{
    volatile char frame[256];
    frame[0] = (char)depth;
    return depth == 0 ? 0 : descend(depth - 1) + frame[0];
}

static __global__ void deep(int *x, int depth)
{
    x[0] = descend(depth);
}

static void full_stack(int *x)
{
    nova_put_launch(deep, 1, 1, 0, 0, x, 100000);
}

static __global__ void much_shared(int *x)
{
    NOVA_SHARED(int, a, 10000);
    NOVA_SHARED(int, b, 10000);
    a[threadIdx.x] = b[threadIdx.x] = x[0];
}

static void shared_too_large(int *x)
{
    nova_put_launch(much_shared, 1, 1, 0, 0, x);
}

static __global__ void two_arrays(int *x)
{
    NOVA_SHARED(int, a, 8);
    NOVA_SHARED(int, b, 8);
    b[0] = 1;
    a[8 + x[0] * 0] = 2;
    x[0] = b[0];
}

/* Only AddressSanitizer sees that one array of shared memory is used as another. */
static void outside_shared(int *x)
{
    nova_put_launch(two_arrays, 1, 1, 0, 0, x);
}

static void kernel_function_on_host(int *)
{
    __syncthreads();
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(int *x);
} CASES[] = {
    CASE(host_reads), CASE(host_writes), CASE(freed), CASE(far_outside), CASE(just_outside),
    CASE(host_pointer), CASE(other_device), CASE(barrier_divergence), CASE(early_exit),
    CASE(warp_divergence), CASE(mask_without_lane), CASE(mixed_meetings), CASE(too_many_blocks),
    CASE(nobody_writes), CASE(blind_wait), CASE(full_stack), CASE(shared_too_large),
    CASE(outside_shared), CASE(kernel_function_on_host),
};

int main(int count, char **arguments)
{
    for (const auto &each : CASES) {
        if (count < 2)
            printf("%s\n", each.name);
        else if (strcmp(each.name, arguments[1]) == 0) {
            int *x = on_device<int>(10);
            each.run(x);
            DO(cudaDeviceSynchronize());
            DO(cudaFree(x));
        }
    }
    return 0;
}
