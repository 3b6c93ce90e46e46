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

/* The number of bytes that are copied to measure the memory, and the number of times. The first copy
 * only touches the memory. */
#ifndef NOVA_COPIED
#define NOVA_COPIED ((size_t)64 << 20)
#endif
#define NOVA_COPY_ROUNDS 5

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
static pthread_once_t nova_loops_once = PTHREAD_ONCE_INIT;

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

/* The copies of one thread. */
typedef struct nova_copier {
    pthread_t thread;
    char *to;
    const char *from;
    size_t bytes;
} nova_copier;

static void *nova_copy_part(void *argument)
{
    const nova_copier *copier = (const nova_copier *)argument;
    memcpy(copier->to, copier->from, copier->bytes);
    return NULL;
}

/* The bytes that copies by so many threads read and write in a second: the fastest of a few; 0 if there is
 * no memory. */
static double nova_measure_copies(int threads)
{
    enum { MOST = 64 };
    nova_copier copiers[MOST];
    threads = threads > MOST ? MOST : threads;
    size_t part = NOVA_COPIED / (size_t)threads, bytes = part * (size_t)threads;
    char *from = (char *)malloc(bytes), *to = (char *)malloc(bytes);
    int64_t best = 0;
    for (int round = 0; from != NULL && to != NULL && round < NOVA_COPY_ROUNDS; round++) {
        int made = 0;
        if (round == 0)
            memset(from, 1, bytes);
        int64_t begin = nova_clock();
        for (int k = 0; k < threads; k++) {
            copiers[k].to = to + (size_t)k * part;
            copiers[k].from = from + (size_t)k * part;
            copiers[k].bytes = part;
        }
        while (made < threads - 1 && pthread_create(&copiers[made].thread, NULL, nova_copy_part,
                                                    &copiers[made]) == 0)
            made++;
        for (int k = made; k < threads; k++)
            nova_copy_part(&copiers[k]);
        for (int k = 0; k < made; k++)
            pthread_join(copiers[k].thread, NULL);
        int64_t time = nova_clock() - begin;
        best = round > 0 && (best == 0 || time < best) ? time : best;
    }
    free(from);
    free(to);
    return best > 0 ? 2e9 * (double)bytes / (double)best : 0;
}

/* Measures the memory, by one thread and by as many as have shared a loop, if the bytes of a loop are
 * known. */
static void nova_measure_memory(void)
{
    bool moves = false;
    nova_loops.copiers = 1;
    for (int k = 0; k < nova_loops.count; k++) {
        const nova_loop_row *row = &nova_loops.rows[k];
        moves = moves || (row->timed > 0 && row->read + row->written > 0);
        if (row->threads > nova_loops.copiers)
            nova_loops.copiers = row->threads;
    }
    if (!moves)
        return;
    nova_loops.speeds[0] = nova_loops.speeds[1] = nova_measure_copies(1);
    if (nova_loops.copiers > 1)
        nova_loops.speeds[1] = nova_measure_copies(nova_loops.copiers);
}

/* Bytes in a second of a row, or 0 if they are not known; and of copies by threads as it has. */
static double nova_speed_of_row(const nova_loop_row *row)
{
    bool known = row->read >= 0 && row->written >= 0 && row->place != NULL && row->total > 0;
    return known ? (double)(row->read + row->written) * 1e9 / (double)row->total : 0;
}

static double nova_limit_of_row(const nova_loop_row *row)
{
    return nova_loops.speeds[row->threads > 1];
}

/* The order of rows: longer own times first. */
static int nova_compare_loops(const void *first, const void *second)
{
    const nova_loop_row *a = *(const nova_loop_row *const *)first;
    const nova_loop_row *b = *(const nova_loop_row *const *)second;
    if (a->own != b->own)
        return a->own < b->own ? 1 : -1;
    return (a > b) - (a < b);
}

/* The name of the processor, where the system tells it. */
static void nova_name_processor(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "this processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", value + 1 + strspn(value + 1, " "));
        break;
    }
    if (file != NULL)
        fclose(file);
}

/* Prints a number that may be unknown. */
static void nova_print_number(FILE *out, int width, bool known, int digits, double number, const char *unit)
{
    if (known)
        fprintf(out, "  %*.*f%s", width, digits, number, unit);
    else
        fprintf(out, "  %*s%*s", width, "-", (int)strlen(unit), "");
}

