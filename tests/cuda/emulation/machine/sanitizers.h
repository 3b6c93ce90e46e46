/* Which sanitizer watches, and what it is told. Without one all of this is nothing. */
#ifndef NOVA_EMULATION_SANITIZERS_H
#define NOVA_EMULATION_SANITIZERS_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOVA_EMULATION_THREADS_WATCHED 1
#endif
#if __has_feature(address_sanitizer)
#define NOVA_EMULATION_ADDRESSES_WATCHED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(NOVA_EMULATION_THREADS_WATCHED)
#define NOVA_EMULATION_THREADS_WATCHED 1
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(NOVA_EMULATION_ADDRESSES_WATCHED)
#define NOVA_EMULATION_ADDRESSES_WATCHED 1
#endif

/* Functions of the emulation that fibers call. To ThreadSanitizer fibers are threads, and what the
 * machine keeps of them would be races; but these never run at the same time. */
#define NOVA_EMULATION_UNWATCHED __attribute__((no_sanitize("thread"), noinline))

#ifdef NOVA_EMULATION_THREADS_WATCHED
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreReadsBegin(const char *file, int line);
#endif
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace nova_emulation
{

#ifdef NOVA_EMULATION_THREADS_WATCHED
constexpr bool threads_watched = true;
#else
constexpr bool threads_watched = false;
#endif
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
constexpr bool addresses_watched = true;
#else
constexpr bool addresses_watched = false;
#endif

/* What this fiber has done so far comes before what others do after order_after(token). */
NOVA_EMULATION_UNWATCHED inline void order_before(void *token)
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    __tsan_release(token);
#endif
    (void)token;
}

NOVA_EMULATION_UNWATCHED inline void order_after(void *token)
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    __tsan_acquire(token);
#endif
    (void)token;
}

/* What this thread reads from now on is no race. */
inline void ignore_reads()
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
#endif
}

/* Whether these bytes may be accessed, as far as AddressSanitizer is concerned. */
inline void forbid(const void *from, size_t bytes)
{
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __asan_poison_memory_region(from, bytes);
#endif
    (void)from, (void)bytes;
}

inline void permit(const void *from, size_t bytes)
{
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __asan_unpoison_memory_region(from, bytes);
#endif
    (void)from, (void)bytes;
}

} // namespace nova_emulation

#endif
