/* Calls of entries in a profile, and what the user wants of it. */
#ifndef NOVA_PROFILE_CALLS_H
#define NOVA_PROFILE_CALLS_H

#include "profile_report.h"

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

/* The first call reads what the user wants. */
static pthread_once_t nova_loops_once = PTHREAD_ONCE_INIT;

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