/* Prints a row of the table, with these widths of names and places. */
static void nova_print_loop(FILE *out, const nova_loop_row *row, int names, int places, int64_t all)
{
    double speed = nova_speed_of_row(row), limit = nova_limit_of_row(row);
    bool timed = row->timed > 0;
    fprintf(out, "%-*s  %-*s  %9" PRId64, names, row->what, places, row->place == NULL ? "-" : row->place,
            row->calls);
    if (row->place == NULL)
        fprintf(out, "  %13s", "-");
    else
        fprintf(out, "  %13" PRId64, row->iterations);
    nova_print_number(out, 11, timed, 3, (double)row->total * 1e-6, "");
    nova_print_number(out, 11, timed, 3, (double)row->own * 1e-6, "");
    nova_print_number(out, 5, timed && all > 0, 1, all > 0 ? 100 * (double)row->own / (double)all : 0, " %");
    nova_print_number(out, 11, timed, 1, timed ? (double)row->total * 1e-3 / (double)row->timed : 0, "");
    fprintf(out, "  %7d", row->threads);
    bool known = row->place != NULL && timed;
    nova_print_number(out, 14, known && row->read >= 0, 0, (double)row->read, "");
    nova_print_number(out, 14, known && row->written >= 0, 0, (double)row->written, "");
    nova_print_number(out, 7, speed > 0, 1, speed * 1e-9, "");
    nova_print_number(out, 7, speed > 0 && limit > 0, 1, limit > 0 ? 100 * speed / limit : 0, " %");
    fprintf(out, "\n");
}

/* Prints the table. */
static void nova_print_loops(FILE *out)
{
    int names = 9, places = 5, count = 0;
    int64_t all = 0;
    char processor[128];
    const nova_loop_row **rows =
        (const nova_loop_row **)malloc((size_t)nova_loops.count * sizeof(nova_loop_row *) + 1);
    for (int k = 0; rows != NULL && k < nova_loops.count; k++) {
        const nova_loop_row *row = &nova_loops.rows[k];
        if (row->what == NULL)
            continue;
        int name = (int)strlen(row->what), place = row->place == NULL ? 0 : (int)strlen(row->place);
        names = name > names ? name : names;
        places = place > places ? place : places;
        all += row->own;
        rows[count++] = row;
    }
    if (count > 0) {
        qsort(rows, (size_t)count, sizeof *rows, nova_compare_loops);
        nova_name_processor(processor, sizeof processor);
        fprintf(out, "profile of %s on %s", nova_loops.program, processor);
        if (nova_loops.speeds[0] > 0)
            fprintf(out, ", whose copies have %.1f GB/s by one thread", nova_loops.speeds[0] * 1e-9);
        if (nova_loops.copiers > 1 && nova_loops.speeds[1] > 0)
            fprintf(out, ", %.1f GB/s by %d", nova_loops.speeds[1] * 1e-9, nova_loops.copiers);
        fprintf(out, "\n%-*s  %-*s  %9s  %13s  %11s  %11s  %7s  %11s  %7s  %14s  %14s  %7s  %9s\n", names,
                "operation", places, "place", "calls", "iterations", "total, ms", "own, ms", "share",
                "mean, us", "threads", "bytes read", "written", "GB/s", "of copies");
    }
    for (int k = 0; k < count; k++)
        nova_print_loop(out, rows[k], names, places, all);
    free(rows);
}

/* Writes text as a string of JSON. */
static void nova_write_string(FILE *out, const char *text)
{
    fprintf(out, "\"");
    for (const char *at = text == NULL ? "" : text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if ((unsigned char)*at < ' ')
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*at);
        else
            fprintf(out, "%c", *at);
    }
    fprintf(out, "\"");
}

/* Writes nanoseconds as microseconds. */
static void nova_write_time(FILE *out, const char *key, int64_t time)
{
    fprintf(out, ", \"%s\": %" PRId64 ".%03d", key, time / 1000, (int)(time % 1000));
}

