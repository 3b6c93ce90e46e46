/* Loops over work-groups whose iterations hand a value on, each in its turn, in a single pass: decoupled
 * look-back (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).
 * A group does not wait until the iteration before has had its turn. It says what its own iteration
 * comes to, and puts together what those before it have said, back to one that knows all up to its end.
 *
 * An iteration is begun by a ticket, so that those before it are under way or done, and each of them
 * says what it comes to before it waits for anybody. So somebody always goes on, however few groups run
 * at a time.
 *
 * All of a loop lies in an array of words that are 0 before: the next ticket, and for each value that is
 * handed on, for each iteration, the three words of a nova_turn. */
#ifndef NOVA_CUDA_TURNS_H
#define NOVA_CUDA_TURNS_H

#include "threads.h"
#include <stdint.h>

/* What an iteration has said: nothing, what it comes to, or what all up to its end come to, too. */
enum { NOVA_TURN_NOTHING, NOVA_TURN_OWN, NOVA_TURN_ALL };

typedef struct nova_turn {
    uint64_t said;
    uint64_t own, all; /* as bits */
} nova_turn;

/* The next iteration for a group; all of its threads ask together. */
NOVA_IN_KERNELS int64_t nova_take_ticket(uint64_t *turns)
{
    NOVA_SHARED(int64_t, ticket, 1);
    __syncthreads(); /* all have left the iteration before */
    if (threadIdx.x == 0)
        *ticket = (int64_t)atomicAdd((unsigned long long *)turns, 1ull);
    __syncthreads();
    return *ticket;
}

template <typename T> static __device__ inline uint64_t nova_turn_bits(T value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> static __device__ inline T nova_turn_value(uint64_t bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Says what an iteration comes to; by one thread. */
NOVA_IN_KERNELS void nova_say(nova_turn *turn, uint64_t *to, uint64_t bits, uint64_t what)
{
    *to = bits;
    __threadfence();
    nova_store(&turn->said, what);
}

/* What all iterations before one come to, put together by the lanes of a warp: each looks at one of 32
 * neighbours, then at the 32 before these, until one of them knows all up to its end. The first
 * iteration of all does. */
template <typename T>
static __device__ inline T nova_look_back(const nova_turn *turns, int64_t iteration,
                                          T (*combine)(T, T))
{
    const unsigned every = 0xffffffffu;
    int lane = (int)(threadIdx.x % 32);
    T later = nova_turn_value<T>(0);
    bool any = false; /* whether later has something */
    for (int64_t last = iteration - 1;; last -= 32) {
        int64_t at = last - lane;
        uint64_t said = NOVA_TURN_ALL;
        if (at >= 0)
            while ((said = nova_load(&turns[at].said)) == NOVA_TURN_NOTHING)
                ;
        __threadfence();
        uint64_t bits = 0;
        if (at >= 0)
            bits = said == NOVA_TURN_ALL ? turns[at].all : turns[at].own;
        unsigned ends = __ballot_sync(every, said == NOVA_TURN_ALL);
        /* How many lanes count: those up to the nearest that knows all up to its end. */
        int count = ends == 0 ? 32 : __ffs((int)ends);
        T sum = nova_turn_value<T>(bits);
        for (int distance = 1; distance < 32; distance *= 2) {
            T before = nova_turn_value<T>(
                __shfl_down_sync(every, (unsigned long long)nova_turn_bits(sum), distance));
            if (lane + distance < count)
                sum = combine(before, sum);
        }
        later = any ? combine(sum, later) : sum;
        any = true;
        if (ends != 0)
            break;
    }
    __syncwarp(); /* what the lanes have seen was before what lane 0 does now */
    return later; /* lane 0 has it */
}

/* An iteration takes its turn: gives what the value with this number that is handed on is before it, of
 * which *state is the first and then the last one, and combines its own value with it. All threads of the group, of
 * which there are at least 32, call it with the same arguments. */
template <typename T>
static __device__ inline T nova_take_turn(uint64_t *words, int64_t iteration, int64_t count,
                                          int number, T *state, T own, T (*combine)(T, T))
{
    static_assert(NOVA_BLOCK_SIZE >= 32, "a warp looks back: NOVA_BLOCK_SIZE is too small");
    NOVA_SHARED(uint64_t, given, 1);
    nova_turn *turns = (nova_turn *)(words + 1) + count * number;
    nova_turn *turn = &turns[iteration];
    __syncthreads(); /* what the group has done is done before its turn */
    if (threadIdx.x < 32) {
        T before = nova_turn_value<T>(0);
        if (iteration == 0) {
            if (threadIdx.x == 0)
                before = *state;
        } else {
            if (threadIdx.x == 0)
                nova_say(turn, &turn->own, nova_turn_bits(own), NOVA_TURN_OWN);
            before = nova_look_back(turns, iteration, combine);
        }
        if (threadIdx.x == 0) {
            T all = combine(before, own);
            nova_say(turn, &turn->all, nova_turn_bits(all), NOVA_TURN_ALL);
            if (iteration == count - 1)
                *state = all;
            *given = nova_turn_bits(before);
        }
    }
    __syncthreads();
    T before = nova_turn_value<T>(*given);
    __syncthreads();
    return before;
}

#endif
