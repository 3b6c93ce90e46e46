/* Device memory: a range of addresses in which nothing can be accessed but while a kernel runs or
 * an API function copies, but for allocations of many pages. Each has pages of its own, ends where they
 * end, as far as alignment allows, and a page without access follows. Addresses are used again only when
 * all others have been. An allocation becomes accessible when a kernel first touches it, by a fault
 * (faults.h), and is shut when the kernel has ended: to open and shut all at each kernel took a quarter
 * of the time of tests. */
#ifndef NOVA_EMULATION_MEMORY_H
#define NOVA_EMULATION_MEMORY_H

namespace nova_emulation
{

constexpr size_t arena_bytes = (size_t)64 << 30; /* of addresses; memory only where allocated */
constexpr size_t allocation_align = 256;
constexpr size_t largest_hidden = (size_t)1 << 20;
constexpr unsigned char fence_byte = 0x5c; /* around an allocation, within its pages */
constexpr int all_devices = -1;

struct allocation {
    char *pages;   /* the pages that it has */
    size_t span;   /* bytes of these */
    char *data;    /* what the program sees */
    size_t bytes;
    int device;
    bool open;          /* whether its pages can be accessed */
    allocation *opened; /* the one that was opened before it, while it is open */
};

class device_memory
{
  public:
    /* Memory of a device, with stale contents; null if there is not so much. */
    void *allocate(int device, size_t bytes)
    {
        size_t limit = current_settings().memory;
        if (bytes > limit || used_[device] > limit - bytes)
            return NULL;
        size_t aligned = (bytes + allocation_align - 1) / allocation_align * allocation_align;
        size_t span = (aligned + page - 1) / page * page;
        char *pages = find_room(span + page);
        if (pages == NULL)
            return NULL;
        allocation made = {pages, span, pages + span - aligned, bytes, device, false, NULL};
        set_access(made, true);
        permit(pages, span);
        memset(pages, fence_byte, span);
        memset(made.data, stale, bytes);
        forbid(pages, span);
        permit(made.data, bytes);
        if (may_hide(made))
            set_access(made, false);
        used_[device] += bytes;
        live_[(uintptr_t)made.data] = made;
        return made.data;
    }

    /* Frees what starts here; false if nothing does. */
    bool release(void *data)
    {
        auto found = live_.find((uintptr_t)data);
        if (found == live_.end())
            return false;
        for (allocation **each = &opened_; *each != NULL; each = &(*each)->opened)
            if (*each == &found->second) {
                *each = found->second.opened;
                break;
            }
        allocation gone = found->second;
        set_access(gone, true);
        check_fences("cudaFree", gone);
        live_.erase(found);
        used_[gone.device] -= gone.bytes;
        set_access(gone, false);
        madvise(gone.pages, gone.span, MADV_DONTNEED);
        permit(gone.pages, gone.span);
        return true;
    }

    /* The allocation that holds an address; null if none does. */
    const allocation *find(const void *address) const
    {
        auto after = live_.upper_bound((uintptr_t)address);
        if (after == live_.begin())
            return NULL;
        const allocation &before = std::prev(after)->second;
        bool inside = (const char *)address < before.data + before.bytes;
        return inside || address == before.data ? &before : NULL;
    }

    /* Whether an address is one of device memory, allocated or not. */
    bool owns(const void *address) const
    {
        return arena_ != NULL && (const char *)address >= arena_ &&
               (const char *)address < arena_ + arena_bytes;
    }

    /* Lets the memory of a device be opened, or of all, and shuts what else is open; gives what was. */
    int expose(int device)
    {
        int before = exposed_;
        exposed_ = device;
        allocation **each = &opened_;
        while (*each != NULL) {
            allocation &shut = **each;
            if (!is_hidden(shut)) {
                each = &shut.opened;
                continue;
            }
            set_access(shut, false);
            shut.open = false;
            *each = shut.opened;
        }
        if (threads_watched) /* it would take what the threads of a kernel open for a race */
            for (auto &entry : live_)
                open(entry.second, entry.second.pages);
        return before;
    }

    /* Opens the allocation that has this address among its pages; false if none does that is exposed
     * and shut. It is called where a signal is handled, and allocates nothing. */
    bool open(const void *address)
    {
        auto after = live_.upper_bound((uintptr_t)address);
        return (after != live_.end() && open(after->second, address)) ||
               (after != live_.begin() && open(std::prev(after)->second, address));
    }

    /* Nobody has written just outside of an allocation that could be accessed. */
    void check_fences(const char *after)
    {
        for (auto &entry : live_)
            if (entry.second.open || !may_hide(entry.second))
                check_fences(after, entry.second);
    }

    size_t used(int device) { return used_[device]; }
    size_t count() const { return live_.size(); }

    static constexpr int no_device = -2;

  private:
    char *find_room(size_t span)
    {
        if (arena_ == NULL) {
            /* Not by way of a sanitizer, which would prepare itself for all of it. */
            long base = syscall(SYS_mmap, NULL, arena_bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (base == -1)
                fail("no addresses for device memory");
            arena_ = next_ = (char *)base;
        }
        for (int round = 0; round < 2; round++, next_ = arena_) {
            for (auto &entry : live_) {
                const allocation &each = entry.second;
                if (each.pages < next_ + span && next_ < each.pages + each.span + page)
                    next_ = each.pages + each.span + page;
            }
            if (span <= (size_t)(arena_ + arena_bytes - next_)) {
                char *found = next_;
                next_ += span;
                return found;
            }
        }
        return NULL;
    }

    /* Whether it is out of reach of what does not run on its device. Memory of many pages never is:
     * to hide it again and again would take longer than all else. */
    static bool may_hide(const allocation &of) { return of.span <= largest_hidden; }

    bool is_hidden(const allocation &of) const
    {
        return may_hide(of) && exposed_ != of.device && exposed_ != all_devices;
    }

    static void set_access(const allocation &of, bool allowed)
    {
        if (mprotect(of.pages, of.span, allowed ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
            fail("mprotect: %s", strerror(errno));
    }

    bool open(allocation &of, const void *address)
    {
        bool inside = of.pages <= (const char *)address && (const char *)address < of.pages + of.span;
        if (!inside || of.open || !may_hide(of) || is_hidden(of))
            return false;
        set_access(of, true);
        of.open = true;
        of.opened = opened_;
        opened_ = &of;
        return true;
    }

    /* Of one that can be accessed. */
    static void check_fences(const char *after, const allocation &of)
    {
        const char *end = of.pages + of.span;
        bool whole = true;
        permit(of.pages, of.span);
        for (const char *p = of.pages; whole && p < of.data; p++)
            whole = (unsigned char)*p == fence_byte;
        for (const char *p = of.data + of.bytes; whole && p < end; p++)
            whole = (unsigned char)*p == fence_byte;
        forbid(of.pages, of.span);
        permit(of.data, of.bytes);
        if (!whole)
            fail("%s: somebody has written outside of the allocation of %zu bytes at %p", after,
                 of.bytes, (void *)of.data);
    }

    char *arena_ = NULL;
    char *next_ = NULL;
    int exposed_ = no_device;
    allocation *opened_ = NULL; /* the last one that was opened and is open */
    std::map<uintptr_t, allocation> live_; /* by the address of the data */
    std::map<int, size_t> used_;
};

} // namespace nova_emulation

#endif
