/* A model of the table in which threads of kernels store result buffers (device/heap.h,
 * result_buffers.h, kernels.h), step by step; spin tries every order. Each thread takes words after
 * those that others have taken, by one atomic operation. A table that is too small fails the kernel,
 * and the host runs it again with a larger one. The model checks:
 *   - no two arrays share a word, and none lies outside of the table;
 *   - each array is found again where its thread has put it;
 *   - the host is told more words than the table had, so that it comes to an end;
 *   - the last run has stored everything.
 *
 * Macros set the size: THREADS, WORDS (the largest array), ROOM (words at first). Each of the other
 * macros at an #ifdef below seeds one mistake; the test checks that each of them is found. */

#ifndef THREADS
#define THREADS 3
#endif
#ifndef WORDS
#define WORDS 2
#endif
#ifndef ROOM
#define ROOM 2
#endif
#define MOST (THREADS * WORDS)

byte used, capacity = ROOM;
byte owner[MOST];       /* the writer of each word: number + 1 of a thread, 0 for none */
byte place[THREADS];    /* the start of the array of each thread */
byte wanted[THREADS];   /* the number of its words; the same in each run */
bool failed;
byte asked;             /* the number of words that the failure asks for */
byte running, runs;

proctype thread(byte number)
{
    byte seen = used, k = 0;
    bool mine = false;
    byte words = wanted[number];
    do
    :: true ->
#ifndef NO_LIMIT
        if
        :: words > capacity - seen ->
            /* nova_fail_at: the first thread that fails writes the size that it needs. */
            atomic {
                if
                :: !failed -> failed = true; mine = true
                :: else
                fi
            }
            if
            :: mine ->
#ifdef ASK_OWN
                asked = words
#else
                asked = seen + words
#endif
            :: else
            fi;
            goto end
        :: else
        fi;
#endif
#ifdef TAKE_APART
        /* The number of used words is read and written in two steps. */
        if
        :: used == seen -> goto took
        :: else -> seen = used
        fi;
        skip;
took:
        used = seen + words;
        break
#else
        atomic {
            if
            :: used == seen -> used = seen + words; break
            :: else -> seen = used
            fi
        }
#endif
    od;
    place[number] = seen;
    do
    :: k == words -> break
    :: else ->
        assert(seen + k < capacity);
        assert(owner[seen + k] == 0);
        owner[seen + k] = number + 1;
        k++
    od;
end:
    running--
}

/* nova_launch_with_memory: runs the kernel until all arrays have found room. */
active proctype host()
{
    byte t, k;
    /* The number of words of each thread is not known before. */
    for (t : 0 .. THREADS - 1) {
        if
        :: wanted[t] = 0
        :: wanted[t] = 1
        :: wanted[t] = WORDS
        fi
    }
    do
    :: true ->
        runs++;
        assert(runs <= MOST + 1);
        atomic {
            running = THREADS;
            for (t : 0 .. THREADS - 1) {
                run thread(t)
            }
        }
        running == 0;
        if
        :: !failed -> break
        :: else
        fi;
        assert(asked > capacity);
        capacity = asked;
#ifndef KEEP_FAILURE
        failed = false;
#endif
        d_step {
#ifndef KEEP_USED
            used = 0;
#endif
            for (k : 0 .. MOST - 1) {
                owner[k] = 0
            }
        }
    od;
    for (t : 0 .. THREADS - 1) {
        k = 0;
        do
        :: k == wanted[t] -> break
        :: else -> assert(owner[place[t] + k] == t + 1); k++
        od
    }
}