/* Writes a number, or null if it is not known. */
static void nova_write_count(FILE *out, const char *key, int64_t number)
{
    if (number >= 0)
        fprintf(out, ", \"%s\": %" PRId64, key, number);
    else
        fprintf(out, ", \"%s\": null", key);
}

/* Writes the rows of the table. */
static void nova_write_rows(FILE *out)
{
    const char *separator = "";
    for (int k = 0; k < nova_loops.count; k++) {
        const nova_loop_row *row = &nova_loops.rows[k];
        bool moves = row->place != NULL && row->timed > 0;
        if (row->what == NULL)
            continue;
        fprintf(out, "%s\n{\"operation\": ", separator);
        nova_write_string(out, row->what);
        fprintf(out, ", \"place\": ");
        if (row->place == NULL)
            fprintf(out, "null");
        else
            nova_write_string(out, row->place);
        nova_write_count(out, "calls", row->calls);
        nova_write_count(out, "timed", row->timed);
        nova_write_count(out, "iterations", row->place == NULL ? -1 : row->iterations);
        nova_write_count(out, "total_ns", row->total);
        nova_write_count(out, "own_ns", row->own);
        nova_write_count(out, "threads", row->threads);
        nova_write_count(out, "bytes_read", moves ? row->read : -1);
        nova_write_count(out, "bytes_written", moves ? row->written : -1);
        double limit = nova_limit_of_row(row);
        nova_write_count(out, "limit_bytes_per_s", limit > 0 ? (int64_t)limit : -1);
        fprintf(out, "}");
        separator = ",";
    }
}

/* Writes an event of the trace. Parts of threads are named like their loops. */
static void nova_write_event(FILE *out, const nova_loop_event *event)
{
    const nova_loop_row *row = &nova_loops.rows[event->row];
    fprintf(out, ",\n{\"ph\": \"X\", \"name\": ");
    nova_write_string(out, row->place == NULL ? row->what : row->place);
    fprintf(out, ", \"cat\": \"%s\"", event->part ? "thread" : row->place == NULL ? "call" : "loop");
    nova_write_time(out, "ts", event->begin - nova_loops.start);
    nova_write_time(out, "dur", event->end - event->begin);
    fprintf(out, ", \"pid\": %ld, \"tid\": %d, \"args\": {\"operation\": ", (long)getpid(), event->thread);
    nova_write_string(out, row->what);
    if (!event->part && row->place != NULL)
        nova_write_count(out, "iterations", event->iterations);
    fprintf(out, "}}");
}

/* Writes the trace: the trace events of Chrome and Perfetto, and the rows of the table. False if the file
 * cannot be written. */
static bool nova_write_trace(const char *name)
{
    char processor[128];
    FILE *out = fopen(name, "w");
    if (out == NULL)
        return false;
    nova_name_processor(processor, sizeof processor);
    fprintf(out, "{\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"program\": ");
    nova_write_string(out, nova_loops.program);
    fprintf(out, ", \"processor\": ");
    nova_write_string(out, processor);
    nova_write_count(out, "lost_events", nova_loops.lost);
    fprintf(out, "},\n\"loops\": [");
    nova_write_rows(out);
    fprintf(out, "],\n\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %ld, "
                 "\"args\": {\"name\": ",
            (long)getpid());
    nova_write_string(out, nova_loops.program);
    fprintf(out, "}}");
    for (int k = 1; k <= nova_loops.threads; k++)
        fprintf(out, ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %ld, \"tid\": %d, "
                     "\"args\": {\"name\": \"thread %d\"}}",
                (long)getpid(), k, k);
    for (int64_t k = 0; k < nova_loops.event_count; k++)
        nova_write_event(out, &nova_loops.events[k]);
    fprintf(out, "\n]}\n");
    bool written = ferror(out) == 0;
    return fclose(out) == 0 && written;
}

/* Prints the table or writes the trace, and ends the profile. */
static void nova_report_loops(void)
{
    pthread_mutex_lock(&nova_loops_lock);
    nova_measure_memory();
    if (nova_loops.file == NULL) {
        nova_print_loops(stderr);
    } else if (!nova_write_trace(nova_loops.file)) {
        fprintf(stderr, "the trace cannot be written to %s (NOVA_PROFILE)\n", nova_loops.file);
        nova_print_loops(stderr);
    } else if (nova_loops.lost > 0) {
        fprintf(stderr, "%s lacks the last %" PRId64 " events (NOVA_PROFILE)\n", nova_loops.file,
                nova_loops.lost);
    }
    free(nova_loops.rows);
    free(nova_loops.events);
    nova_loops.rows = NULL;
    nova_loops.events = NULL;
    nova_loops.count = 0;
    nova_loops.event_count = nova_loops.event_room = 0;
    pthread_mutex_unlock(&nova_loops_lock);
}

