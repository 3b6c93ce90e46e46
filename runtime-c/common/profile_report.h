/* The report of a profile: a table on the standard error, or a trace in a file. The memory is measured
 * for it when the program ends. */
#ifndef NOVA_PROFILE_REPORT_H
#define NOVA_PROFILE_REPORT_H

#include "profile.h"

/* The number of bytes that are copied to measure the memory, and the number of times. The first copy
 * only touches the memory. */
#ifndef NOVA_COPIED
#define NOVA_COPIED ((size_t)64 << 20)
#endif
#define NOVA_COPY_ROUNDS 5

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

#endif
