/* The API on memory and copies. */
#ifndef NOVA_EMULATION_MEMORY_CALLS_H
#define NOVA_EMULATION_MEMORY_CALLS_H

namespace nova_emulation
{

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
    if (memory().owns(to))
        (memory().owns(from) ? the_driver().on_device : the_driver().to_device) += bytes;
    else if (memory().owns(from))
        the_driver().to_host += bytes;
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

} // namespace nova_emulation

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
        nova_emulation::the_driver().waits++;
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
        d.waits++;
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
        the_driver().waits++;
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

#endif
