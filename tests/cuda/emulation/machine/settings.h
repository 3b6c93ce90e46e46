/* What can be set, by environment variables or by nova_emulation_set:
 *
 *   NOVA_EMULATION_DEVICES   how many devices there are (1)
 *   NOVA_EMULATION_MEMORY    bytes of memory of each (1 GiB)
 *   NOVA_EMULATION_FAIL      N: the N-th call of the API fails, counted from 1; N+: and all later
 *   NOVA_EMULATION_ORDER     the order of blocks and threads: random; ascending or descending, each
 *                            as far as it gets; interleaved: random, with all blocks resident
 *   NOVA_EMULATION_SEED      which random order (1)
 *   NOVA_EMULATION_RESIDENT  how many blocks are resident at once (4)
 *   NOVA_EMULATION_STREAMS   eager: an operation runs when it is put into a stream; lazy: when
 *                            somebody waits for it (eager)
 *   NOVA_EMULATION_STACK     bytes of a thread's stack (64 KiB, 256 KiB under a sanitizer)
 *   NOVA_EMULATION_STRICT    1: a thread that ends while others of its block go to a barrier is an
 *                            error; GPUs since Volta count only threads that have not ended (0)
 *   NOVA_EMULATION_PATIENCE  how often threads may look at memory that does not change before they
 *                            count as waiting for ever (100000, and 1000 for each resident thread)
 *   NOVA_EMULATION_SECONDS   processor time that a thread may take from one place where others may
 *                            go on to the next; 0: any (20)
 */
#ifndef NOVA_EMULATION_SETTINGS_H
#define NOVA_EMULATION_SETTINGS_H

namespace nova_emulation
{

enum class order { random, ascending, descending, interleaved };

struct settings {
    int devices = 1;
    size_t memory = (size_t)1 << 30;
    uint64_t fail_from = 0; /* 0: none fails */
    bool fail_rest = false;
    order schedule = order::random;
    uint64_t seed = 1;
    int resident = 4;
    bool lazy = false;
    size_t stack = (threads_watched || addresses_watched ? 256 : 64) * 1024;
    bool strict = false;
    uint64_t patience = 100000;
    int seconds = 20;
};

/* Ends the process because the program, or a setting, is wrong. */
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "emulation: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

/* One setting of the table above, by its name without NOVA_EMULATION_; false if there is none. */
inline bool set(settings &all, const std::string &name, const char *text)
{
    uint64_t number = strtoull(text, NULL, 10);
    std::string value = text;
    if (name == "DEVICES")
        all.devices = (int)number;
    else if (name == "MEMORY")
        all.memory = number;
    else if (name == "FAIL")
        all.fail_from = number, all.fail_rest = !value.empty() && value.back() == '+';
    else if (name == "ORDER" && value == "random")
        all.schedule = order::random;
    else if (name == "ORDER" && value == "ascending")
        all.schedule = order::ascending;
    else if (name == "ORDER" && value == "descending")
        all.schedule = order::descending;
    else if (name == "ORDER" && value == "interleaved")
        all.schedule = order::interleaved;
    else if (name == "SEED")
        all.seed = number;
    else if (name == "RESIDENT")
        all.resident = number > 0 ? (int)number : 1;
    else if (name == "STREAMS" && (value == "lazy" || value == "eager"))
        all.lazy = value == "lazy";
    else if (name == "STACK")
        all.stack = number;
    else if (name == "STRICT")
        all.strict = number != 0;
    else if (name == "PATIENCE")
        all.patience = number;
    else if (name == "SECONDS")
        all.seconds = (int)number;
    else
        return false;
    return true;
}

/* The settings of the environment, until changed. */
inline settings &current_settings()
{
    static settings all = [] {
        settings read;
        for (const char *name : {"DEVICES", "MEMORY", "FAIL", "ORDER", "SEED", "RESIDENT",
                                 "STREAMS", "STACK", "STRICT", "PATIENCE", "SECONDS"}) {
            std::string variable = std::string("NOVA_EMULATION_") + name;
            const char *value = getenv(variable.c_str());
            if (value != NULL && *value != 0 && !set(read, name, value))
                fail("%s=%s is not known", variable.c_str(), value);
        }
        return read;
    }();
    return all;
}

/* The next of a sequence of random numbers (a counter through the finalizer of SplitMix64). */
inline uint64_t next_random(uint64_t &state)
{
    uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

} // namespace nova_emulation

#endif
