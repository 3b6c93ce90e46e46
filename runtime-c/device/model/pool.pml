/* Memory of a device that calls give back and take again (device/pool.h, memory.h, call.h), step by
 * step, for spin to try in every order: calls put kernels into queues of their own, which the device
 * runs whenever it likes, each queue in its order; memory that a call has given back is taken by later
 * kernels of the same call at once, by other calls only when the kernels of the first have ended. What
 * is checked:
 *   - while a kernel runs, nobody else uses its memory;
 *   - no two calls have a piece of memory, or a queue, at one time;
 *   - all memory is kept or released at the end, and none twice.
 * Macros set the size: CALLS, ROUNDS (kernels of each), PIECES (of memory in all). Each of the others at
 * an #ifdef below seeds one mistake; the test sees each of them found. */

#ifndef CALLS
#define CALLS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef PIECES
#define PIECES 3
#endif
#define NOBODY 255

bool locked;
/* Of each piece: whether the pool keeps it, and which call has it, in use or in its own store. */
bool exists[PIECES], kept[PIECES];
byte has[PIECES], stored_by[PIECES];
/* Which call's kernel is working with it. */
byte worked_on[PIECES];

/* Queues in use, one for each call: the pieces that their kernels, in order, work with. */
chan queue[CALLS] = [ROUNDS] of { byte };
byte pending[CALLS];
byte queue_of[CALLS]; /* which queue a call has */
bool queue_free[CALLS];
byte ended;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

/* nova_finish: waits for all that the queue has. */
inline finish() { pending[queue_of[call]] == 0 }

/* nova_device_allocate */
inline allocate()
{
    piece = NOBODY;
    /* What the call itself has given back. */
    atomic {
        for (k : 0 .. PIECES - 1) {
            if
            :: piece == NOBODY && exists[k] && stored_by[k] == call -> piece = k
            :: else
            fi
        }
        if
        :: piece != NOBODY -> stored_by[piece] = NOBODY
        :: else
        fi
    }
    if
    :: piece == NOBODY ->
#ifndef NO_LOCK
        lock();
#endif
        for (k : 0 .. PIECES - 1) {
            if
            :: piece == NOBODY && kept[k] -> piece = k
            :: else
            fi
        }
        if
        :: piece != NOBODY -> kept[piece] = false
        :: else ->
            atomic {
                for (k : 0 .. PIECES - 1) {
                    if
                    :: piece == NOBODY && !exists[k] -> piece = k
                    :: else
                    fi
                }
                if
                :: piece != NOBODY -> exists[piece] = true
                :: else
                fi
            }
        fi;
#ifndef NO_LOCK
        unlock();
#endif
    :: else
    fi;
    if
    :: piece != NOBODY -> assert(has[piece] == NOBODY && !kept[piece]); has[piece] = call
    :: else
    fi
}

/* nova_device_free: kernels that are still to run may use it. */
inline give()
{
    has[piece] = NOBODY;
#ifdef GIVE_TO_POOL
    kept[piece] = true
#else
    stored_by[piece] = call
#endif
}

proctype caller(byte call)
{
    byte piece, k, round = 0;
    /* nova_open_queue */
    lock();
    for (k : 0 .. CALLS - 1) {
        if
        :: queue_of[call] == NOBODY && queue_free[k] -> queue_of[call] = k; queue_free[k] = false
        :: else
        fi
    }
    unlock();
    assert(queue_of[call] != NOBODY);
    do
    :: round == ROUNDS -> break
    :: else ->
        allocate();
        if
        :: piece != NOBODY ->
            atomic { pending[queue_of[call]]++; queue[queue_of[call]] ! piece }
            give()
        :: else
        fi;
        round++
    od;
    /* nova_close_queue */
#ifndef NO_FINISH
    finish();
#endif
    lock();
    for (k : 0 .. PIECES - 1) {
        if
        :: stored_by[k] == call -> stored_by[k] = NOBODY; kept[k] = true
        :: else
        fi
    }
    queue_free[queue_of[call]] = true;
    unlock();
    ended++
}

/* The device runs the kernels of a queue in order, at any time. */
proctype device(byte number)
{
    byte piece;
end:
    do
    :: queue[number] ? piece ->
        assert(worked_on[piece] == NOBODY);
        worked_on[piece] = number;
        /* Here the kernel works. */
        worked_on[piece] = NOBODY;
        atomic { piece = 0; pending[number]-- }
    od
}

init {
    byte k;
    atomic {
        for (k : 0 .. PIECES - 1) {
            has[k] = NOBODY; stored_by[k] = NOBODY; worked_on[k] = NOBODY
        }
        /* What an earlier call has left. */
        exists[0] = true; kept[0] = true;
        for (k : 0 .. CALLS - 1) {
            queue_of[k] = NOBODY; queue_free[k] = true;
            run caller(k);
            run device(k)
        }
    }
    ended == CALLS;
    for (k : 0 .. PIECES - 1) {
        assert(has[k] == NOBODY && stored_by[k] == NOBODY && kept[k] == exists[k])
    }
}