/* The name of a file with that of the program in place of each %n; null if there is no memory. */
static char *nova_name_file(const char *wanted)
{
    size_t length = strlen(nova_loops.program), size = 1;
    for (const char *at = wanted; *at != '\0'; at++)
        size += strncmp(at, "%n", 2) == 0 ? length : 1;
    char *file = (char *)malloc(size), *to = file;
    for (const char *at = wanted; file != NULL && *at != '\0'; at++) {
        if (strncmp(at, "%n", 2) != 0) {
            *to++ = *at;
            continue;
        }
        memcpy(to, nova_loops.program, length);
        to += length;
        at++;
    }
    if (file != NULL)
        *to = '\0';
    return file;
}

/* The name of the program, for the function below. */
static NOVA_THREAD_LOCAL const char *nova_program_here;

/* Reads what the user wants. */
static void nova_read_profile(void)
{
    const char *wanted = getenv("NOVA_PROFILE");
    if (wanted == NULL || *wanted == '\0' || strcmp(wanted, "0") == 0)
        return;
    nova_loops.program = nova_program_here;
    nova_loops.file = strcmp(wanted, "1") == 0 ? NULL : nova_name_file(wanted);
    nova_loops.wanted = true;
    nova_loops.start = nova_clock();
    atexit(nova_report_loops);
}

/* Begins the row of an entry; false without a profile. */
static bool nova_open_call(nova_open_loops *open, int row, const char *name, const char *program)
{
    nova_program_here = program;
    pthread_once(&nova_loops_once, nova_read_profile);
    if (!nova_loops.wanted)
        return false;
    open->outer = nova_loops_here;
    open->outer_region = nova_region_here;
    open->depth = 0;
    nova_loops_here = open;
    nova_begin_loop(row, name, NULL);
    return true;
}

/* Ends it, and the loops that an error has left. */
static void nova_end_call(nova_open_loops *open)
{
    for (; open->depth > 1; open->depth--)
        if (open->depth <= NOVA_OPEN_LOOPS)
            nova_add_loop(&open->list[open->depth - 1], -1, 0, 0, 0);
    nova_end_loop(open->list[0].row, 0, -1, -1);
    int64_t time = nova_clock() - open->list[0].begin;
    nova_loops_here = open->outer;
    nova_region_here = open->outer_region;
    if (open->outer != NULL && open->outer->depth > 0 && open->outer->depth <= NOVA_OPEN_LOOPS)
        open->outer->list[open->outer->depth - 1].inside += time;
}

/* As nova_call, with a row for the entry of this name. */
static int nova_profiled_call(nova_body body, void *call, char *message, int row, const char *name,
                              const char *program)
{
    nova_open_loops open;
    if (!nova_open_call(&open, row, name, program))
        return nova_call(body, call, message);
    int code = nova_call(body, call, message);
    nova_end_call(&open);
    return code;
}

/* The body of an entry that runs in another thread than its call. */
typedef struct nova_profiled_body {
    nova_body body;
    void *call;
    nova_open_loops *open;
} nova_profiled_body;

static void nova_run_profiled(nova_context *context, void *argument)
{
    const nova_profiled_body *profiled = (const nova_profiled_body *)argument;
    nova_loops_here = profiled->open;
    profiled->body(context, profiled->call);
}

/* As nova_call_deep, with a row for the entry of this name. */
static int nova_profiled_call_deep(nova_body body, void *call, char *message, int row, const char *name,
                                   const char *program)
{
    nova_open_loops open;
    if (!nova_open_call(&open, row, name, program))
        return nova_call_deep(body, call, message);
    nova_profiled_body profiled = {body, call, &open};
    int code = nova_call_deep(nova_run_profiled, &profiled, message);
    nova_end_call(&open);
    return code;
}

#endif
