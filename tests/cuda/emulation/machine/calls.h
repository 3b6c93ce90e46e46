/* The API but for launches: devices, memory, copies, streams, events. */
#ifndef NOVA_EMULATION_CALLS_H
#define NOVA_EMULATION_CALLS_H

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

/* Pieces of pinned memory are known by their start; gives whether an address is in one. */
inline bool is_pinned(const void *address)
{
    const std::map<uintptr_t, size_t> &pinned = the_driver().pinned;
    auto after = pinned.upper_bound((uintptr_t)address);
    return after != pinned.begin() &&
           (uintptr_t)address - std::prev(after)->first < std::prev(after)->second;
}

/* Whether so many bytes from here may be copied from or to. */
inline cudaError_t check_range(const char *what, const void *start, size_t bytes, bool on_device)
{
    const allocation *found = memory().find(start);
    if (memory().owns(start) != on_device)
        return refuse(cudaErrorInvalidValue, "%s: %p is %s pointer", what, start,
                      on_device ? "not a device" : "a device");
    if (!on_device)
        return start == NULL ? cudaErrorInvalidValue : cudaSuccess;
    if (found == NULL || bytes > (size_t)(found->data + found->bytes - (const char *)start))
        return refuse(cudaErrorInvalidValue, "%s: %zu bytes from %p are not allocated", what, bytes,
                      start);
    return cudaSuccess;
}

inline cudaError_t check_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
                     (kind == cudaMemcpyDefault && memory().owns(to));
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
                       (kind == cudaMemcpyDefault && memory().owns(from));
    cudaError_t error = check_range("cudaMemcpy to", to, bytes, to_device);
    return error != cudaSuccess ? error : check_range("cudaMemcpy from", from, bytes, from_device);
}

inline void copy_now(void *to, const void *from, size_t bytes)
{
    int before = memory().expose(all_devices);
    memmove(to, from, bytes);
    memory().expose(before);
}

/* What is read from pageable memory is read before the call returns, and what is written to it is
 * written before; all else when its turn comes. */
inline void put_copy(CUstream_st *stream, void *to, const void *from, size_t bytes)
{
    nova_emulation::streams &all = the_driver().streams;
    if (memory().owns(from) || is_pinned(from)) {
        all.put(stream, [=] { copy_now(to, from, bytes); });
        if (!memory().owns(to) && !is_pinned(to))
            all.finish(stream);
        return;
    }
    std::shared_ptr<std::vector<char>> staged(new std::vector<char>(bytes));
    memcpy(staged->data(), from, bytes);
    all.put(stream, [=] { copy_now(to, staged->data(), bytes); });
}

inline cudaError_t set_memory(cudaStream_t handle, void *to, int value, size_t bytes)
{
    if (bytes == 0)
        return cudaSuccess;
    cudaError_t error = check_range("cudaMemset", to, bytes, true);
    if (error != cudaSuccess)
        return error;
    the_driver().streams.put(the_driver().streams.resolve(handle), [=] {
        int before = memory().expose(all_devices);
        memset(to, value, bytes);
        memory().expose(before);
    });
    return cudaSuccess;
}

