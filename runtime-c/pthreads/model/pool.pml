/* A model of the protocol of pool.h and region.h, step by step; spin tries every order. Callers publish
 * regions; threads of the pool join, leave, fall asleep and are stopped. Each statement, or atomic
 * block, is one operation on memory that threads share. The model checks:
 *   - every chunk below the lowest that fails is done once, any other at most once;
 *   - a region is accessed only while it exists, since it lies on its caller's stack;
 *   - no thread that is waited for sleeps for ever: callers end, and stopped threads do;
 *   - with MEET, callers wait until a thread has come to help: no published region is missed;
 *   - with INNER, workers that publish a region inside of a chunk wait too: waiting callers come.
 *
 * Macros set the size: HOSTS, WORKERS, SLOTS, CLAIMS (chunks), ITERATIONS. The events depend on MEET,
 * STOP (a process stops the pool), FAIL (any chunks may fail) and INNER (each chunk of a worker has a
 * region inside, with two slots for all). Each of the other macros at an #ifdef below seeds one
 * mistake; the test checks that each of them is found. */

#ifndef HOSTS
#define HOSTS 1
#endif
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef CLAIMS
#define CLAIMS 2
#endif
#ifndef ITERATIONS
#define ITERATIONS 2
#endif

/* Regions: those of the hosts, then the inner ones, one for each worker. */
#ifdef INNER
#define REGIONS (HOSTS + WORKERS)
#else
#define REGIONS HOSTS
#endif

/* The words of a slot. Its state is one word: open, awaited, joined. Outer is the number of the
 * enclosing slot, SLOTS if there is none. */
bool open[SLOTS], awaited[SLOTS], taken[SLOTS];
byte joined[SLOTS], task[SLOTS], outer[SLOTS];
bool caller_sleeps[SLOTS];

/* The words of the pool. */
byte epoch, sleepers;
bool stopping;
bool sleeps[WORKERS];
byte ended;

/* The region on each caller's stack. */
bool exists[REGIONS], met[REGIONS];
byte lowest[REGIONS];

/* The two queues of each region: callers take from the first one, threads of the pool from the second,
 * and both from the end of the other if theirs is empty. An inner region has only the first one. */
byte front[REGIONS * 2], rear[REGIONS * 2];
byte done[REGIONS * CLAIMS];
bool fails[REGIONS * CLAIMS];

/* A store that other threads see only later, but before the next atomic operation of its thread. */
bool delayed[SLOTS];

/* Wakes one of the threads that sleep on the epoch, if any do. */
inline wake_one()
{
    atomic {
        if
        :: sleeps[0] -> sleeps[0] = false
#if WORKERS > 1
        :: sleeps[1] -> sleeps[1] = false
#endif
#if WORKERS > 2
        :: sleeps[2] -> sleeps[2] = false
#endif
        :: else
        fi
    }
}

inline wake_all()
{
    d_step {
        sleeps[0] = false;
#if WORKERS > 1
        sleeps[1] = false;
#endif
#if WORKERS > 2
        sleeps[2] = false;
#endif
    }
}

inline rouse()
{
    if
    :: sleepers > 0 ->
        epoch++;
        wake_one()
    :: else
    fi
}

#ifdef INNER
/* nova_do_chunks of an inner region, of which no chunk fails. */
inline do_inner(q)
{
    do
    :: skip;
        d_step {
            m = front[q * 2];
            if
            :: m < rear[q * 2] -> front[q * 2]++
            :: else -> m = CLAIMS
            fi
        }
        if
        :: m >= CLAIMS -> break
        :: else
        fi;
        assert(exists[q]);
        done[(q) * CLAIMS + m]++
    od;
    m = 0
}

/* nova_leave of an inner region, of which nothing is left. */
inline leave_inner(k)
{
    skip;
    d_step {
        joined[k]--;
        open[k] = false;
        inner_last = awaited[k] && joined[k] == 0
    }
    if
    :: inner_last -> caller_sleeps[k] = false
    :: else
    fi;
    inner_last = false
}

