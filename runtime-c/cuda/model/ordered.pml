/* Work-groups that propagate a prefix in an ordered region (cuda/ordered.h), step by step, for spin to
 * try in every order. A group takes an iteration by a ticket, publishes its aggregate, looks back at
 * the iterations before it, LANES at a time, and publishes its inclusive prefix. What is checked:
 *   - each iteration gets the aggregates of all iterations before it, each of them once, and the
 *     start;
 *   - the final state is the combination of all aggregates;
 *   - no group waits for ever, however few groups run at a time (spin reports a state without an
 *     end).
 *
 * The aggregate of an iteration is a power of two, so that sums show which aggregates have been
 * combined.
 *
 * Macros set the size: GROUPS (that run at a time), COUNT (of iterations), LANES. Each of the others at
 * an #ifdef below seeds one mistake; the test sees each of them found. */

#ifndef GROUPS
#define GROUPS 3
#endif
#ifndef COUNT
#define COUNT 5
#endif
#ifndef LANES
#define LANES 2
#endif
#define START 64
#define BEFORE(i) (START + (1 << (i)) - 1)

#define INVALID 0
#define AGGREGATE 1
#define PREFIX 2

byte ticket;
/* The two words of a value, each with a status and a half of the bits. */
byte low_status[COUNT], low[COUNT], high_status[COUNT], high[COUNT];
byte state = START;
byte ended;
bool taken[COUNT];

/* nova_publish_status */
inline publish_status(t, value, what)
{
#ifdef STATUS_FIRST
    low_status[t] = what;
    low[t] = (value) & 15;
#else
    atomic { low_status[t] = what; low[t] = (value) & 15 };
#endif
    atomic { high_status[t] = what; high[t] = (value) >> 4 }
}

/* nova_await_status: a lane uses the status that ended its wait. */
inline await_status(at)
{
    do
    ::
#ifndef BLIND
        /* A lane that finds nothing looks again: it waits. */
        low_status[at] != INVALID && high_status[at] != INVALID;
#endif
        atomic { seen = low_status[at]; got = low[at] };
        atomic { seen_high = high_status[at]; got = got + (high[at] << 4) };
        if
#ifdef BLIND
        :: true -> break
#else
#ifdef HALVES_APART
        :: true -> break
#else
        :: seen == seen_high -> break
#endif
        :: else
#endif
        fi
    od
}

/* nova_look_back */
inline look_back(t)
{
    sum = 0;
    last = t;
    knows = false;
    do
    :: knows -> break
    :: else ->
        /* The lanes. Those after the nearest lane with a prefix do not count. */
        lane = 0;
        do
        :: lane == LANES || last - lane < 1 -> break
        :: else ->
            at = last - lane - 1;
            await_status(at);
            if
            :: !knows && seen == PREFIX ->
                sum = sum + got;
                knows = true
            :: !knows && seen != PREFIX ->
#ifdef AGGREGATE_IS_PREFIX
                knows = true;
#endif
                sum = sum + got
            :: else
#ifdef COUNT_ALL_LANES
                -> sum = sum + got
#endif
            fi;
            lane++
        od;
#ifdef LOOK_TWICE
        last = last - LANES + 1
#else
        last = last - LANES
#endif
    od
}

active [GROUPS] proctype group()
{
    byte t, before, sum, lane, at, seen, seen_high, got;
    short last;
    bool knows;
    do
    :: true ->
#ifdef ANY_ORDER
        /* Iterations belong to groups, which start in any order. */
        atomic {
            if
            :: ticket == COUNT -> t = COUNT
            :: else ->
                t = 0;
                do
                :: taken[t] -> t++
                :: !taken[t] -> break
                :: t + 1 < COUNT && !taken[t + 1] -> t++
                od;
                taken[t] = true;
                ticket++
            fi
        }
#else
#ifdef TAKE_APART
        t = ticket;
        ticket = t + 1;
#else
        atomic { t = ticket; ticket++ }
#endif
#endif
        if
        :: t >= COUNT -> break
        :: else
        fi;
        if
        :: t == 0 -> before = state
        :: else ->
            publish_status(t, 1 << t, AGGREGATE);
            look_back(t);
            before = sum
        fi;
        assert(before == BEFORE(t));
        publish_status(t, before + (1 << t), PREFIX);
        if
        :: t == COUNT - 1 -> state = before + (1 << t)
        :: else
        fi;
        ended++
    od;
    if
    :: ended == COUNT -> assert(state == BEFORE(COUNT))
    :: else
    fi
}
