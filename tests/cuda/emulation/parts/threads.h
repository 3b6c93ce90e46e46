/* What kernels see of the machine: who they are, barriers, shared memory, and the place where
 * others may go on. machine/ is the other side. */
#ifndef NOVA_EMULATION_THREADS_H
#define NOVA_EMULATION_THREADS_H

namespace nova_emulation
{

struct launch_shape {
    dim3 grid, block;
};

struct block_place {
    uint3 index = {};
    const launch_shape *launch = NULL;
};

struct thread_place {
    uint3 index = {};
    const block_place *home = NULL;
    unsigned number = 0; /* within the block */

    unsigned lane() const { return number % 32; }
    unsigned warp() const { return number / 32; }
};

/* What threads wait for together. */
enum class meeting {
    barrier, barrier_count, barrier_and, barrier_or,
    warp_sync, shuffle, shuffle_up, shuffle_down, shuffle_xor, ballot, any, all
};

/* A place in the source. */
struct site {
    const char *file;
    int line;
};

/* The thread that runs. */
const thread_place *here();

/* Others may go on here. */
void pause();

/* Waits for the block; gives what the meeting makes of all predicates. */
uint64_t meet_at_barrier(meeting kind, uint64_t predicate, site where);

/* Waits for the lanes of the mask; gives the operand of the source lane, or what a vote makes of
 * all operands. */
uint64_t meet_in_warp(meeting kind, unsigned mask, uint64_t operand, unsigned source, site where);

/* A shuffle's width is a power of two up to 32. */
void check_width(int width, site where);

/* What nvcc is told to rely on has to be so. */
void check_assumption(bool holds, const char *what, site where);

/* The array of shared memory of this block that a declaration stands for; the same for all threads
 * of the block. */
void *find_shared(const void *key, size_t bytes, size_t align);

/* What the launch has asked for. */
void *dynamic_shared();

/* Ends the launch with an error. */
void trap();

/* Before an atomic operation others go on; during it, ThreadSanitizer is told what fences will
 * order; after it, the machine is told whether it has changed anything. */
void note_read(const volatile void *address);
void note_write(const volatile void *address);
void note_change(bool changed);
void fence();

} // namespace nova_emulation

/* The places are those of the caller: a default argument is evaluated there. */
#define NOVA_EMULATION_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(NOVA_EMULATION_SITE)
{
    nova_emulation::meet_at_barrier(nova_emulation::meeting::barrier, 0, {file, line});
}

inline int __syncthreads_count(int predicate, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    return (int)meet_at_barrier(meeting::barrier_count, predicate != 0, {file, line});
}

inline int __syncthreads_and(int predicate, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    return (int)meet_at_barrier(meeting::barrier_and, predicate != 0, {file, line});
}

inline int __syncthreads_or(int predicate, NOVA_EMULATION_SITE)
{
    using namespace nova_emulation;
    return (int)meet_at_barrier(meeting::barrier_or, predicate != 0, {file, line});
}

#define __builtin_assume(condition)                                                                \
    nova_emulation::check_assumption((condition), #condition, {__FILE__, __LINE__})

/* As an instruction that does not exist. */
inline void __trap()
{
    nova_emulation::trap();
}

inline void __nanosleep(unsigned)
{
    nova_emulation::pause();
}

#endif
