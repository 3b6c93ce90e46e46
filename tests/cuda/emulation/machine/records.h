/* What the machine keeps of launches, blocks and threads, and how messages name them. */
#ifndef NOVA_EMULATION_RECORDS_H
#define NOVA_EMULATION_RECORDS_H

namespace nova_emulation
{

constexpr unsigned warp_lanes = 32;
constexpr unsigned most_threads = 1024;             /* of a block */
constexpr size_t most_static_shared = 48 * 1024;    /* bytes of a block's shared arrays */
constexpr size_t most_dynamic_shared = 227 * 1024;  /* bytes that a launch may ask for */
constexpr int most_shared_arrays = 64;              /* of a kernel */
constexpr uint64_t most_kept_fibers = 3000;         /* two for each thread, of 8128 in gcc's */
constexpr unsigned char stale = 0xcb;               /* every byte of memory not written yet */

inline const char *name_of(meeting met)
{
    static const char *const names[] = {
        "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
        "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
        "__ballot_sync", "__any_sync", "__all_sync"};
    return names[(int)met];
}

inline bool operator==(const site &a, const site &b)
{
    return a.line == b.line && strcmp(a.file, b.file) == 0;
}

enum class doing { running, yielding, at_barrier, in_warp, ended, trapped };

struct block;

struct thread : thread_place {
    fiber own;
    doing now = doing::running;
    bool changed = false; /* its last atomic operation changed memory */

    /* While it waits: for what, where, with which lanes and operands; then what came of it. */
    meeting awaited = meeting::barrier;
    site where = {};
    unsigned mask = 0;
    uint64_t operand = 0;
    unsigned source = 0; /* the lane it reads from */
    uint64_t result = 0;

    /* Under ThreadSanitizer: what it has read by atomic operations since its last fence. */
    void *read[8] = {};
    unsigned reads = 0;

    block &in() const;
};

/* A pair of places at which threads are ordered; the next meeting uses the other one, so that who
 * is early there does not order who is late here. */
struct crossing {
    char token[2] = {};
    unsigned turn = 0;
    __attribute__((no_sanitize("thread"))) void *now() { return &token[turn]; }
};

struct shared_array {
    const void *key;
    void *data;
};

struct launch : launch_shape {
    std::string kernel;
    size_t dynamic_shared = 0;
    size_t most_shared = most_static_shared; /* bytes, all together */
    const kernel_call *call = NULL;
    char end = 0;               /* every thread's end comes before what the host does next */
    bool trapped = false;
};

struct block : block_place {
    nova_emulation::launch *run = NULL;
    std::unique_ptr<thread[]> threads;
    unsigned count = 0;   /* of threads */
    unsigned live = 0;    /* that have not ended */
    unsigned waiting = 0; /* at the barrier */
    crossing barrier;
    crossing warps[most_threads / warp_lanes];
    stack shared; /* memory: what was asked for at the launch, then the arrays in it */
    size_t shared_used = 0;  /* from its start, with gaps */
    size_t shared_asked = 0; /* without them */
    shared_array arrays[most_shared_arrays] = {};
    int array_count = 0;
};

inline block &thread::in() const
{
    return *const_cast<block *>(static_cast<const block *>(home));
}

/* The thread that runs; null on the host. */
extern thread *running;

/* How many turns threads have begun. */
extern volatile uint64_t turns;

/* "kernel, block (…), thread (…)". */
inline std::string describe(const thread &t)
{
    char text[160];
    snprintf(text, sizeof text, ", block (%u, %u, %u), thread (%u, %u, %u)", t.home->index.x,
             t.home->index.y, t.home->index.z, t.index.x, t.index.y, t.index.z);
    return t.in().run->kernel + text;
}

/* The same within the 63 bytes that ThreadSanitizer keeps of a name. */
inline std::string short_name(const thread &t)
{
    char text[64];
    snprintf(text, sizeof text, "block %u,%u,%u thread %u,%u,%u of ", t.home->index.x,
             t.home->index.y, t.home->index.z, t.index.x, t.index.y, t.index.z);
    return text + t.in().run->kernel;
}

inline std::string describe(const site &s)
{
    return std::string(s.file) + ":" + std::to_string(s.line);
}

} // namespace nova_emulation

#endif
