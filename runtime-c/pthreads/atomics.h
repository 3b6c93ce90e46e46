/* Atomic variables for both C11 and C++17. They use the compiler's own operations on plain types if
 * there are any, so that structures have one layout in both languages; else they use the standard's.
 *
 * A file that includes a header of this folder defines _DEFAULT_SOURCE before the first header of the C
 * library. Otherwise strict C11 hides futexes, clocks and signals. */
#ifndef NOVA_ATOMICS_H
#define NOVA_ATOMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NOVA_SWAP_IF writes the value that it found to *expected if it is another. NOVA_STDATOMIC selects the
 * standard's operations. */
#if defined(__GNUC__) && !defined(NOVA_STDATOMIC)
#define NOVA_ATOMIC(type) type
#define NOVA_RELAXED __ATOMIC_RELAXED
#define NOVA_ACQUIRE __ATOMIC_ACQUIRE
#define NOVA_RELEASE __ATOMIC_RELEASE
#define NOVA_BOTH __ATOMIC_ACQ_REL
#define NOVA_ORDERED __ATOMIC_SEQ_CST
#define NOVA_LOAD(place, order) __atomic_load_n(place, order)
#define NOVA_STORE(place, value, order) __atomic_store_n(place, value, order)
#define NOVA_ADD(place, value, order) __atomic_fetch_add(place, value, order)
#define NOVA_AND(place, value, order) __atomic_fetch_and(place, value, order)
#define NOVA_SWAP(place, value, order) __atomic_exchange_n(place, value, order)
#define NOVA_SWAP_IF(place, expected, value) \
    __atomic_compare_exchange_n(place, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#elif defined(__cplusplus)
#include <atomic>
#define NOVA_ATOMIC(type) std::atomic<type>
#define NOVA_RELAXED std::memory_order_relaxed
#define NOVA_ACQUIRE std::memory_order_acquire
#define NOVA_RELEASE std::memory_order_release
#define NOVA_BOTH std::memory_order_acq_rel
#define NOVA_ORDERED std::memory_order_seq_cst
#define NOVA_LOAD(place, order) (place)->load(order)
#define NOVA_STORE(place, value, order) (place)->store(value, order)
#define NOVA_ADD(place, value, order) (place)->fetch_add(value, order)
#define NOVA_AND(place, value, order) (place)->fetch_and(value, order)
#define NOVA_SWAP(place, value, order) (place)->exchange(value, order)
#define NOVA_SWAP_IF(place, expected, value) (place)->compare_exchange_strong(*(expected), value)
#else
#include <stdatomic.h>
#define NOVA_ATOMIC(type) _Atomic(type)
#define NOVA_RELAXED memory_order_relaxed
#define NOVA_ACQUIRE memory_order_acquire
#define NOVA_RELEASE memory_order_release
#define NOVA_BOTH memory_order_acq_rel
#define NOVA_ORDERED memory_order_seq_cst
#define NOVA_LOAD(place, order) atomic_load_explicit(place, order)
#define NOVA_STORE(place, value, order) atomic_store_explicit(place, value, order)
#define NOVA_ADD(place, value, order) atomic_fetch_add_explicit(place, value, order)
#define NOVA_AND(place, value, order) atomic_fetch_and_explicit(place, value, order)
#define NOVA_SWAP(place, value, order) atomic_exchange_explicit(place, value, order)
#define NOVA_SWAP_IF(place, expected, value) atomic_compare_exchange_strong(place, expected, value)
#endif

/* Writes an element that other threads may write at the same time. Afterwards it is one of the values
 * (NOVA_PUT), or the greatest of them and of the old value (NOVA_RAISE). Without operations on plain
 * types the compiler is trusted not to write an element in parts. */
#if defined(__GNUC__)
#define NOVA_PUT(type, at, value)                              \
    do {                                                       \
        type nova_written = (value);                           \
        __atomic_store((at), &nova_written, __ATOMIC_RELAXED); \
    } while (0)
#define NOVA_RAISE(at, value)                                                             \
    do {                                                                                  \
        int32_t nova_raised = (value);                                                    \
        int32_t nova_before = __atomic_load_n((at), __ATOMIC_RELAXED);                    \
        while (nova_before < nova_raised &&                                               \
               !__atomic_compare_exchange_n((at), &nova_before, nova_raised, true,        \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))          \
            ;                                                                             \
    } while (0)
#else
#define NOVA_PUT(type, at, value) (*(volatile type *)(at) = (value))
#endif

/* A word that threads wait on. */
typedef NOVA_ATOMIC(uint32_t) nova_shared;

/* A pause in a loop that waits for another thread. */
static inline void nova_pause(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && (defined(__aarch64__) || defined(__arm__))
    __asm__ volatile("yield");
#endif
}

#endif
