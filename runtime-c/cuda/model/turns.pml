/* Work-groups that hand a number on in their turns (cuda/turns.h), step by step, for spin to try in
 * every order: a group takes an iteration by a ticket, says what it comes to, looks back at the
 * iterations before it, so many lanes at a time, and says what all up to its end come to. What is
 * checked:
 *   - each iteration is given what all before it come to, each of them once, from the start on;
 *   - what is handed on in the end is what all come to;
 *   - nobody waits for ever, however few groups run at a time (spin reports a state without an end).
 * An iteration comes to a power of two, so that sums tell what has been put together.
 * Macros set the size: GROUPS (that run at a time), COUNT (of iterations), LANES. Each of the others at an
 * #ifdef below seeds one mistake; the test sees each of them found. */

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

#define NOTHING 0
#define OWN 1
#define ALL 2

byte ticket;
byte said[COUNT], own[COUNT], all[COUNT];
byte state = START;
byte ended;
bool taken[COUNT];

/* nova_say */
inline say(t, to, value, what)
{
#ifdef SAY_FIRST
    said[t] = what;
    to = value
#else
    to = value;
    said[t] = what
#endif
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
        /* The lanes; those behind the nearest that knows all do not count. */
        lane = 0;
        do
        :: lane == LANES || last - lane < 1 -> break
        :: else ->
            at = last - lane - 1;
#ifndef BLIND
            said[at] != NOTHING;
#endif
            /* A lane uses what it has seen when it stopped waiting. */
            seen = said[at];
            if
            :: !knows && seen == ALL ->
                sum = sum + all[at];
                knows = true
            :: !knows && seen != ALL ->
#ifdef OWN_IS_ALL
                knows = true;
#endif
                sum = sum + own[at]
            :: else
#ifdef COUNT_ALL_LANES
                -> sum = sum + own[at]
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
    byte t, before, sum, lane, at, seen;
    short last;
    bool knows;
    do
    :: true ->
#ifdef ANY_ORDER
        /* As if iterations were those of groups, which begin in any order. */
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
            say(t, own[t], 1 << t, OWN);
            look_back(t);
            before = sum
        fi;
        assert(before == BEFORE(t));
        say(t, all[t], before + (1 << t), ALL);
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