/* nova_parallel in a chunk that worker w does of the region in slot `enclosing`. */
inline region_inside(enclosing)
{
    skip;
    d_step {
        exists[HOSTS + w] = true;
        lowest[HOSTS + w] = CLAIMS;
        rear[(HOSTS + w) * 2] = CLAIMS;
        k = 0
    }
    do
    :: k < SLOTS ->
        atomic {
            if
            :: !taken[k] ->
                taken[k] = true;
                break
            :: else -> k++
            fi
        }
    :: else -> break
    od;
    if
    :: k < SLOTS ->
        task[k] = HOSTS + w;
        outer[k] = enclosing;
        open[k] = true;
        rouse();
#ifndef NO_RECALL
        if /* nova_recall */
        :: awaited[enclosing] ->
#ifndef SILENT_RECALL
            awaited[enclosing] = false;
#endif
            caller_sleeps[enclosing] = false
        :: else
        fi;
#endif
        met[HOSTS + w];
        do_inner(HOSTS + w);
        open[k] = false;
        do /* nova_retract: there is nothing inside of it */
        :: joined[k] == 0 -> break
        :: else ->
            m = joined[k];
            if
            :: m > 0 ->
                atomic {
                    if
                    :: joined[k] == m -> awaited[k] = true
                    :: else
                    fi
                }
                atomic {
                    if
                    :: joined[k] == m && awaited[k] -> caller_sleeps[k] = true
                    :: else
                    fi
                }
                !caller_sleeps[k]
            :: else
            fi
        od;
        skip;
        d_step {
            awaited[k] = false;
            outer[k] = SLOTS
        }
        taken[k] = false
    :: else -> do_inner(HOSTS + w)
    fi;
    skip;
    d_step {
        exists[HOSTS + w] = false;
        m = 0;
        do
        :: m < CLAIMS ->
            assert(done[(HOSTS + w) * CLAIMS + m] == 1);
            done[(HOSTS + w) * CLAIMS + m] = 0;
            m++
        :: else -> break
        od;
        front[(HOSTS + w) * 2] = 0;
        rear[(HOSTS + w) * 2] = 0;
        lowest[HOSTS + w] = 0;
        met[HOSTS + w] = false;
        m = 0;
        k = 0
    }
}

/* nova_help_inside: the caller of the region in slot own joins inner regions. */
inline help_inside(own)
{
    k = 0;
    do
    :: k < SLOTS ->
        if
        :: open[k] && outer[k] == own ->
            atomic {
                if
                :: open[k] -> joined[k]++; inside = true
                :: else
                fi
            }
            if
            :: inside && outer[k] == own ->
                assert(exists[task[k]]);
                met[task[k]] = true;
                do_inner(task[k]);
                leave_inner(k);
                helped = true
            :: inside && outer[k] != own -> leave_inner(k)
            :: else
            fi;
            inside = false
        :: else
        fi;
        k++
    :: else ->
        k = 0;
        break
    od
}
#endif

/* nova_take_batch: n is CLAIMS if none is left. */
inline take(r, own, n)
{
#ifdef TORN_CLAIM
    n = front[r * 2 + own];
    if
    :: n < rear[r * 2 + own] -> front[r * 2 + own] = n + 1
    :: else -> n = CLAIMS
    fi;
#else
    d_step {
        n = front[r * 2 + own];
        if
        :: n < rear[r * 2 + own] -> front[r * 2 + own]++
        :: else -> n = CLAIMS
        fi
    }
#endif
#ifndef NO_STEAL
    if
    :: n == CLAIMS ->
        d_step {
            if
            :: front[r * 2 + 1 - own] < rear[r * 2 + 1 - own] ->
                rear[r * 2 + 1 - own]--;
                n = rear[r * 2 + 1 - own]
            :: else
            fi
        }
    :: else
    fi;
#endif
}

/* nova_work_on_region: takes chunks of region r until none is left, or a worker is to leave. */
inline do_chunks(r, worker, n, finished)
{
    finished = false;
    do
    :: worker && stopping -> break
    :: else ->
        assert(exists[r]);
        take(r, (worker -> 1 : 0), n);
        if
        :: n >= CLAIMS ->
            finished = true;
            break
        :: else
        fi;
#ifdef SKIP_LOWER
        if
        :: lowest[r] < CLAIMS -> goto_next = true
#else
        if
        :: lowest[r] < n -> goto_next = true
#endif
        :: else -> goto_next = false
        fi;
        if
        :: goto_next
        :: else ->
            assert(exists[r]);
            done[r * CLAIMS + n]++;
#ifdef INNER
            if
            :: worker -> region_inside(i)
            :: else
            fi;
#endif
            if
            :: fails[r * CLAIMS + n] ->
#ifdef LAST_ERROR
                lowest[r] = n;
#else
                d_step { /* under a lock */
                    if
                    :: n < lowest[r] -> lowest[r] = n
                    :: else
                    fi
                }
#endif
#ifdef LEAVE_FAILED
                finished = true;
                break
#endif
            :: else
            fi
        fi
    od
}

