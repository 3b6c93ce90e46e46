/* Launches of kernels, and what is asked about a kernel before. */
#ifndef NOVA_EMULATION_LAUNCHES_H
#define NOVA_EMULATION_LAUNCHES_H

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

namespace nova_emulation
{

inline size_t most_dynamic(const void *kernel)
{
    auto found = the_driver().most_dynamic.find(kernel);
    return found == the_driver().most_dynamic.end() ? most_static_shared : found->second;
}

/* What CUDA says of these extents. */
inline cudaError_t check_extents(const dim3 &grid, const dim3 &block)
{
    bool fits = volume(grid) > 0 && volume(block) > 0 && grid.x <= (unsigned)INT_MAX &&
                grid.y <= 65535 && grid.z <= 65535 && block.x <= most_threads &&
                block.y <= most_threads && block.z <= 64 && volume(block) <= most_threads;
    return fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/* Kernels are given pointers to device memory, of the device on which they run, and to pinned
 * memory. */
template <typename T> inline void check_argument(const launch &run, int number, int device, T *pointer)
{
    const void *address = (const void *)pointer;
    if (address == NULL || is_pinned(address))
        return;
    const allocation *found = memory().find(address);
    if (found == NULL && memory().owns(address)) /* one past the end, perhaps, or freed; used or not */
        return;
    if (found == NULL)
        fail("%s: argument %d points to memory of the host (%p)", run.kernel.c_str(), number,
             address);
    if (found->device != device)
        fail("%s: argument %d points to memory of device %d, but runs on device %d",
             run.kernel.c_str(), number, found->device, device);
}

template <typename T> inline void check_argument(const launch &, int, int, const T &)
{
}

/* The name of the kernel is what stands before the first comma. */
inline std::string name_of_kernel(const char *text)
{
    return std::string(text, strcspn(text, ","));
}

inline void run_now(launch &run, int device)
{
    driver &d = the_driver();
    if (d.broken != cudaSuccess)
        return;
    int before = memory().expose(device);
    watch_faults();
    watch_time(true);
    d.launches++;
    machine(run).go();
    watch_time(false);
    if (run.trapped)
        d.broken = cudaErrorLaunchFailure;
    memory().check_fences(run.kernel.c_str());
    memory().expose(before);
}

template <typename... Parameters, typename... Arguments>
inline cudaError_t put_launch(const char *text, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                              size_t dynamic_shared, cudaStream_t handle, Arguments... arguments)
{
    cudaError_t error = call(cudaErrorLaunchOutOfResources, [&] {
        driver &d = the_driver();
        CUstream_st *stream = d.streams.resolve(handle);
        if (!d.streams.knows(stream))
            return cudaErrorInvalidResourceHandle;
        if (check_extents(grid, block) != cudaSuccess)
            return refuse(cudaErrorInvalidConfiguration, "%s: %llu blocks of %llu threads",
                          name_of_kernel(text).c_str(), (unsigned long long)volume(grid),
                          (unsigned long long)volume(block));
        if (dynamic_shared > most_dynamic((const void *)kernel))
            return refuse(cudaErrorInvalidValue, "%s: %zu bytes of dynamic shared memory",
                          name_of_kernel(text).c_str(), dynamic_shared);
        std::tuple<Parameters...> values(arguments...);
        int device = this_thread().device;
        d.streams.put(stream, [=] {
            launch run;
            run.kernel = name_of_kernel(text);
            run.grid = grid;
            run.block = block;
            run.dynamic_shared = dynamic_shared;
            run.most_shared = std::max(most_static_shared, most_dynamic((const void *)kernel));
            run.body = [&] { std::apply(kernel, values); };
            int number = 0;
            (void)number;
            std::apply([&](const Parameters &...each) {
                (check_argument(run, ++number, device, each), ...);
            }, values);
            run_now(run, device);
        });
        return cudaSuccess;
    });
    cudaGetLastError();
    return error;
}

} // namespace nova_emulation

/* What runtime-c/cuda/launch.h makes of a launch. */
#define NOVA_EMULATION_LAUNCH(...) nova_emulation::put_launch(#__VA_ARGS__, __VA_ARGS__)

template <typename... Parameters>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *result, void (*kernel)(Parameters...))
{
    using namespace nova_emulation;
    return call(cudaErrorInvalidValue, [&] {
        *result = {0, 0, 0, most_threads, 32, 90, 90, (int)most_dynamic((const void *)kernel)};
        return cudaSuccess;
    });
}

template <typename... Parameters>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                        int value)
{
    using namespace nova_emulation;
    return call(cudaErrorInvalidValue, [&] {
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
            return cudaSuccess;
        if (value < 0 || (size_t)value > most_dynamic_shared)
            return cudaErrorInvalidValue;
        the_driver().most_dynamic[(const void *)kernel] = (size_t)value;
        return cudaSuccess;
    });
}

/* One block on each processor: a kernel that counts on more than that does not end. */
template <typename... Parameters>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                 void (*kernel)(Parameters...),
                                                                 int threads, size_t dynamic_shared)
{
    using namespace nova_emulation;
    (void)kernel;
    return call(cudaErrorInvalidValue, [&] {
        bool fits = threads >= 1 && threads <= (int)most_threads &&
                    dynamic_shared <= most_dynamic_shared;
        *blocks = fits ? 1 : 0;
        return cudaSuccess;
    });
}

#endif
