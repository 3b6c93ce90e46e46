/* Ordered regions of loops over work-groups, whose iterations propagate a prefix in a single pass:
 * decoupled look-back (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back,
 * 2016). A group does not wait for the prefix of the iteration before. It publishes the aggregate of
 * its own iteration. It combines the aggregates of the iterations before, back to one whose inclusive
 * prefix is known.
 *
 * Groups take iterations by tickets, so that all earlier iterations are running or done. Each of them
 * publishes its aggregate before it waits for others. So some group always makes progress, however few
 * groups run at a time.
 *
 * The state of a loop is an array of words that are 0 at first. It consists of the next ticket, and for
 * each propagated value and each iteration the three words of a nova_ordered. */
#ifndef NOVA_CUDA_ORDERED_H
#define NOVA_CUDA_ORDERED_H

#include "threads.h"
#include <stdint.h>

/* The status of an iteration: nothing is known, its aggregate is known, or its inclusive prefix is
 * known too. */
enum { NOVA_ORDERED_INVALID, NOVA_ORDERED_AGGREGATE, NOVA_ORDERED_PREFIX };

typedef struct nova_ordered {
    uint64_t status;
    uint64_t aggregate, prefix; /* as bits */
} nova_ordered;

/* The next iteration of a group; all of its threads call this together. */
NOVA_IN_KERNELS int64_t nova_take_ticket(uint64_t *words)
{
    NOVA_SHARED(int64_t, ticket, 1);
    __syncthreads(); /* all threads have left the previous iteration */
    if (threadIdx.x == 0)
        *ticket = (int64_t)atomicAdd((unsigned long long *)words, 1ull);
    __syncthreads();
    return *ticket;
}

template <typename T> static __device__ inline uint64_t nova_ordered_bits(T value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> static __device__ inline T nova_ordered_value(uint64_t bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Publishes the aggregate or the prefix of an iteration; one thread calls this. */
NOVA_IN_KERNELS void nova_publish_status(nova_ordered *descriptor, uint64_t *to, uint64_t bits,
                                         uint64_t what)
{
    *to = bits;
    __threadfence();
    nova_store(&descriptor->status, what);
}

/* The exclusive prefix of an iteration, which the lanes of a warp compute. The lanes look at the 32
 * iterations before, then at the 32 before these, until the prefix of one of them is known. The prefix
 * before the first iteration counts as known. */
template <typename T>
static __device__ inline T nova_look_back(const nova_ordered *descriptors, int64_t iteration,
                                          T (*combine)(T, T))
{
    const unsigned every = 0xffffffffu;
    int lane = (int)(threadIdx.x % 32);
    T later = nova_ordered_value<T>(0);
    bool any = false; /* true if later is valid */
    for (int64_t last = iteration - 1;; last -= 32) {
        int64_t at = last - lane;
        uint64_t status = NOVA_ORDERED_PREFIX;
        if (at >= 0)
            while ((status = nova_load(&descriptors[at].status)) == NOVA_ORDERED_INVALID)
                ;
        __threadfence();
        uint64_t bits = 0;
        if (at >= 0)
            bits = status == NOVA_ORDERED_PREFIX ? descriptors[at].prefix : descriptors[at].aggregate;
        unsigned ends = __ballot_sync(every, status == NOVA_ORDERED_PREFIX);
        /* The number of lanes that count: those up to the nearest with a known prefix. */
        int count = ends == 0 ? 32 : __ffs((int)ends);
        T sum = nova_ordered_value<T>(bits);
        for (int distance = 1; distance < 32; distance *= 2) {
            T before = nova_ordered_value<T>(
                __shfl_down_sync(every, (unsigned long long)nova_ordered_bits(sum), distance));
            if (lane + distance < count)
                sum = combine(before, sum);
        }
        later = any ? combine(sum, later) : sum;
        any = true;
        if (ends != 0)
            break;
    }
    __syncwarp(); /* the loads of all lanes happen before the next stores of lane 0 */
    return later; /* lane 0 has it */
}

/* Propagates the value with this number through an iteration: returns its exclusive prefix, and
 * combines the iteration's own value with it. *state is the start of the first iteration, and gets the
 * prefix of the last one. All threads of the group, at least 32, call this with the same arguments. */
template <typename T>
static __device__ inline T nova_propagate_prefix(uint64_t *words, int64_t iteration, int64_t count,
                                                 int number, T *state, T own, T (*combine)(T, T))
{
    static_assert(NOVA_BLOCK_SIZE >= 32, "a warp looks back: NOVA_BLOCK_SIZE is too small");
    NOVA_SHARED(uint64_t, given, 1);
    nova_ordered *descriptors = (nova_ordered *)(words + 1) + count * number;
    nova_ordered *descriptor = &descriptors[iteration];
    __syncthreads(); /* the stores of the group happen before its ordered region */
    if (threadIdx.x < 32) {
        T before = nova_ordered_value<T>(0);
        if (iteration == 0) {
            if (threadIdx.x == 0)
                before = *state;
        } else {
            if (threadIdx.x == 0)
                nova_publish_status(descriptor, &descriptor->aggregate, nova_ordered_bits(own),
                                    NOVA_ORDERED_AGGREGATE);
            before = nova_look_back(descriptors, iteration, combine);
        }
        if (threadIdx.x == 0) {
            T prefix = combine(before, own);
            nova_publish_status(descriptor, &descriptor->prefix, nova_ordered_bits(prefix),
                                NOVA_ORDERED_PREFIX);
            if (iteration == count - 1)
                *state = prefix;
            *given = nova_ordered_bits(before);
        }
    }
    __syncthreads();
    T before = nova_ordered_value<T>(*given);
    __syncthreads();
    return before;
}

#endif
