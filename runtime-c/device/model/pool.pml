/* A model of the memory of a device that calls give back and take again (device/pool.h, memory.h,
 * call.h), step by step; spin tries every order. Calls put kernels into queues of their own, and the
 * device runs each queue in its order, at any time. Later kernels of the same call may take memory that
 * the call has given back at once; other calls may take it only when the kernels of the call have
 * ended. The model checks:
 *   - while a kernel runs, nothing else uses its memory;
 *   - no two calls have a block of memory, or a queue, at one time;
 *   - all memory is cached or released at the end, and none twice.
 *
 * Macros set the size: CALLS, ITERATIONS (kernels of each), BLOCKS (of memory in all). Each of the
 * other macros at an #ifdef below seeds one mistake; the test checks that each of them is found. */

#ifndef CALLS
#define CALLS 2
#endif
#ifndef ITERATIONS
#define ITERATIONS 2
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#define NOBODY 255

bool locked;
/* The state of each block: whether the pool has cached it, and the call that uses it or has it in its
 * own cache. */
bool exists[BLOCKS], cached[BLOCKS];
byte has[BLOCKS], stored_by[BLOCKS];
/* The call whose kernel works with each block. */
byte worked_on[BLOCKS];

/* The queues in use, one for each call: the blocks that their kernels work with, in order. */
chan queue[CALLS] = [ITERATIONS] of { byte };
byte pending[CALLS];
byte queue_of[CALLS]; /* the queue of each call */
bool queue_free[CALLS];
byte ended;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

/* nova_finish: waits for all operations of the queue. */
inline finish() { pending[queue_of[call]] == 0 }

/* nova_device_allocate */
inline allocate()
{
    block = NOBODY;
    /* A block that the call itself has given back. */
    atomic {
        for (k : 0 .. BLOCKS - 1) {
            if
            :: block == NOBODY && exists[k] && stored_by[k] == call -> block = k
            :: else
            fi
        }
        if
        :: block != NOBODY -> stored_by[block] = NOBODY
        :: else
        fi
    }
    if
    :: block == NOBODY ->
#ifndef NO_LOCK
        lock();
#endif
        for (k : 0 .. BLOCKS - 1) {
            if
            :: block == NOBODY && cached[k] -> block = k
            :: else
            fi
        }
        if
        :: block != NOBODY -> cached[block] = false
        :: else ->
            atomic {
                for (k : 0 .. BLOCKS - 1) {
                    if
                    :: block == NOBODY && !exists[k] -> block = k
                    :: else
                    fi
                }
                if
                :: block != NOBODY -> exists[block] = true
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
    :: block != NOBODY -> assert(has[block] == NOBODY && !cached[block]); has[block] = call
    :: else
    fi
}

/* nova_device_free: kernels that have not run yet may use the block. */
inline give()
{
    has[block] = NOBODY;
#ifdef GIVE_TO_POOL
    cached[block] = true
#else
    stored_by[block] = call
#endif
}

proctype caller(byte call)
{
    byte block, k, iteration = 0;
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
    :: iteration == ITERATIONS -> break
    :: else ->
        allocate();
        if
        :: block != NOBODY ->
            atomic { pending[queue_of[call]]++; queue[queue_of[call]] ! block }
            give()
        :: else
        fi;
        iteration++
    od;
    /* nova_close_queue */
#ifndef NO_FINISH
    finish();
#endif
    lock();
    for (k : 0 .. BLOCKS - 1) {
        if
        :: stored_by[k] == call -> stored_by[k] = NOBODY; cached[k] = true
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
    byte block;
end:
    do
    :: queue[number] ? block ->
        assert(worked_on[block] == NOBODY);
        worked_on[block] = number;
        /* The kernel works at this point. */
        worked_on[block] = NOBODY;
        atomic { block = 0; pending[number]-- }
    od
}

init {
    byte k;
    atomic {
        for (k : 0 .. BLOCKS - 1) {
            has[k] = NOBODY; stored_by[k] = NOBODY; worked_on[k] = NOBODY
        }
        /* A block that an earlier call has left. */
        exists[0] = true; cached[0] = true;
        for (k : 0 .. CALLS - 1) {
            queue_of[k] = NOBODY; queue_free[k] = true;
            run caller(k);
            run device(k)
        }
    }
    ended == CALLS;
    for (k : 0 .. BLOCKS - 1) {
        assert(has[k] == NOBODY && stored_by[k] == NOBODY && cached[k] == exists[k])
    }
}
