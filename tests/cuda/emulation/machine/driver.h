/* Errors, and what all functions of the API have in common: the lock, the count by which one of
 * them fails, the error that stays. */
#ifndef NOVA_EMULATION_DRIVER_H
#define NOVA_EMULATION_DRIVER_H

extern "C" const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define NOVA_EMULATION_ERROR(name, number, text) case name: return #name;
        NOVA_EMULATION_ERRORS(NOVA_EMULATION_ERROR)
#undef NOVA_EMULATION_ERROR
    }
    return "unrecognized error code";
}

extern "C" const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define NOVA_EMULATION_ERROR(name, number, text) case name: return text;
        NOVA_EMULATION_ERRORS(NOVA_EMULATION_ERROR)
#undef NOVA_EMULATION_ERROR
    }
    return "unrecognized error code";
}

namespace nova_emulation
{

struct driver {
    std::recursive_mutex lock;
    nova_emulation::streams streams;
    std::map<uintptr_t, size_t> pinned;        /* host memory that kernels may access, its bytes */
    std::map<const void *, size_t> most_dynamic; /* shared memory that a kernel may ask for */
    std::vector<std::unique_ptr<CUevent_st>> events;
    size_t stack_limit = 1024;
    size_t heap_limit = 8 << 20;
    uint64_t calls = 0;
    uint64_t launches = 0;
    uint64_t to_device = 0; /* bytes that copies have brought from the host, */
    uint64_t to_host = 0;   /* to it, */
    uint64_t on_device = 0; /* and from one place on devices to another */
    uint64_t waits = 0;     /* calls that have waited for the device */
    cudaError_t broken = cudaSuccess; /* of a launch that went wrong; every later call gives it */
};

/* Never destroyed: destructors of the program may still call. */
inline driver &the_driver()
{
    static driver *made = new driver;
    return *made;
}

struct host_thread {
    cudaError_t last = cudaSuccess;
    int device = 0;
};

inline host_thread &this_thread()
{
    static thread_local host_thread own;
    return own;
}

inline cudaError_t note(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        this_thread().last = error;
    return error;
}

/* Says on the standard error what is wrong with a call, beside the error that CUDA has for it. */
__attribute__((format(printf, 2, 3))) inline cudaError_t
refuse(cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "emulation: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", cudaGetErrorString(error));
    va_end(arguments);
    return error;
}

/* Whether this call is the one that is to fail. */
inline bool fails_by_order()
{
    uint64_t call = ++the_driver().calls, from = current_settings().fail_from;
    return from != 0 && (call == from || (call > from && current_settings().fail_rest));
}

/* A call of the API: what it does, and the error that it gives if it is told to fail. */
template <typename Body> inline cudaError_t call(cudaError_t if_told, Body body)
{
    driver &d = the_driver();
    std::lock_guard<std::recursive_mutex> turn(d.lock);
    watch_faults();
    if (current_settings().devices == 0)
        return note(cudaErrorNoDevice);
    if (fails_by_order())
        return note(if_told);
    if (d.broken != cudaSuccess)
        return note(d.broken);
    cudaError_t error = body();
    return note(error != cudaSuccess ? error : d.broken);
}

/* A call that gives something back: it does so even if it is told to fail, as CUDA does, which then
 * speaks of an earlier operation. */
template <typename Body> inline cudaError_t giving_call(Body body)
{
    driver &d = the_driver();
    std::lock_guard<std::recursive_mutex> turn(d.lock);
    watch_faults();
    if (current_settings().devices == 0)
        return note(cudaErrorNoDevice);
    bool told = fails_by_order();
    cudaError_t error = body();
    return note(told ? cudaErrorLaunchFailure : error != cudaSuccess ? error : d.broken);
}

} // namespace nova_emulation

extern "C" {

cudaError_t cudaPeekAtLastError()
{
    return nova_emulation::this_thread().last;
}

cudaError_t cudaGetLastError()
{
    cudaError_t last = nova_emulation::this_thread().last;
    nova_emulation::this_thread().last = nova_emulation::the_driver().broken;
    return last;
}

uint64_t nova_emulation_count(const char *what)
{
    nova_emulation::driver &d = nova_emulation::the_driver();
    std::lock_guard<std::recursive_mutex> turn(d.lock);
    std::string name = what;
    if (name == "calls")
        return d.calls;
    if (name == "launches")
        return d.launches;
    if (name == "to device")
        return d.to_device;
    if (name == "to host")
        return d.to_host;
    if (name == "on device")
        return d.on_device;
    if (name == "waits")
        return d.waits;
    if (name == "allocations")
        return nova_emulation::memory().count();
    if (name == "pinned")
        return d.pinned.size();
    if (name == "streams")
        return d.streams.count();
    if (name == "events")
        return d.events.size();
    uint64_t bytes = 0;
    for (int device = 0; device < nova_emulation::current_settings().devices; device++)
        bytes += nova_emulation::memory().used(device);
    return bytes;
}

int nova_emulation_set(const char *name, const char *value)
{
    nova_emulation::driver &d = nova_emulation::the_driver();
    std::lock_guard<std::recursive_mutex> turn(d.lock);
    if (!nova_emulation::set(nova_emulation::current_settings(), name, value))
        return 1;
    if (strcmp(name, "FAIL") == 0) {
        d.calls = 0;
        nova_emulation::this_thread().last = cudaSuccess;
    }
    return 0;
}

} // extern "C"

#endif
