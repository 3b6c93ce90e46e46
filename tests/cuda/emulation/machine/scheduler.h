/* The machine: one launch at a time, some of its blocks resident, their threads as fibers.
 *
 * A thread runs until it waits at a barrier or in a warp operation, until it yields, at an atomic
 * operation, or until it ends. Then the machine decides who goes on. All that a fiber writes is its
 * own record; the machine looks at it afterwards. So one place holds every rule on who waits for
 * whom, and knows when nobody can go on. */
#ifndef NOVA_EMULATION_SCHEDULER_H
#define NOVA_EMULATION_SCHEDULER_H

namespace nova_emulation
{

/* How every thread begins. */
void thread_main();

class machine
{
  public:
    machine(launch &run, size_t stack_bytes)
        : run_(run), set_(current_settings()), stack_bytes_(std::max(stack_bytes, set_.stack))
    {
        static uint64_t launches = 0;
        random_ = set_.seed * 0x100000001b3 + launches++;
        blocks_ = volume(run.grid);
        threads_ = (unsigned)volume(run.block);
        in_order_ = set_.schedule == order::ascending || set_.schedule == order::descending;
        most_resident_ = (uint64_t)set_.resident;
        if (set_.schedule == order::interleaved)
            most_resident_ = std::max<uint64_t>(1, (threads_watched ? 2048 : 8192) / threads_);
        if (!in_order_)
            shuffle_blocks();
    }

    /* Runs the whole launch. */
    void go()
    {
        while (!run_.trapped && (begun_ < blocks_ || !resident_.empty())) {
            while (begun_ < blocks_ && resident_.size() < most_resident_)
                begin_block();
            if (runnable_.empty())
                report_deadlock("nobody can go on");
            turn(next());
        }
        order_after(&run_.end);
        for (std::unique_ptr<block> &left : resident_)
            drop(*left);
        for (std::unique_ptr<block> &left : ended_)
            drop(*left);
    }

  private:
    void shuffle_blocks()
    {
        permutation_.resize(blocks_);
        for (uint64_t i = 0; i < blocks_; i++)
            permutation_[i] = (uint32_t)i;
        for (uint64_t i = blocks_; i > 1; i--)
            std::swap(permutation_[i - 1], permutation_[next_random(random_) % i]);
    }

    void begin_block()
    {
        uint64_t number = begun_++;
        if (set_.schedule == order::descending)
            number = blocks_ - 1 - number;
        else if (!in_order_)
            number = permutation_[number];
        std::unique_ptr<block> made(new block);
        made->launch = made->run = &run_;
        made->index = place(number, run_.grid);
        made->count = made->live = threads_;
        made->shared = take_stack(most_static_shared + run_.dynamic_shared +
                                  (addresses_watched ? 64 * most_shared_arrays : 0));
        memset(made->shared.base + page, stale, made->shared.bytes);
        forbid(made->shared.base + page, made->shared.bytes);
        permit(made->shared.base + page, run_.dynamic_shared);
        made->shared_used = made->shared_asked = run_.dynamic_shared;
        made->threads.reset(new thread[threads_]);
        for (unsigned i = 0; i < threads_; i++) {
            thread &t = made->threads[i];
            t.home = made.get();
            t.number = i;
            t.index = place(i, run_.block);
            make_fiber(t.own, thread_main, stack_bytes_);
            if (threads_watched)
                name_fiber(t.own, short_name(t).c_str());
        }
        wake(*made, [](const thread &) { return true; });
        resident_.push_back(std::move(made));
    }

    /* Makes those threads of a block runnable that a predicate chooses. */
    template <typename Chosen> void wake(block &home, Chosen chosen)
    {
        for (unsigned i = 0; i < home.count; i++) {
            thread &t = home.threads[set_.schedule == order::descending ? home.count - 1 - i : i];
            if (chosen(t))
                runnable_.push_back(&t);
        }
    }

    thread *next()
    {
        if (!in_order_)
            std::swap(runnable_[next_random(random_) % runnable_.size()], runnable_.front());
        thread *chosen = runnable_.front();
        runnable_.pop_front();
        return chosen;
    }

