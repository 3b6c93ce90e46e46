/* Differences between compilers: attributes, thread-local storage, floating-point contraction. */
#ifndef NOVA_PLATFORM_H
#define NOVA_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define NOVA_THREAD_LOCAL thread_local
#else
#define NOVA_THREAD_LOCAL _Thread_local
#endif

#if defined(__GNUC__)
#define NOVA_NEVER_RETURNS __attribute__((noreturn, cold))
#else
#define NOVA_NEVER_RETURNS
#endif

/* An attribute of long functions. They are not merged into their only caller again, and are compiled
 * without jump threading, whose time grows with the square of the number of consecutive conditionals. */
#if defined(__clang__)
#define NOVA_LARGE __attribute__((noinline))
#elif defined(__GNUC__)
#define NOVA_LARGE __attribute__((noinline, optimize("no-thread-jumps")))
#else
#define NOVA_LARGE
#endif

/* A line before a loop in which no iteration reads or writes what another one writes. clang's pragma
 * for it is an order, and clang warns where it cannot follow. */
#if defined(__GNUC__) && !defined(__clang__)
#define NOVA_INDEPENDENT _Pragma("GCC ivdep")
#else
#define NOVA_INDEPENDENT
#endif

/* Stands in a loop that chooses a state among constants, or keeps it. gcc (seen with 12.2) may
 * compute the state in lanes of vectors and take the largest one, where the last one is meant. It
 * finds no vectors for a loop with this. */
#if defined(__GNUC__) && !defined(__clang__)
#define NOVA_IN_ORDER(state) __asm__("" : "+rm"(state))
#else
#define NOVA_IN_ORDER(state) ((void)0)
#endif

/* Asserts that a structure has the size for which the program was compiled. */
#if defined(__cplusplus)
#define NOVA_CHECK_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "layout of " #type)
#else
#define NOVA_CHECK_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "layout of " #type)
#endif

/* A definition that may stand in several programs that are linked together; the linker keeps one of
 * them. */
#if defined(__GNUC__)
#define NOVA_WEAK __attribute__((weak))
#else
#define NOVA_WEAK
#endif

/* Prefetches an element; the index may lie outside the array. */
static inline void nova_prefetch(const void *array, int64_t index, size_t size)
{
#if defined(__GNUC__)
    __builtin_prefetch((const void *)((uintptr_t)array + (uintptr_t)index * size));
#else
    (void)array;
    (void)index;
    (void)size;
#endif
}

/* True for processors whose hardware prefetcher follows linear streams, and is faster without
 * prefetches: AMD's, measured on a Zen 4. */
#if defined(__znver1__) || defined(__znver2__) || defined(__znver3__) || defined(__znver4__) \
    || defined(__znver5__)
#define NOVA_PREFETCHES_LINEAR 1
#else
#define NOVA_PREFETCHES_LINEAR 0
#endif

/* The same as nova_prefetch, in a loop that accesses memory only by reading arrays from front to back. */
static inline void nova_prefetch_linear(const void *array, int64_t index, size_t size)
{
    if (!NOVA_PREFETCHES_LINEAR)
        nova_prefetch(array, index, size);
}

/* An address in the frame of the current function. */
#if defined(__GNUC__)
#define NOVA_FRAME ((uintptr_t)__builtin_frame_address(0))
#else
#define NOVA_FRAME ((uintptr_t)&(char){0})
#endif

#endif
