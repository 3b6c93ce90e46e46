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
 * each propagated value of the words of all iterations. A word has a status in its upper half and 32 bits
 * of a value in its lower half, so that one load gives both, and no fence stands between them. A value of
 * 64 bits has two such words. They belong together if both have the same status, since the status of an
 * iteration only rises. */
#ifndef NOVA_CUDA_ORDERED_H
#define NOVA_CUDA_ORDERED_H

#include "launch.h"
#include "threads.h"
#include <stdint.h>

/* The status of an iteration: nothing is known, its aggregate is known, or its inclusive prefix. */
enum { NOVA_ORDERED_INVALID, NOVA_ORDERED_AGGREGATE, NOVA_ORDERED_PREFIX };

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

/* Publishes the aggregate or the prefix of an iteration; one thread calls this. The words of a value are
 * count apart. What the thread knows of memory is known to those who read the words and then call
 * __threadfence(). */
template <typename T>
static __device__ inline void nova_publish_status(uint64_t *word, int64_t count, T value,
                                                  uint64_t status)
{
    uint64_t bits = nova_ordered_bits(value);
    __threadfence();
    nova_store(word, status << 32 | (bits & 0xffffffffu));
    if (sizeof(T) > 4)
        nova_store(word + count, status << 32 | bits >> 32);
}

/* Waits until something is known of an iteration. Returns its status, and the bits of its value. */
template <typename T>
static __device__ inline uint64_t nova_await_status(const uint64_t *word, int64_t count,
                                                    uint64_t *bits)
{
    uint64_t low, high;
    do {
        low = nova_load(word);
        high = sizeof(T) > 4 ? nova_load(word + count) : low;
    } while (low >> 32 == NOVA_ORDERED_INVALID || low >> 32 != high >> 32);
    *bits = (low & 0xffffffffu) | (sizeof(T) > 4 ? high << 32 : 0);
    return low >> 32;
}

/* The value of the lane that is so much higher. */
template <typename T> static __device__ inline T nova_value_of_higher(T value, int distance)
{
    uint64_t bits = nova_ordered_bits(value);
    return nova_ordered_value<T>(
        sizeof(T) > 4 ? __shfl_down_sync(0xffffffffu, (unsigned long long)bits, distance)
                      : __shfl_down_sync(0xffffffffu, (unsigned)bits, distance));
}

/* The exclusive prefix of an iteration, which the lanes of a warp compute. The lanes look at the 32
 * iterations before, then at the 32 before these, until the prefix of one of them is known. The prefix
 * before the first iteration counts as known. */
template <typename T>
static __device__ inline T nova_look_back(const uint64_t *words, int64_t iteration, int64_t count,
                                          T (*combine)(T, T))
{
    int lane = (int)(threadIdx.x % 32);
    T later = nova_ordered_value<T>(0);
    bool any = false; /* true if later is valid */
    for (int64_t last = iteration - 1;; last -= 32) {
        uint64_t status = NOVA_ORDERED_PREFIX, bits = 0;
        if (last >= lane)
            status = nova_await_status<T>(words + (last - lane), count, &bits);
        unsigned ends = __ballot_sync(0xffffffffu, status == NOVA_ORDERED_PREFIX);
        T sum = nova_ordered_value<T>(bits);
        /* The number of lanes that matter: those up to the nearest with a known prefix. */
        int lanes = ends == 0 ? 32 : __ffs((int)ends);
        for (int distance = 1; distance < 32; distance *= 2) {
            T before = nova_value_of_higher(sum, distance);
            if (lane + distance < lanes)
                sum = combine(before, sum);
        }
        later = any ? combine(sum, later) : sum;
        any = true;
        if (ends != 0)
            break;
    }
    /* What the iterations before have published is known to all lanes, and through them to lane 0. */
    __threadfence();
    __syncwarp();
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
    uint64_t *all = words + 1 + NOVA_ORDERED_WORDS * count * number;
    __syncthreads(); /* the stores of the group happen before its ordered region */
    if (threadIdx.x < 32) {
        T before = nova_ordered_value<T>(0);
        if (iteration == 0) {
            if (threadIdx.x == 0)
                before = *state;
        } else {
            if (threadIdx.x == 0)
                nova_publish_status(all + iteration, count, own, NOVA_ORDERED_AGGREGATE);
            before = nova_look_back(all, iteration, count, combine);
        }
        if (threadIdx.x == 0) {
            T prefix = combine(before, own);
            nova_publish_status(all + iteration, count, prefix, NOVA_ORDERED_PREFIX);
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