    /* Lets a thread go on, and does what follows from where it stops. */
    void turn(thread *t)
    {
        turns = turns + 1;
        running = t;
        resume(t->own);
        running = NULL;
        switch (t->now) {
        case doing::yielding: after_yield(t); break;
        case doing::at_barrier: after_arrival(*t); break;
        case doing::in_warp: try_warp(*t); break;
        case doing::ended: after_end(*t); break;
        case doing::trapped: run_.trapped = true; break;
        case doing::running: fail("the emulation has lost %s", describe(*t).c_str());
        }
    }

    /* In order, a thread goes on as long as it changes something, so that each block gets as far as
     * it can; who only looks lets all others look first. */
    void after_yield(thread *t)
    {
        idle_ = t->changed ? 0 : idle_ + 1;
        if (idle_ > set_.patience + 1000 * runnable_.size())
            report_deadlock("all look again and again at memory that does not change");
        if (in_order_ && t->changed)
            runnable_.push_front(t);
        else
            runnable_.push_back(t);
        t->changed = false;
    }

    void after_arrival(thread &t)
    {
        block &home = t.in();
        for (unsigned i = 0; i < home.count && home.waiting > 0; i++) {
            thread &other = home.threads[i];
            if (other.now != doing::at_barrier || &other == &t)
                continue;
            if (other.awaited != t.awaited || !(other.where == t.where))
                fail("%s waits at %s (%s), but %s at %s (%s): barrier divergence",
                     describe(t).c_str(), name_of(t.awaited), describe(t.where).c_str(),
                     describe(other).c_str(), name_of(other.awaited),
                     describe(other.where).c_str());
            break;
        }
        home.waiting++;
        try_barrier(home);
    }

    /* Opens the barrier if all who have not ended are there. */
    void try_barrier(block &home)
    {
        if (home.waiting == 0)
            return;
        if (set_.strict && home.live < home.count)
            report_absent(home);
        if (home.waiting < home.live)
            return;
        uint64_t count = 0;
        for (unsigned i = 0; i < home.count; i++)
            if (home.threads[i].now == doing::at_barrier && home.threads[i].operand != 0)
                count++;
        for (unsigned i = 0; i < home.count; i++)
            home.threads[i].result = answer(home.threads[i].awaited, count, home.live);
        home.waiting = 0;
        home.barrier.turn ^= 1;
        wake(home, [](thread &t) {
            bool woken = t.now == doing::at_barrier;
            if (woken)
                t.now = doing::running;
            return woken;
        });
    }

    /* What a barrier gives where so many of all threads have a predicate that holds. */
    static uint64_t answer(meeting kind, uint64_t holds, uint64_t all)
    {
        return kind == meeting::barrier_and ? holds == all
             : kind == meeting::barrier_or  ? holds > 0
                                            : holds;
    }

    void after_end(thread &t)
    {
        block &home = t.in();
        idle_ = 0;
        home.live--;
        try_barrier(home);
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            unsigned number = t.warp() * warp_lanes + lane;
            if (number < home.count && home.threads[number].now == doing::in_warp)
                try_warp(home.threads[number]);
        }
        if (home.live == 0)
            end_block(home);
        else if (!keeps_fibers())
            drop_fiber(t.own, true);
    }

    /* ThreadSanitizer gives the number of a fiber that is gone to a new one, and then sees no race
     * between the two. So fibers stay until the launch ends, unless there are more than it can
     * have. */
    bool keeps_fibers() const
    {
        return threads_watched && blocks_ * threads_ <= most_kept_fibers;
    }

    void end_block(block &home)
    {
        for (std::unique_ptr<block> &ended : resident_)
            if (ended.get() == &home) {
                if (!keeps_fibers())
                    drop(home);
                /* The record itself would be freed with no order after the fibers. */
                if (threads_watched)
                    ended_.push_back(std::move(ended));
                std::swap(ended, resident_.back());
                resident_.pop_back();
                return;
            }
    }

    void drop(block &home)
    {
        for (unsigned i = 0; i < home.count; i++)
            if (home.threads[i].own.stack.base != NULL)
                drop_fiber(home.threads[i].own, home.threads[i].now == doing::ended);
        if (home.shared.base != NULL)
            give_stack(home.shared, false);
        home.shared = stack();
    }

