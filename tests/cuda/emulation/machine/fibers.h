/* Fibers: activities with stacks of their own that take turns on one thread of the host, which
 * itself goes on only when a fiber yields. */
#ifndef NOVA_EMULATION_FIBERS_H
#define NOVA_EMULATION_FIBERS_H

/* NOVA_EMULATION_UCONTEXT asks for the C library's way to change stacks. */
#if defined(__x86_64__) && !defined(NOVA_EMULATION_UCONTEXT)
#define NOVA_EMULATION_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace nova_emulation
{

struct stack {
    char *base = NULL; /* one page without access, then the stack */
    size_t bytes = 0;  /* without that page */
};

struct fiber {
    nova_emulation::stack stack;
#ifdef NOVA_EMULATION_OWN_SWITCH
    void *top = NULL; /* the stack pointer while others run */
#else
    ucontext_t context;
#endif
    void *watched = NULL; /* the thread that ThreadSanitizer takes it for */
    void *fences = NULL;  /* another, which knows what came before the last fence */
    void *frames = NULL;  /* what AddressSanitizer keeps for it while others run */
};

/* The other side of every change of places: the thread that resumes fibers. */
struct host_side {
#ifdef NOVA_EMULATION_OWN_SWITCH
    void *top = NULL;
#else
    ucontext_t context;
#endif
    void *watched = NULL;
    void *frames = NULL;
    const void *stack = NULL;
    size_t stack_bytes = 0;
};
inline host_side host;

#ifdef NOVA_EMULATION_OWN_SWITCH
/* Saves what a function must keep, and the stack pointer; loads another's. swapcontext would do,
 * but makes a system call for signals each time, and AddressSanitizer warns of it. */
extern "C" void nova_emulation_switch(void **save, void *load);
__asm__(".pushsection .text.nova_emulation_switch,\"axG\",@progbits,nova_emulation_switch,comdat\n"
        ".weak nova_emulation_switch\n"
        ".type nova_emulation_switch,@function\n"
        "nova_emulation_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size nova_emulation_switch,.-nova_emulation_switch\n"
        ".popsection\n");
#endif

constexpr size_t page = 4096;

/* Stacks of a size that no fiber uses. */
inline std::vector<stack> &spare_stacks(size_t bytes)
{
    static std::map<size_t, std::vector<stack>> spare;
    return spare[bytes];
}

inline stack take_stack(size_t bytes)
{
    bytes = (bytes + page - 1) / page * page;
    std::vector<stack> &spare = spare_stacks(bytes);
    if (!spare.empty()) {
        stack taken = spare.back();
        spare.pop_back();
        return taken;
    }
    int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void *base = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (base == MAP_FAILED || mprotect(base, page, PROT_NONE) != 0)
        fail("no memory for the stack of a thread; fewer blocks may be resident");
    return {(char *)base, bytes};
}

/* ThreadSanitizer forgets who used memory when it is unmapped; else the next fiber on this stack
 * would race with the last. What is left on it after a fiber that has not ended, or of shared
 * arrays, may be forbidden to AddressSanitizer. */
inline void give_stack(stack given, bool clean)
{
    if (!clean)
        permit(given.base + page, given.bytes);
    if (threads_watched)
        munmap(given.base, given.bytes + page);
    else
        spare_stacks(given.bytes).push_back(given);
}

/* Prepares a fiber that begins with a function, which must never return. */
inline void make_fiber(fiber &made, void (*begin)(), size_t stack_bytes)
{
    made.stack = take_stack(stack_bytes);
    char *end = made.stack.base + page + made.stack.bytes;
#ifdef NOVA_EMULATION_OWN_SWITCH
    /* Six registers, the function, and no frame above it, where its frame is aligned as after a
     * call. */
    void **top = (void **)end - 8;
    memset(top, 0, 8 * sizeof *top);
    top[6] = (void *)begin;
    made.top = top;
#else
    (void)end;
    getcontext(&made.context);
    made.context.uc_stack.ss_sp = made.stack.base + page;
    made.context.uc_stack.ss_size = made.stack.bytes;
    made.context.uc_link = NULL;
    makecontext(&made.context, begin, 0);
#endif
#ifdef NOVA_EMULATION_THREADS_WATCHED
    made.watched = __tsan_create_fiber(0);
#endif
}

/* What reports of ThreadSanitizer call a fiber. */
inline void name_fiber(fiber &named, const char *name)
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    __tsan_set_fiber_name(named.watched, name);
#endif
    (void)named, (void)name;
}

/* Forgets a fiber that has ended or will not go on. */
inline void drop_fiber(fiber &dropped, bool has_ended)
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    __tsan_destroy_fiber(dropped.watched);
    if (dropped.fences != NULL)
        __tsan_destroy_fiber(dropped.fences);
#endif
    give_stack(dropped.stack, has_ended);
    dropped = fiber();
}

/* Lets a fiber go on until it yields. */
NOVA_EMULATION_UNWATCHED inline void resume(fiber &next)
{
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __sanitizer_start_switch_fiber(&host.frames, next.stack.base + page, next.stack.bytes);
#endif
#ifdef NOVA_EMULATION_THREADS_WATCHED
    host.watched = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(next.watched, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef NOVA_EMULATION_OWN_SWITCH
    nova_emulation_switch(&host.top, next.top);
#else
    swapcontext(&host.context, &next.context);
#endif
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __sanitizer_finish_switch_fiber(host.frames, NULL, NULL);
#endif
}

/* Begins a fiber's first turn. */
NOVA_EMULATION_UNWATCHED inline void enter()
{
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __sanitizer_finish_switch_fiber(NULL, &host.stack, &host.stack_bytes);
#endif
}

/* Ends the turn of the fiber that runs; its last one if so said. */
NOVA_EMULATION_UNWATCHED inline void yield(fiber &running, bool last)
{
    (void)last;
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __sanitizer_start_switch_fiber(last ? NULL : &running.frames, host.stack, host.stack_bytes);
#endif
#ifdef NOVA_EMULATION_THREADS_WATCHED
    __tsan_switch_to_fiber(host.watched, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef NOVA_EMULATION_OWN_SWITCH
    nova_emulation_switch(&running.top, host.top);
#else
    swapcontext(&running.context, &host.context);
#endif
#ifdef NOVA_EMULATION_ADDRESSES_WATCHED
    __sanitizer_finish_switch_fiber(running.frames, &host.stack, &host.stack_bytes);
#endif
}

} // namespace nova_emulation

#endif
