/* Launches: what is checked before, and the machine's run. */
#ifndef NOVA_EMULATION_LAUNCHING_H
#define NOVA_EMULATION_LAUNCHING_H

namespace nova_emulation
{

inline size_t most_dynamic(const void *kernel)
{
    auto found = the_driver().most_dynamic.find(kernel);
    return found == the_driver().most_dynamic.end() ? most_static_shared : found->second;
}

/* Whether CUDA takes these extents. */
inline bool are_extents(const dim3 &grid, const dim3 &block)
{
    return volume(grid) > 0 && volume(block) > 0 && grid.x <= (unsigned)INT_MAX &&
           grid.y <= 65535 && grid.z <= 65535 && block.x <= most_threads &&
           block.y <= most_threads && block.z <= 64 && volume(block) <= most_threads;
}

/* Kernels are given pointers to device memory, of the device on which they run, and to pinned
 * memory. A pointer into device memory that is not allocated may be one past the end, and is not
 * used. */
inline void check_arguments(const launch &run, int device)
{
    for (int i = 0; i < run.call->count; i++) {
        const void *address = run.call->pointers[i];
        const allocation *found = memory().find(address);
        if (address == NULL || is_pinned(address) || (found == NULL && memory().owns(address)))
            continue;
        if (found == NULL)
            fail("%s: argument %d points to memory of the host (%p)", run.kernel.c_str(), i + 1,
                 address);
        if (found->device != device)
            fail("%s: argument %d points to memory of device %d, but runs on device %d",
                 run.kernel.c_str(), i + 1, found->device, device);
    }
}

inline void run_now(launch &run, int device)
{
    driver &d = the_driver();
    if (d.broken != cudaSuccess)
        return;
    check_arguments(run, device);
    int before = memory().expose(device);
    watch_faults();
    watch_time(true);
    d.launches++;
    machine(run, d.stack_limit).go();
    watch_time(false);
    if (run.trapped)
        d.broken = cudaErrorLaunchFailure;
    memory().check_fences(run.kernel.c_str());
    memory().expose(before);
}

cudaError_t put_launch(const char *text, kernel_call *owned, dim3 grid, dim3 block,
                       size_t dynamic_shared, cudaStream_t handle)
{
    std::shared_ptr<kernel_call> kept(owned);
    std::string name(text, strcspn(text, ","));
    cudaError_t error = with_stream(handle, [&](CUstream_st *stream) {
        size_t most = most_dynamic(kept->kernel);
        if (!are_extents(grid, block))
            return refuse(cudaErrorInvalidConfiguration, "%s: %llu blocks of %llu threads",
                          name.c_str(), (unsigned long long)volume(grid),
                          (unsigned long long)volume(block));
        if (dynamic_shared > most)
            return refuse(cudaErrorInvalidValue, "%s: %zu bytes of dynamic shared memory",
                          name.c_str(), dynamic_shared);
        int device = this_thread().device;
        the_driver().streams.put(stream, [=] {
            launch run;
            run.grid = grid;
            run.block = block;
            run.kernel = name;
            run.dynamic_shared = dynamic_shared;
            run.most_shared = most > most_static_shared ? most_dynamic_shared : most_static_shared;
            run.call = kept.get();
            run_now(run, device);
        });
        return cudaSuccess;
    });
    cudaGetLastError(); /* told here, and not once more */
    return error;
}

cudaError_t describe_kernel(cudaFuncAttributes *result, const void *kernel)
{
    return call(cudaErrorInvalidValue, [&] {
        *result = {0, 0, 0, most_threads, 32, 90, 90, (int)most_dynamic(kernel)};
        return cudaSuccess;
    });
}

cudaError_t set_kernel(const void *kernel, cudaFuncAttribute attribute, int value)
{
    return call(cudaErrorInvalidValue, [&] {
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
            return cudaSuccess;
        if (value < 0 || (size_t)value > most_dynamic_shared)
            return cudaErrorInvalidValue;
        the_driver().most_dynamic[kernel] = (size_t)value;
        return cudaSuccess;
    });
}

cudaError_t put_any_launch(const any_kernel &kernel, dim3 grid, dim3 block, size_t dynamic_shared,
                           cudaStream_t stream, void **arguments)
{
    if (dynamic_shared > most_static_shared - 1024) {
        cudaError_t code =
            set_kernel((const void *)kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       (int)dynamic_shared);
        if (code != cudaSuccess)
            return code;
    }
    return put_launch(kernel.name, kernel.call(kernel.kernel, arguments), grid, block,
                      dynamic_shared, stream);
}

/* One block on each processor: a kernel that counts on more than that does not end. */
cudaError_t count_blocks(int *blocks, int threads, size_t dynamic_shared)
{
    return call(cudaErrorInvalidValue, [&] {
        bool fits = threads >= 1 && threads <= (int)most_threads &&
                    dynamic_shared <= most_dynamic_shared;
        *blocks = fits ? 1 : 0;
        return cudaSuccess;
    });
}

} // namespace nova_emulation

#endif
