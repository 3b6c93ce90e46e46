/* The machine's side of what kernels call (parts/threads.h). All of it runs in fibers. */
#ifndef NOVA_EMULATION_KERNEL_SIDE_H
#define NOVA_EMULATION_KERNEL_SIDE_H

namespace nova_emulation
{

thread *running = NULL;
volatile uint64_t turns = 0;

NOVA_EMULATION_UNWATCHED static thread *self_here()
{
    if (running == NULL)
        fail("a function for kernels is called by the host");
    return running;
}

NOVA_EMULATION_UNWATCHED const thread_place *here()
{
    return self_here();
}

/* The fiber's side of waiting. */
NOVA_EMULATION_UNWATCHED static void wait(thread *self, doing what)
{
    self->now = what;
    yield(self->own, false);
    self->now = doing::running;
}

NOVA_EMULATION_UNWATCHED void pause()
{
    wait(self_here(), doing::yielding);
}

NOVA_EMULATION_UNWATCHED uint64_t meet_at_barrier(meeting kind, uint64_t predicate, site where)
{
    thread *self = self_here();
    void *token = self->in().barrier.now();
    self->awaited = kind;
    self->where = where;
    self->operand = predicate;
    order_before(token);
    wait(self, doing::at_barrier);
    order_after(token);
    return self->result;
}

/* How every thread begins and ends. */
NOVA_EMULATION_UNWATCHED void thread_main()
{
    enter();
    thread *self = running;
    self->in().run->call->call();
    order_before(&self->in().run->end);
    self->now = doing::ended;
    yield(self->own, true);
    abort();
}

NOVA_EMULATION_UNWATCHED void *find_shared(const void *key, size_t bytes, size_t align)
{
    block *home = &self_here()->in();
    for (int i = 0; i < home->array_count; i++)
        if (home->arrays[i].key == key)
            return home->arrays[i].data;
    size_t gap = addresses_watched ? 32 : 0;
    size_t from = (home->shared_used + gap + align - 1) / align * align;
    home->shared_asked += bytes;
    if (home->shared_asked > home->run->most_shared || from + bytes > home->shared.bytes ||
        home->array_count == most_shared_arrays)
        fail("%s: more than %zu bytes, or %d arrays, of shared memory",
             describe(*self_here()).c_str(), home->run->most_shared, most_shared_arrays);
    void *data = home->shared.base + page + from;
    permit(data, bytes);
    home->shared_used = from + bytes;
    home->arrays[home->array_count++] = {key, data};
    return data;
}

NOVA_EMULATION_UNWATCHED void *dynamic_shared()
{
    return self_here()->in().shared.base + page;
}

NOVA_EMULATION_UNWATCHED uint64_t meet_in_warp(meeting kind, unsigned mask, uint64_t operand,
                                               unsigned source, site where)
{
    thread *self = self_here();
    if ((mask >> self->lane() & 1) == 0)
        fail("%s calls %s with mask %08x, which is without its own lane %u (%s)",
             describe(*self).c_str(), name_of(kind), mask, self->lane(), describe(where).c_str());
    self->awaited = kind;
    self->where = where;
    self->mask = mask;
    self->operand = operand;
    self->source = source;
    void *token = self->in().warps[self->warp()].now();
    if (kind == meeting::warp_sync)
        order_before(token);
    wait(self, doing::in_warp);
    if (kind == meeting::warp_sync)
        order_after(token);
    return self->result;
}

void check_width(int width, site where)
{
    if (width < 1 || width > 32 || (width & (width - 1)) != 0)
        fail("%s: a shuffle has width %d (%s)", describe(*self_here()).c_str(), width,
             describe(where).c_str());
}

void check_assumption(bool holds, const char *what, site where)
{
    if (!holds)
        fail("%s: %s is assumed and not so (%s)", describe(*self_here()).c_str(), what,
             describe(where).c_str());
}

/* What a fence orders under ThreadSanitizer. After it, this thread knows what those knew, at their
 * fences, whose atomic writes it has read. A second fiber remembers what this thread knew here, and
 * passes just that on at its next atomic writes. */
NOVA_EMULATION_UNWATCHED void fence()
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    thread *self = self_here();
    for (unsigned i = 0; i < self->reads && i < 8; i++)
        __tsan_acquire(self->read[i]);
    self->reads = 0;
    if (self->own.fences == NULL)
        self->own.fences = __tsan_create_fiber(0); /* it knows what its maker knows */
    __tsan_release(&self->own.fences);
    __tsan_switch_to_fiber(self->own.fences, __tsan_switch_to_fiber_no_sync);
    __tsan_acquire(&self->own.fences);
    __tsan_switch_to_fiber(self->own.watched, __tsan_switch_to_fiber_no_sync);
#endif
}

NOVA_EMULATION_UNWATCHED void note_read(const volatile void *address)
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    thread *self = self_here();
    for (unsigned i = 0; i < self->reads && i < 8; i++)
        if (self->read[i] == address)
            return;
    self->read[self->reads++ % 8] = (void *)address;
#endif
    (void)address;
}

NOVA_EMULATION_UNWATCHED void note_write(const volatile void *address)
{
#ifdef NOVA_EMULATION_THREADS_WATCHED
    thread *self = self_here();
    if (self->own.fences == NULL)
        return;
    __tsan_switch_to_fiber(self->own.fences, __tsan_switch_to_fiber_no_sync);
    __tsan_release((void *)address);
    __tsan_switch_to_fiber(self->own.watched, __tsan_switch_to_fiber_no_sync);
#endif
    (void)address;
}

NOVA_EMULATION_UNWATCHED void note_change(bool changed)
{
    self_here()->changed = changed;
}

NOVA_EMULATION_UNWATCHED void trap()
{
    wait(self_here(), doing::trapped);
}

} // namespace nova_emulation

#endif