/* Makes states equal that differ only in variables that are not read any more. */
inline forget(h)
{
    n = 0;
    do
    :: n < CLAIMS ->
        done[h * CLAIMS + n] = 0;
        fails[h * CLAIMS + n] = false;
        n++
    :: else -> break
    od;
    n = 0;
    front[h * 2 + 1] = 0;
    rear[h * 2] = 0;
    rear[h * 2 + 1] = 0;
    front[h * 2] = 0;
    lowest[h] = 0;
    met[h] = false
}

proctype Host(byte h)
{
    byte iteration, s, n, v;
    bool finished, goto_next, marked;
#ifdef INNER
    byte k, m, i, w;
    bool helped, inside, inner_last;
#endif
    do
    :: iteration < ITERATIONS ->
        d_step {
            exists[h] = true;
            rear[h * 2] = CLAIMS / 2;
            front[h * 2 + 1] = CLAIMS / 2;
            rear[h * 2 + 1] = CLAIMS;
            lowest[h] = CLAIMS
        }
#ifdef FAIL
        n = 0;
        do
        :: n < CLAIMS ->
            if
            :: fails[h * CLAIMS + n] = true
            :: fails[h * CLAIMS + n] = false
            fi;
            n++
        :: else -> break
        od;
#endif
        /* nova_publish */
        s = 0;
        do
        :: s < SLOTS ->
            atomic {
                if
                :: !taken[s] ->
                    taken[s] = true;
                    break
                :: else -> s++
                fi
            }
        :: else -> break
        od;
        if
        :: s < SLOTS ->
#ifdef ROUSE_BEFORE_OPEN
            task[s] = h;
            rouse();
            open[s] = true;
#elif defined(OPEN_BEFORE_FILL)
            open[s] = true;
            task[s] = h;
            rouse();
#elif defined(DELAYED_OPEN)
            task[s] = h;
            delayed[s] = true;
            rouse();
#else
            task[s] = h;
            open[s] = true;
            rouse();
#endif
#ifdef MEET
            met[h];
#endif
            do_chunks(h, false, n, finished);
            /* nova_retract */
#ifdef FREE_BEFORE_WAIT
            taken[s] = false;
#endif
            atomic {
                open[s] = false;
                delayed[s] = false
            }
#ifndef NO_WAIT
            do
            :: joined[s] == 0 -> break
            :: else ->
                d_step {
                    v = joined[s];
                    marked = awaited[s]
                }
#ifdef INNER
                helped = false;
                help_inside(s);
                if
                :: helped || v == 0
#else
                if
                :: v == 0
#endif
#ifdef BLIND_SLEEP
                :: else ->
                    awaited[s] = true;
                    caller_sleeps[s] = true;
                    !caller_sleeps[s]
#else
                :: else ->
                    /* Once it is marked, the next iteration looks inside again before the sleep. */
                    if
                    :: !marked ->
                        atomic {
                            if
                            :: joined[s] == v && !awaited[s] -> awaited[s] = true
                            :: else
                            fi
                        }
#ifdef NO_LOOK
                        atomic {
                            if
                            :: joined[s] == v && awaited[s] -> caller_sleeps[s] = true
                            :: else
                            fi
                        }
                        !caller_sleeps[s]
#endif
                    :: else ->
                        atomic {
                            if
                            :: joined[s] == v && awaited[s] -> caller_sleeps[s] = true
                            :: else
                            fi
                        }
                        !caller_sleeps[s]
                    fi
#endif
                fi
            od;
#endif
            skip;
            d_step {
                awaited[s] = false;
                marked = false
            }
#ifndef FREE_BEFORE_WAIT
            taken[s] = false
#endif
        :: else -> do_chunks(h, false, n, finished) /* no slot: alone */
        fi;
        skip;
        d_step {
            exists[h] = false;
            n = 0;
            do
            :: n < CLAIMS ->
                assert(done[h * CLAIMS + n] <= 1);
                assert(n > lowest[h] || done[h * CLAIMS + n] == 1);
                assert(!(fails[h * CLAIMS + n] && n < lowest[h]));
                n++
            :: else -> break
            od;
            forget(h);
            s = 0;
            v = 0;
            finished = false;
            goto_next = false;
            iteration++
        }
    :: else -> break
    od
}

