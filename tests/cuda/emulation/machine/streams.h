/* Streams: queues of operations. Eager ones run each operation at once. Lazy ones keep it until
 * somebody waits, so that a host that reads a result too early, or frees or overwrites an argument,
 * sees what it may see on a GPU.
 *
 * Stream 0 waits for all others but those made non-blocking, and they for it. */
#ifndef NOVA_EMULATION_STREAMS_H
#define NOVA_EMULATION_STREAMS_H

struct CUstream_st {
    std::deque<std::function<void()>> work;
    bool blocking = true;
    bool made = true; /* by the program, which has to destroy it */
};

struct CUevent_st {
    CUstream_st *stream = NULL; /* in which it was recorded; null if never */
    uint64_t asked = 0;         /* how often it was recorded */
    uint64_t reached = 0;       /* which of these has happened */
    std::chrono::steady_clock::time_point time;
};

namespace nova_emulation
{

class streams
{
  public:
    /* The stream that a handle means. */
    CUstream_st *resolve(cudaStream_t handle)
    {
        if (handle == NULL || handle == cudaStreamLegacy)
            return &legacy_;
        if (handle == cudaStreamPerThread) {
            static thread_local CUstream_st *own = NULL;
            if (own == NULL) {
                own = make(true);
                own->made = false;
            }
            return own;
        }
        return handle;
    }

    bool knows(const CUstream_st *stream) const
    {
        if (stream == &legacy_)
            return true;
        for (const std::unique_ptr<CUstream_st> &each : all_)
            if (each.get() == stream)
                return true;
        return false;
    }

    CUstream_st *make(bool blocking)
    {
        all_.emplace_back(new CUstream_st);
        all_.back()->blocking = blocking;
        return all_.back().get();
    }

    void destroy(CUstream_st *stream)
    {
        finish(stream);
        for (std::unique_ptr<CUstream_st> &each : all_)
            if (each.get() == stream) {
                std::swap(each, all_.back());
                all_.pop_back();
                return;
            }
    }

    void put(CUstream_st *stream, std::function<void()> operation)
    {
        if (stream == &legacy_)
            finish_blocking();
        else if (stream->blocking)
            finish(&legacy_);
        stream->work.push_back(std::move(operation));
        if (!current_settings().lazy)
            finish(stream);
    }

    /* Runs the next operation of a stream; false if there is none. */
    bool step(CUstream_st *stream)
    {
        if (stream->work.empty())
            return false;
        std::function<void()> operation = std::move(stream->work.front());
        stream->work.pop_front();
        operation();
        return true;
    }

    void finish(CUstream_st *stream)
    {
        while (step(stream))
            ;
    }

    void finish_blocking()
    {
        finish_those([](const CUstream_st &stream) { return stream.blocking; });
    }

    void finish_all()
    {
        finish_those([](const CUstream_st &) { return true; });
        finish(&legacy_);
    }

    /* How many the program has made. */
    size_t count() const
    {
        size_t made = 0;
        for (const std::unique_ptr<CUstream_st> &each : all_)
            made += each->made ? 1 : 0;
        return made;
    }

  private:
    /* Streams are not ordered among each other: which of them goes on is drawn each time. */
    template <typename Chosen> void finish_those(Chosen chosen)
    {
        for (;;) {
            std::vector<CUstream_st *> left;
            for (std::unique_ptr<CUstream_st> &each : all_)
                if (chosen(*each) && !each->work.empty())
                    left.push_back(each.get());
            if (left.empty())
                return;
            random_ += current_settings().seed;
            step(left[next_random(random_) % left.size()]);
        }
    }

    CUstream_st legacy_;
    std::vector<std::unique_ptr<CUstream_st>> all_;
    uint64_t random_ = 0;
};

} // namespace nova_emulation

#endif
