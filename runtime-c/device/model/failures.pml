/* A model of failures before barriers, as in device/threads.h, step by step; spin tries every order.
 * The threads of groups run phases that barriers separate, and any thread may fail in any phase. The
 * model checks:
 *   - after each barrier all threads of a group get the same answer, so that they leave together;
 *   - the answer is yes if one of them has failed before that barrier;
 *   - no thread waits at a barrier for ever;
 *   - one failure of all groups is written, whole, and by one thread.
 *
 * Macros set the size: GROUPS, THREADS of each, PHASES. Each of the other macros at an #ifdef below
 * seeds one mistake; the test checks that each of them is found. */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef PHASES
#define PHASES 2
#endif
#ifndef GROUPS
#define GROUPS 2
#endif
#define NEVER 100 /* no thread has failed */
#define BEFORE 101 /* a kernel or another group has failed already: less than every phase */

/* The words that all threads see. */
bool taken;
byte writers, site, argument;

/* The word that the threads of a group see: the first barrier before which one of them has failed. */
byte first[GROUPS];

/* The barrier of each group: the number of threads that have come, and the number of times it has
 * opened. */
byte come[GROUPS], opened[GROUPS];

/* The record for the check below: the failures before each barrier, and the answers to the threads. */
bool failed_before[GROUPS * (PHASES + 1)];
byte told_yes[GROUPS * (PHASES + 1)], told_no[GROUPS * (PHASES + 1)];
byte ended;

inline wait_for_all()
{
    byte generation;
    atomic {
        generation = opened[group];
        come[group]++;
        if
        :: come[group] == THREADS -> come[group] = 0; opened[group]++
        :: else
        fi
    }
    opened[group] != generation
}

inline fail()
{
#ifdef TAKE_APART
    /* The flag is read, and set in a later step. */
    if
    :: !taken -> taken = true; mine = true
    :: else
    fi;
#else
    atomic {
        if
        :: !taken -> taken = true; mine = true
        :: else
        fi
    }
#endif
    if
    :: mine -> writers++; site = _pid; argument = _pid
    :: else
    fi;
    failed_before[group * (PHASES + 1) + phase] = true;
    atomic {
        if
        :: first[group] == NEVER || (first[group] != BEFORE && first[group] > phase) ->
            first[group] = phase
        :: else
        fi
    }
}

/* Tells this thread whether to leave, and records the answer. */
inline ask(answer)
{
    if
    :: answer -> told_yes[group * (PHASES + 1) + phase]++; leave = true
    :: else -> told_no[group * (PHASES + 1) + phase]++
    fi
}

proctype thread(byte group; byte number)
{
    byte phase = 0, seen;
    bool leave = false, mine = false, failing;
    /* nova_group_begins_failed */
    if
    :: number == 0 ->
        if
        :: taken -> first[group] = BEFORE
        :: else -> first[group] = NEVER
        fi
    :: else
    fi;
#ifndef NO_FIRST_BARRIER
    wait_for_all();
#endif
#ifdef ASK_FLAG
    /* Each thread reads by itself whether another group has failed. */
    ask(taken);
#else
    ask(first[group] == BEFORE);
#endif
    do
    :: leave || phase == PHASES -> break
    :: else ->
        /* The phase: this thread fails in it, or does not. */
        if
        :: failing = true; fail()
        :: failing = false
        fi;
#ifdef LEAVE_AT_ONCE
        if
        :: failing -> break
        :: else
        fi;
#endif
        wait_for_all();
        phase++;
        seen = first[group];
#ifdef ANY_FAILURE
        /* A failure after the barrier counts already. */
        ask(seen != NEVER)
#else
        ask(seen == BEFORE || seen < phase)
#endif
    od;
    ended++
}

/* Checks the answers after all threads have ended. */
active proctype check()
{
    byte k;
    timeout;
    assert(ended == GROUPS * THREADS);
    assert(writers <= 1 && (taken || writers == 0));
    assert(site == argument);
    do
    :: k == GROUPS * (PHASES + 1) -> break
    :: else ->
        /* All threads of a group got the same answer. */
        assert(told_yes[k] == 0 || told_no[k] == 0);
        if
        :: k % (PHASES + 1) > 0 && failed_before[k - 1] -> assert(told_no[k] == 0)
        :: else
        fi;
        k++
    od
}

init {
    atomic {
        byte k;
        for (k : 0 .. GROUPS - 1) { first[k] = NEVER }
        byte g, t;
        for (g : 0 .. GROUPS - 1) {
            for (t : 0 .. THREADS - 1) {
                run thread(g, t)
            }
        }
    }
}
