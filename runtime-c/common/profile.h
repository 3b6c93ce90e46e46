/* The profile of a program that novac has compiled with --profile: how often each loop of the source
 * runs, how long, on how many threads, and how many bytes it moves.
 *
 * A call has a list of the loops that are running in it. Marks in the program begin and end them. What a
 * loop has taken is added to its row when it ends. Loops that an error leaves are counted, and their
 * time is not known. The environment is read once: NOVA_PROFILE=1 prints a table on the standard error
 * when the process ends or the program is unloaded, and NOVA_PROFILE=FILE writes a trace. Without
 * either a mark asks for the list of its call, and there is none. */
#ifndef NOVA_LOOP_PROFILE_H
#define NOVA_LOOP_PROFILE_H

#include "call.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The number of loops inside each other that have rows; those inside of them are parts of the last. */
#define NOVA_OPEN_LOOPS 64

/* The number of events that a trace keeps; later ones are counted. */
#ifndef NOVA_MOST_EVENTS
#define NOVA_MOST_EVENTS ((int64_t)1 << 20)
#endif

/* A loop of the source, or an entry. Times are in nanoseconds. */
typedef struct nova_loop_row {
    const char *what, *place; /* place is null for an entry; what is null for a row that never ran */
    int64_t calls, timed;     /* executions, and those of known duration */
    int64_t iterations;       /* of those of known duration, like all below */
    int64_t total, own;       /* time with the loops inside of it, and without */
    int64_t read, written;    /* bytes; -1 if they are not known */
    int threads;              /* the most that shared an execution */
} nova_loop_row;

/* A loop that is running. */
typedef struct nova_open_loop {
    int row, threads;
    const char *what, *place;
    int64_t begin, inside; /* when it began, and the time of loops inside of it */
} nova_open_loop;

/* The loops that are running in a call, the outermost first. */
typedef struct nova_open_loops {
    struct nova_open_loops *outer; /* of the call that has led to this one */
    void *outer_region;
    int depth; /* may be larger than the list */
    nova_open_loop list[NOVA_OPEN_LOOPS];
} nova_open_loops;

/* An execution of a loop, or the part of a thread in one. */
typedef struct nova_loop_event {
    int row, thread;
    bool part;
    int64_t begin, end, iterations;
} nova_loop_event;

/* The profile of the program. All fields but the first three need the lock. */
typedef struct nova_loop_profile {
    const char *program; /* its name */
    char *file;          /* of the trace; null for a table */
    bool wanted;
    int64_t start;
    nova_loop_row *rows;
    int count;
    nova_loop_event *events;
    int64_t event_count, event_room, lost;
    int threads;           /* that have numbers */
    uint64_t regions;      /* that have numbers */
    double speeds[2];      /* bytes that copies read and write in a second, by one thread and by all */
    int copiers;           /* the number of all */
} nova_loop_profile;

static nova_loop_profile nova_loops;
static pthread_mutex_t nova_loops_lock = PTHREAD_MUTEX_INITIALIZER;

/* The loops of the call that this thread runs; null without a profile, and in threads of the pool. */
static NOVA_THREAD_LOCAL nova_open_loops *nova_loops_here;

/* The region whose chunk this thread runs, if one does (pthreads/profile.h). */
static NOVA_THREAD_LOCAL void *nova_region_here;

/* The number of this thread in the trace; 0 before it has one. */
static NOVA_THREAD_LOCAL int nova_thread_here;

/* Nanoseconds of a clock that only goes forward. */
static int64_t nova_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Makes room in a list for one more element; false if there is no memory. */
static bool nova_grow_list(void **list, int64_t count, int64_t *room, size_t size)
{
    if (count < *room)
        return true;
    int64_t larger = 2 * count + 16;
    void *grown = realloc(*list, (size_t)larger * size);
    if (grown == NULL)
        return false;
    *list = grown;
    *room = larger;
    return true;
}

/* Adds an event to the trace. The lock is held. */
static void nova_add_event(int row, bool part, int thread, int64_t begin, int64_t end,
                           int64_t iterations)
{
    void *events = nova_loops.events;
    if (nova_loops.file == NULL)
        return;
    if (nova_loops.event_count >= NOVA_MOST_EVENTS ||
        !nova_grow_list(&events, nova_loops.event_count, &nova_loops.event_room,
                        sizeof(nova_loop_event))) {
        nova_loops.lost++;
        return;
    }
    nova_loops.events = (nova_loop_event *)events;
    nova_loop_event event = {row, thread, part, begin, end, iterations};
    nova_loops.events[nova_loops.event_count++] = event;
}

/* The number of this thread. The lock is held. */
static int nova_number_thread(void)
{
    if (nova_thread_here == 0)
        nova_thread_here = ++nova_loops.threads;
    return nova_thread_here;
}

/* The row of this number; null if there is no memory. The lock is held. */
static nova_loop_row *nova_loop_row_of(int row)
{
    if (row >= nova_loops.count) {
        size_t count = (size_t)row + 1;
        void *rows = realloc(nova_loops.rows, count * sizeof(nova_loop_row));
        if (rows == NULL)
            return NULL;
        nova_loops.rows = (nova_loop_row *)rows;
        memset(nova_loops.rows + nova_loops.count, 0,
               (count - (size_t)nova_loops.count) * sizeof(nova_loop_row));
        nova_loops.count = row + 1;
    }
    return &nova_loops.rows[row];
}

/* Adds a loop that has ended to its row. An end of -1 stands for one that an error has left. */
static void nova_add_loop(const nova_open_loop *loop, int64_t end, int64_t iterations, int64_t read,
                          int64_t written)
{
    pthread_mutex_lock(&nova_loops_lock);
    nova_loop_row *row = nova_loop_row_of(loop->row);
    if (row != NULL) {
        row->what = loop->what;
        row->place = loop->place;
        row->calls++;
    }
    if (row != NULL && end >= 0) {
        row->timed++;
        row->iterations += iterations;
        row->total += end - loop->begin;
        row->own += end - loop->begin - loop->inside;
        row->threads = loop->threads > row->threads ? loop->threads : row->threads;
        row->read = read < 0 || row->read < 0 ? -1 : row->read + read;
        row->written = written < 0 || row->written < 0 ? -1 : row->written + written;
        nova_add_event(loop->row, false, nova_number_thread(), loop->begin, end, iterations);
    }
    pthread_mutex_unlock(&nova_loops_lock);
}

/* Begins a loop of this call. */
static void nova_begin_loop(int row, const char *what, const char *place)
{
    nova_open_loops *open = nova_loops_here;
    if (open == NULL || open->depth++ >= NOVA_OPEN_LOOPS)
        return;
    nova_open_loop *loop = &open->list[open->depth - 1];
    loop->row = row;
    loop->threads = 1;
    loop->what = what;
    loop->place = place;
    loop->inside = 0;
    loop->begin = nova_clock();
}

/* Ends the innermost loop of this call. */
static void nova_end_loop(int row, int64_t iterations, int64_t read, int64_t written)
{
    nova_open_loops *open = nova_loops_here;
    (void)row;
    if (open == NULL || open->depth == 0 || --open->depth >= NOVA_OPEN_LOOPS)
        return;
    nova_open_loop *loop = &open->list[open->depth];
    int64_t end = nova_clock();
    if (open->depth > 0)
        open->list[open->depth - 1].inside += end - loop->begin;
    nova_add_loop(loop, end, iterations, read, written);
}

#endif