inline cudaError_t allocate(void **result, size_t bytes)
{
    if (result == NULL)
        return cudaErrorInvalidValue;
    *result = NULL;
    if (bytes == 0)
        return cudaSuccess;
    *result = memory().allocate(this_thread().device, bytes);
    return *result != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

inline cudaError_t release(void *data)
{
    if (data == NULL || memory().release(data))
        return cudaSuccess;
    return refuse(cudaErrorInvalidValue, "cudaFree: %p is not the start of an allocation", data);
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
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = most_dynamic_shared + 1024; break;
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

cudaError_t cudaMalloc(void **result, size_t bytes)
{
    return nova_emulation::call(cudaErrorMemoryAllocation, [&] {
        return nova_emulation::allocate(result, bytes);
    });
}

cudaError_t cudaMallocAsync(void **result, size_t bytes, cudaStream_t handle)
{
    (void)handle;
    return cudaMalloc(result, bytes);
}

/* Waits for everything, as CUDA's does. */
cudaError_t cudaFree(void *data)
{
    return nova_emulation::giving_call([&] {
        nova_emulation::the_driver().streams.finish_all();
        return nova_emulation::release(data);
    });
}

cudaError_t cudaFreeAsync(void *data, cudaStream_t handle)
{
    using namespace nova_emulation;
    return giving_call([&] {
        if (data != NULL && memory().find(data) == NULL)
            return release(data);
        the_driver().streams.put(the_driver().streams.resolve(handle), [=] { release(data); });
        return cudaSuccess;
    });
}

cudaError_t cudaHostAlloc(void **result, size_t bytes, unsigned flags)
{
    (void)flags;
    return nova_emulation::call(cudaErrorMemoryAllocation, [&] {
        *result = NULL;
        if (bytes == 0)
            return cudaSuccess;
        void *made = malloc(bytes);
        if (made == NULL)
            return cudaErrorMemoryAllocation;
        memset(made, nova_emulation::stale, bytes);
        nova_emulation::the_driver().pinned[(uintptr_t)made] = bytes;
        *result = made;
        return cudaSuccess;
    });
}

cudaError_t cudaMallocHost(void **result, size_t bytes)
{
    return cudaHostAlloc(result, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *data)
{
    return nova_emulation::giving_call([&] {
        nova_emulation::driver &d = nova_emulation::the_driver();
        d.streams.finish_all();
        if (data != NULL && d.pinned.erase((uintptr_t)data) == 0)
            return cudaErrorInvalidValue;
        free(data);
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *result, const void *address)
{
    using namespace nova_emulation;
    return call(cudaErrorInvalidValue, [&] {
        const allocation *found = memory().find(address);
        void *plain = (void *)(uintptr_t)address;
        *result = {cudaMemoryTypeUnregistered, -2, NULL, NULL};
        if (found != NULL)
            *result = {cudaMemoryTypeDevice, found->device, plain, NULL};
        else if (is_pinned(address))
            *result = {cudaMemoryTypeHost, 0, plain, plain};
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t handle )
{
    using namespace nova_emulation;
    return with_stream(handle, [&](CUstream_st *stream) {
        if (bytes == 0)
            return cudaSuccess;
        cudaError_t error = check_copy(to, from, bytes, kind);
        if (error == cudaSuccess)
            put_copy(stream, to, from, bytes);
        return error;
    });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    using namespace nova_emulation;
    return with_stream(NULL, [&](CUstream_st *stream) {
        cudaError_t error = bytes == 0 ? cudaSuccess : check_copy(to, from, bytes, kind);
        if (error == cudaSuccess && bytes > 0)
            put_copy(stream, to, from, bytes);
        the_driver().streams.finish(stream);
        return error;
    });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t handle )
{
    return nova_emulation::with_stream(handle, [&](CUstream_st *stream) {
        return nova_emulation::set_memory(stream, to, value, bytes);
    });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemsetAsync(to, value, bytes, NULL);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return nova_emulation::call(cudaErrorMemoryAllocation, [&] {
        bool blocking = (flags & cudaStreamNonBlocking) == 0;
        *stream = nova_emulation::the_driver().streams.make(blocking);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return nova_emulation::giving_call([&] {
        nova_emulation::streams &all = nova_emulation::the_driver().streams;
        if (stream == NULL || !all.knows(stream) || stream == all.resolve(NULL))
            return cudaErrorInvalidResourceHandle;
        all.destroy(stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    return nova_emulation::with_stream(handle, [](CUstream_st *stream) {
        nova_emulation::streams &all = nova_emulation::the_driver().streams;
        if (stream == all.resolve(NULL))
            all.finish_blocking();
        all.finish(stream);
        return cudaSuccess;
    });
}

/* A lazy stream goes one step on each time it is asked, so that who asks until it is done ends. */
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    return nova_emulation::with_stream(handle, [](CUstream_st *stream) {
        bool went_on = nova_emulation::the_driver().streams.step(stream);
        return went_on ? cudaErrorNotReady : cudaSuccess;
    });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    return nova_emulation::call(cudaErrorMemoryAllocation, [&] {
        std::vector<std::unique_ptr<CUevent_st>> &all = nova_emulation::the_driver().events;
        all.emplace_back(new CUevent_st);
        *event = all.back().get();
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle )
{
    return nova_emulation::with_stream(handle, [&](CUstream_st *stream) {
        uint64_t number = ++event->asked;
        event->stream = stream;
        nova_emulation::the_driver().streams.put(stream, [=] {
            event->reached = number;
            event->time = std::chrono::steady_clock::now();
        });
        return cudaSuccess;
    });
}

namespace nova_emulation
{

/* Runs the stream of an event up to this record of it. */
inline void reach(CUevent_st *event, uint64_t number)
{
    while (event->reached < number && the_driver().streams.step(event->stream))
        ;
}

} // namespace nova_emulation

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return nova_emulation::call(cudaErrorLaunchFailure, [&] {
        nova_emulation::reach(event, event->asked);
        return cudaSuccess;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return nova_emulation::call(cudaErrorLaunchFailure, [&] {
        if (event->reached == event->asked)
            return cudaSuccess;
        nova_emulation::the_driver().streams.step(event->stream);
        return cudaErrorNotReady;
    });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    return nova_emulation::call(cudaErrorLaunchFailure, [&] {
        if (from->reached == 0 || to->reached == 0)
            return cudaErrorInvalidResourceHandle;
        if (from->reached < from->asked || to->reached < to->asked)
            return cudaErrorNotReady;
        *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    return nova_emulation::with_stream(handle, [&](CUstream_st *stream) {
        uint64_t number = event->asked;
        nova_emulation::the_driver().streams.put(stream,
                                                 [=] { nova_emulation::reach(event, number); });
        return cudaSuccess;
    });
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return nova_emulation::giving_call([&] {
        nova_emulation::driver &d = nova_emulation::the_driver();
        nova_emulation::reach(event, event->asked);
        for (std::unique_ptr<CUevent_st> &each : d.events)
            if (each.get() == event) {
                std::swap(each, d.events.back());
                d.events.pop_back();
                return cudaSuccess;
            }
        return cudaErrorInvalidResourceHandle;
    });
}

#endif
