/* The API on streams and events. */
#ifndef NOVA_EMULATION_STREAM_CALLS_H
#define NOVA_EMULATION_STREAM_CALLS_H

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
        nova_emulation::the_driver().waits++;
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
        nova_emulation::the_driver().waits++;
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
