/* What happens when memory is touched that must not be, or not yet, or a kernel does not come to a place
 * where others may go on: a message that says who did it. */
#ifndef NOVA_EMULATION_FAULTS_H
#define NOVA_EMULATION_FAULTS_H


namespace nova_emulation
{

inline device_memory &memory()
{
    static device_memory all;
    return all;
}

inline struct sigaction previous_handler;

/* Runs on a stack of its own. Nothing of the program goes on after it, but where device memory is opened
 * when it is first touched. */
inline void on_fault(int signal, siginfo_t *info, void *context)
{
    const char *address = (const char *)info->si_addr;
    if (memory().open(address))
        return;
    if (running != NULL) {
        const stack &own = running->own.stack;
        if (address >= own.base && address < own.base + page)
            fail("%s: its stack of %zu bytes is full (NOVA_EMULATION_STACK)",
                 describe(*running).c_str(), own.bytes);
        fail("%s: accesses %p, which is %s", describe(*running).c_str(), (const void *)address,
             memory().owns(address) ? "device memory not allocated, freed or of another device"
                                    : "no memory");
    }
    if (memory().owns(address))
        fail("the host accesses device memory at %p", (const void *)address);
    /* Somebody else's: at the same instruction again, with the handler that was there before. */
    (void)context;
    sigaction(signal, &previous_handler, NULL);
}

/* Every second: whether another turn has begun since the last. */
NOVA_EMULATION_UNWATCHED inline void look_at_turns()
{
    static uint64_t seen = 0;
    static int seconds = 0;
    seconds = seen == turns ? seconds + 1 : 0;
    seen = turns;
    if (running == NULL || seconds < current_settings().seconds)
        return;
    ignore_reads(); /* of what the thread that is stuck has written */
    fail("%s: does not end, nor come to a barrier or an atomic operation; a loop that waits for "
         "memory must read it by nova_load (NOVA_EMULATION_SECONDS)",
         describe(*running).c_str());
}

/* Prepares this thread of the host for faults. */
inline void watch_faults()
{
    static thread_local std::unique_ptr<char[]> own_stack;
    stack_t alternative;
    if (sigaltstack(NULL, &alternative) == 0 && (alternative.ss_flags & SS_DISABLE) != 0) {
        own_stack.reset(new char[65536]);
        alternative = stack_t();
        alternative.ss_sp = own_stack.get();
        alternative.ss_size = 65536;
        sigaltstack(&alternative, NULL);
    }
    static bool watches = false;
    if (watches)
        return;
    watches = true;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &previous_handler);
    struct sigaction delay;
    memset(&delay, 0, sizeof delay);
    delay.sa_handler = [](int) { look_at_turns(); };
    delay.sa_flags = SA_ONSTACK;
    sigaction(SIGVTALRM, &delay, NULL);
}

/* Whether turns that do not end are noticed: by a signal for each second of processor time, but by a
 * thread under ThreadSanitizer, which keeps signals back until the program calls the C library. */
inline void watch_time(bool watched)
{
    bool any = watched && current_settings().seconds > 0;
    if (threads_watched) {
        static bool looks = false;
        if (any && !looks)
            std::thread([] {
                for (;; sleep(1))
                    look_at_turns();
            }).detach();
        looks = looks || any;
        return;
    }
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_sec = timer.it_interval.tv_sec = any ? 1 : 0;
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

} // namespace nova_emulation

#endif