proctype Worker(byte w)
{
    byte i, r, n, e;
    bool helped, finished, goto_next, last;
#ifdef INNER
    byte k, m;
    bool inner_last;
#endif
    do
    :: stopping -> break
    :: else ->
        /* nova_help */
        helped = false;
        do
        :: i < SLOTS ->
#ifdef READ_BEFORE_JOIN
            r = task[i];
#endif
#ifdef JOIN_CLOSED
            if
            :: open[i] ->
                joined[i]++;
#else
            if
            :: atomic { open[i] -> joined[i]++ }
#endif
#ifndef READ_BEFORE_JOIN
                r = task[i];
#endif
                assert(exists[r]);
                met[r] = true;
#ifdef INNER
                if
                :: r >= HOSTS ->
                    do_inner(r);
                    finished = true
                :: else -> do_chunks(r, true, n, finished)
                fi;
#else
                do_chunks(r, true, n, finished);
#endif
                skip; /* nova_leave */
                d_step {
                    joined[i]--;
                    if
                    :: finished -> open[i] = false
                    :: else
                    fi;
                    last = awaited[i] && joined[i] == 0
                }
#ifndef SILENT_LEAVE
                if
                :: last -> caller_sleeps[i] = false
                :: else
                fi;
#endif
                helped = true;
                d_step {
                    r = 0;
                    n = 0;
                    finished = false;
                    goto_next = false;
                    last = false
                }
            :: else
            fi;
            i++
        :: else ->
            i = 0;
            break
        od;
        if
        :: helped
        :: else ->
            /* nova_rest */
#ifndef EPOCH_LATE
            e = epoch;
#endif
#ifndef COUNTED_LATE
            sleepers++;
#endif
#ifndef NO_RECHECK
            do
            :: i < SLOTS ->
                if
                :: open[i] -> goto up
                :: else
                fi;
                i++
            :: else ->
                i = 0;
                break
            od;
#endif
#ifndef STOP_UNSEEN
            if
            :: stopping -> goto up
            :: else
            fi;
#endif
#ifdef COUNTED_LATE
            sleepers++;
#endif
#ifdef EPOCH_LATE
            e = epoch;
#endif
            atomic {
                if
                :: epoch == e -> sleeps[w] = true
                :: else
                fi
            }
end_asleep:
            !sleeps[w];
            e = 0;
#ifdef COUNTED_LATE
            sleepers--;
            i = 0;
            goto counted;
#endif
up:
#ifndef COUNTED_LATE
            sleepers--;
#endif
            i = 0;
            e = 0;
#ifdef COUNTED_LATE
counted:
            skip
#endif
        fi
    od;
    ended++
}

#ifdef STOP
/* nova_stop: all workers must end. */
proctype Stopper()
{
    stopping = true;
#ifndef SILENT_STOP
    epoch++;
#endif
    wake_all();
    ended == WORKERS
}
#endif

#ifdef DELAYED_OPEN
proctype Memory()
{
    byte s;
end_idle:
    do
    :: atomic { delayed[0] -> open[0] = true; delayed[0] = false }
#if SLOTS > 1
    :: atomic { delayed[1] -> open[1] = true; delayed[1] = false }
#endif
    od
}
#endif

init
{
    byte k;
    atomic {
        k = 0;
        do
        :: k < SLOTS -> outer[k] = SLOTS; k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < HOSTS -> run Host(k); k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < WORKERS -> run Worker(k); k++
        :: else -> break
        od;
#ifdef STOP
        run Stopper();
#endif
#ifdef DELAYED_OPEN
        run Memory();
#endif
    }
}
