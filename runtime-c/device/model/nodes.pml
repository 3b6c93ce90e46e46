/* A model of a node table to which threads of kernels append (device/new_nodes.h, nodes.h, kernels.h),
 * step by step; spin tries every order. Each thread takes the index of its next node by one atomic
 * addition, which may lead past the end of the table. That fails the kernel, and the host runs it again
 * with a larger table. The model checks:
 *   - no two nodes have one index, none lies outside of the table, and none is written over one that
 *     existed before the kernel;
 *   - each thread finds its nodes again while the kernel runs;
 *   - the host is told more nodes than the table had room for, so that it comes to an end;
 *   - the last run has appended every node, and counted no others.
 *
 * Macros set the size: THREADS, NODES (of each thread, at most), BEFORE (existing nodes), ROOM (for new
 * ones at first). Each of the other macros at an #ifdef below seeds one mistake; the test checks that
 * each of them is found. */

#ifndef THREADS
#define THREADS 3
#endif
#ifndef NODES
#define NODES 2
#endif
#ifndef BEFORE
#define BEFORE 1
#endif
#ifndef ROOM
#define ROOM 2
#endif
#define MOST (BEFORE + THREADS * NODES)
#define OLD 100 /* the writer of a node that existed before */

byte next = BEFORE, capacity = BEFORE + ROOM;
byte owner[MOST];       /* the writer of each node: number + 1 of a thread, 0 for none */
byte wanted[THREADS];   /* the number of nodes that a thread appends; the same in each run */
bool failed;
byte asked;             /* the number of nodes that the failure asks for */
byte running, runs;

proctype thread(byte number)
{
    byte link, before = 255, k = 0;
    bool mine = false;
    do
    :: k == wanted[number] -> break
    :: else ->
#ifdef TAKE_APART
        /* The index is read and written in two steps. */
        link = next;
        next = link + 1;
#else
        atomic { link = next; next++ }
#endif
#ifndef NO_LIMIT
        if
        :: link >= capacity ->
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
                asked = k + 1
#else
                asked = link + 1
#endif
            :: else
            fi;
            goto end
        :: else
        fi;
#endif
        assert(link < capacity);
        assert(owner[link] == 0);
        owner[link] = number + 1;
        if
        :: before != 255 -> assert(owner[before] == number + 1)
        :: else
        fi;
        before = link;
        k++
    od;
end:
    running--
}

/* nova_launch_with_nodes: runs the kernel until all nodes have found room. */
active proctype host()
{
    byte t, k, all = BEFORE;
    for (k : 0 .. BEFORE - 1) {
        owner[k] = OLD
    }
    /* The number of nodes of each thread is not known before. */
    for (t : 0 .. THREADS - 1) {
        if
        :: wanted[t] = 0
        :: wanted[t] = 1
        :: wanted[t] = NODES
        fi;
        all = all + wanted[t]
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
#ifdef FORGET_OLD
            next = 0;
#else
#ifndef KEEP_NEXT
            next = BEFORE;
#endif
#endif
            for (k : BEFORE .. MOST - 1) {
                owner[k] = 0
            }
        }
    od;
    assert(next == all);
    k = 0;
    do
    :: k == next -> break
    :: else -> assert(owner[k] != 0); k++
    od
}
