/* A model of the places that threads take in a shared table of nodes (shared_nodes.h), step by step; spin
 * tries every order. In each of its tasks a thread appends some nodes, reclaims some of them at any time, and
 * leaves: it gives back the places that it has not used, which other threads may take. The model checks:
 *   - no two threads have one place at the same time, so that no node is written over another thread's;
 *   - a place has memory before a node is written there, although one thread alone asks for memory at a time;
 *   - no place beyond the largest table is used;
 *   - when all have left, the caller's count lies behind every node that stays.
 *
 * Macros set the size: THREADS, TASKS (of each thread), NODES (of a task, at most), RUN (the places of a run),
 * MOST (the places of the table). Each of the other macros at an #ifdef below seeds one mistake; the test
 * checks that each of them is found. */

#ifndef THREADS
#define THREADS 2
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef NODES
#define NODES 3
#endif
#ifndef RUN
#define RUN 2
#endif
#ifndef MOST
#define MOST 12
#endif
#define BEFORE 1 /* the nodes that the caller has appended */
#define OLD 100

byte next = BEFORE, usable = BEFORE;
byte owner[MOST]; /* the thread that has a node at a place: number + 1, 0 for none */
bool locked;
byte left;

/* nova_use_places: memory is asked for under a lock, by steps that are not atomic. */
inline use_places(end)
{
    if
    :: usable >= end
    :: else ->
#ifndef NO_LOCK
        atomic { !locked -> locked = true }
#endif
        if
        :: usable >= end
        :: else ->
            /* The system gives memory to all places up to an end; the number is stored afterwards. */
            given = end;
            usable = given
        fi;
#ifndef NO_LOCK
        locked = false
#endif
    fi
}

proctype thread(byte number)
{
    byte start, end, count, room, appended, given, task;
    for (task : 1 .. TASKS) {
        start = 0;
        count = 0;
        room = 0;
        appended = 0;
        do
        :: appended > 0 -> break
        :: appended < NODES ->
            if
            :: count < room
            :: else ->
                /* nova_take_run: the nodes of an earlier run stay where they are. */
#ifdef TAKE_APART
                start = next;
                next = start + RUN;
#else
                atomic { start = next; next = start + RUN }
#endif
                if
                :: start >= MOST -> break
                :: else
                fi;
#ifdef NO_END
                end = start + RUN;
#else
                end = (start + RUN > MOST -> MOST : start + RUN);
#endif
#ifndef NO_MEMORY
                use_places(end);
#endif
                count = start;
                room = end
            fi;
            assert(count < MOST);
            assert(count < usable);
            assert(owner[count] == 0);
            owner[count] = number + 1;
            count++;
            appended++
        :: count > start && count <= room && appended > 0 ->
            /* A loop reclaims the last node of the run. */
            assert(owner[count - 1] == number + 1);
            count--;
            owner[count] = 0;
            appended--;
            if
            :: appended == 0 -> break
            :: else
            fi
        od;
        /* nova_leave_appender */
        if
        :: room > 0 ->
#ifdef GIVE_BLINDLY
            next = count
#else
#ifdef GIVE_APART
            if
            :: next == room -> next = count
            :: else
            fi
#else
            atomic {
                if
                :: next == room -> next = count
                :: else
                fi
            }
#endif
#endif
        :: else
        fi
    }
    atomic { left++ }
}

init {
    byte k;
    owner[0] = OLD;
    atomic {
        for (k : 1 .. THREADS) {
            run thread(k - 1)
        }
    }
    left == THREADS;
    /* nova_end_appender */
    for (k : BEFORE .. MOST - 1) {
#ifdef KEEP_COUNT
        assert(owner[k] == 0 || k < BEFORE)
#else
        assert(owner[k] == 0 || k < next)
#endif
    }
}