    /* Completes the warp operation that a thread is in, if all lanes of its mask are in it. Lanes
     * that have ended, or never were, do not count. */
    void try_warp(thread &t)
    {
        block &home = t.in();
        thread *lanes[warp_lanes] = {};
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            unsigned number = t.warp() * warp_lanes + lane;
            if ((t.mask >> lane & 1) == 0 || number >= home.count)
                continue;
            thread &other = home.threads[number];
            if (other.now == doing::ended) {
                if (set_.strict)
                    fail("%s waits in %s (%s) for lane %u, which has ended", describe(t).c_str(),
                         name_of(t.awaited), describe(t.where).c_str(), lane);
                continue;
            }
            if (other.now != doing::in_warp)
                return;
            if (other.awaited != t.awaited || other.mask != t.mask) {
                check_not_mutual(t, other);
                return;
            }
            lanes[lane] = &other;
        }
        complete_warp(t.awaited, lanes);
        home.warps[t.warp()].turn ^= 1;
        wake(home, [&](thread &woken) {
            bool in = woken.warp() == t.warp() && lanes[woken.lane()] == &woken;
            if (in)
                woken.now = doing::running;
            return in;
        });
    }

    /* Lanes in different operations: if each needs the other in its own, neither goes on. */
    static void check_not_mutual(const thread &t, const thread &other)
    {
        if ((other.mask >> t.lane() & 1) != 0)
            fail("%s is in %s with mask %08x (%s), but %s in %s with mask %08x (%s): warp "
                 "divergence",
                 describe(t).c_str(), name_of(t.awaited), t.mask, describe(t.where).c_str(),
                 describe(other).c_str(), name_of(other.awaited), other.mask,
                 describe(other.where).c_str());
    }

    /* Gives each lane its result. What comes from a lane that takes no part is undefined. */
    static void complete_warp(meeting kind, thread *const (&lanes)[warp_lanes])
    {
        unsigned present = 0, holding = 0;
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            present |= lanes[lane] != NULL ? 1u << lane : 0;
            holding |= lanes[lane] != NULL && lanes[lane]->operand != 0 ? 1u << lane : 0;
        }
        for (thread *t : lanes) {
            if (t == NULL)
                continue;
            if (kind == meeting::ballot)
                t->result = holding;
            else if (kind == meeting::any)
                t->result = holding != 0;
            else if (kind == meeting::all)
                t->result = holding == present;
            else if (kind != meeting::warp_sync)
                t->result = lanes[t->source] != NULL ? lanes[t->source]->operand
                                                     : 0xcbcbcbcbcbcbcbcb;
        }
    }

    [[noreturn]] void report_absent(block &home)
    {
        const thread *ended = NULL, *waits = NULL;
        for (unsigned i = 0; i < home.count; i++) {
            const thread &t = home.threads[i];
            if (t.now == doing::ended)
                ended = &t;
            else if (t.now == doing::at_barrier)
                waits = &t;
        }
        fail("%s waits at %s (%s), but %s has ended: barrier divergence", describe(*waits).c_str(),
             name_of(waits->awaited), describe(waits->where).c_str(), describe(*ended).c_str());
    }

    /* Names a thread of each kind that waits, of the first block that can be blamed. */
    [[noreturn]] void report_deadlock(const char *why)
    {
        std::string text;
        for (std::unique_ptr<block> &home : resident_) {
            const thread *shown[2] = {};
            for (unsigned i = 0; i < home->count; i++) {
                const thread &t = home->threads[i];
                if (t.now == doing::at_barrier || t.now == doing::in_warp)
                    shown[t.now == doing::in_warp] = &t;
            }
            for (const thread *t : shown)
                if (t != NULL)
                    text += "\n    " + describe(*t) + " waits in " + name_of(t->awaited) + " (" +
                            describe(t->where) + ")";
        }
        fail("%s: deadlock: %s; %zu of %llu blocks are resident, %llu have not begun%s",
             run_.kernel.c_str(), why, resident_.size(), (unsigned long long)blocks_,
             (unsigned long long)(blocks_ - begun_), text.c_str());
    }

    launch &run_;
    const settings &set_;
    size_t stack_bytes_;
    uint64_t random_ = 0;
    uint64_t blocks_ = 0;
    unsigned threads_ = 0; /* of a block */
    bool in_order_ = false;
    uint64_t most_resident_ = 0;
    uint64_t begun_ = 0;
    uint64_t idle_ = 0; /* yields since memory has changed */
    std::vector<uint32_t> permutation_;
    std::vector<std::unique_ptr<block>> resident_, ended_;
    std::deque<thread *> runnable_;
};

} // namespace nova_emulation

#endif
