/* The API on devices. */
#ifndef NOVA_EMULATION_DEVICE_CALLS_H
#define NOVA_EMULATION_DEVICE_CALLS_H

namespace nova_emulation
{

/* The processors of a device: so many blocks are resident, one on each. */
inline int processors()
{
    return current_settings().resident;
}

inline bool is_device(int device)
{
    return device >= 0 && device < current_settings().devices;
}

/* The stream that a handle means; null, with the error, if none. */
template <typename Body> inline cudaError_t with_stream(cudaStream_t handle, Body body)
{
    return call(cudaErrorLaunchFailure, [&] {
        CUstream_st *stream = the_driver().streams.resolve(handle);
        return the_driver().streams.knows(stream) ? body(stream) : cudaErrorInvalidResourceHandle;
    });
}

} // namespace nova_emulation

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    return nova_emulation::call(cudaErrorInitializationError, [&] {
        *count = nova_emulation::current_settings().devices;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device)
{
    return nova_emulation::call(cudaErrorInvalidDevice, [&] {
        if (!nova_emulation::is_device(device))
            return cudaErrorInvalidDevice;
        nova_emulation::this_thread().device = device;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int *device)
{
    return nova_emulation::call(cudaErrorInitializationError, [&] {
        *device = nova_emulation::this_thread().device;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *result, int device)
{
    using namespace nova_emulation;
    return call(cudaErrorInvalidDevice, [&] {
        if (!is_device(device))
            return cudaErrorInvalidDevice;
        cudaDeviceProp p;
        memset(&p, 0, sizeof p);
        snprintf(p.name, sizeof p.name, "emulated device %d", device);
        p.totalGlobalMem = current_settings().memory;
        p.sharedMemPerBlock = most_static_shared;
        p.sharedMemPerBlockOptin = most_dynamic_shared;
        p.sharedMemPerMultiprocessor = most_dynamic_shared + 1024;
        p.regsPerBlock = p.regsPerMultiprocessor = 65536;
        p.warpSize = warp_lanes;
        p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = most_threads;
        p.maxThreadsDim[2] = 64;
        p.maxGridSize[0] = INT_MAX;
        p.maxGridSize[1] = p.maxGridSize[2] = 65535;
        p.major = 9;
        p.multiProcessorCount = processors();
        p.maxThreadsPerMultiProcessor = most_threads;
        p.maxBlocksPerMultiProcessor = 1;
        p.l2CacheSize = 1 << 20;
        p.memoryBusWidth = 64;
        p.unifiedAddressing = p.canMapHostMemory = 1;
        *result = p;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    using namespace nova_emulation;
    return call(cudaErrorInvalidDevice, [&] {
        if (!is_device(device))
            return cudaErrorInvalidDevice;
        switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxThreadsPerMultiProcessor: *value = most_threads; break;
        case cudaDevAttrMaxGridDimX: *value = INT_MAX; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = most_static_shared; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = most_dynamic_shared; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            *value = most_dynamic_shared + 1024;
            break;
        case cudaDevAttrWarpSize: *value = warp_lanes; break;
        case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
        case cudaDevAttrMultiProcessorCount: *value = processors(); break;
        case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
        case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
        case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
        case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
        default: return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize()
{
    return nova_emulation::call(cudaErrorLaunchFailure, [] {
        nova_emulation::the_driver().waits++;
        nova_emulation::the_driver().streams.finish_all();
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)
{
    return nova_emulation::call(cudaErrorMemoryAllocation, [&] {
        nova_emulation::driver &d = nova_emulation::the_driver();
        d.streams.finish_all();
        if (limit == cudaLimitStackSize)
            d.stack_limit = value;
        else if (limit == cudaLimitMallocHeapSize)
            d.heap_limit = value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit)
{
    return nova_emulation::call(cudaErrorInvalidValue, [&] {
        nova_emulation::driver &d = nova_emulation::the_driver();
        *value = limit == cudaLimitStackSize ? d.stack_limit : d.heap_limit;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    using namespace nova_emulation;
    return call(cudaErrorInitializationError, [&] {
        *total = current_settings().memory;
        *available = *total - memory().used(this_thread().device);
        return cudaSuccess;
    });
}

#endif
