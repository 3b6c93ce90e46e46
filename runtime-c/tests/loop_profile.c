/* Tests of the profile of loops. Calls of several threads, with loops inside loops, failures and regions,
 * are counted exactly. The table and the trace report them, and nothing is done unless asked for. */
#define _DEFAULT_SOURCE
#define NOVA_COPIED ((size_t)1 << 20)
#define NOVA_MOST_EVENTS 5000
#include "../common/errors.h"
#include "../common/profile_calls.h"
#include "../pthreads/profile.h"
#include "test.h"

enum { LOOP, INSIDE, FAILS, REGION, ENTRY, DEEP, OUTER, CALLERS = 4, CALLS = 10, CHUNKS = 8 };

static void chunk(nova_context *context, int64_t number, void *environment)
{
    double *sums = (double *)environment;
    (void)context;
    for (int i = 0; i < 1000; i++)
        sums[number] += i;
}

/* A chunk that runs a region. */
static void nested_chunk(nova_context *context, int64_t number, void *environment)
{
    double *sums = (double *)environment;
    nova_profiled_parallel(context, 2, chunk, sums + 2 * number);
}

/* A loop with two executions of another one inside, then a region. */
static void body(nova_context *context, void *call)
{
    double sums[2 * CHUNKS] = {0};
    nova_begin_loop(LOOP, "loop", "a.nova:1:2");
    for (int k = 0; k < 2; k++) {
        nova_begin_loop(INSIDE, "map", "a.nova:2:3");
        nova_end_loop(INSIDE, 100, 400, 800);
    }
    nova_end_loop(LOOP, 2, -1, -1);
    nova_begin_loop(REGION, "scatter, \"map\"", "a.nova:3:4");
    nova_profiled_parallel(context, CHUNKS, nested_chunk, sums);
    nova_end_loop(REGION, CHUNKS, 64, 0);
    if (*(bool *)call) {
        nova_begin_loop(FAILS, "reduce", "a.nova:4:5");
        nova_begin_loop(INSIDE, "map", "a.nova:2:3");
        nova_fail(context, 1, "it fails");
    }
}

static void recursive(nova_context *context, void *call)
{
    (void)context;
    for (int k = 0; k < 3 * NOVA_OPEN_LOOPS; k++)
        nova_begin_loop(LOOP, "loop", "a.nova:1:2");
    for (int k = 0; k < 3 * NOVA_OPEN_LOOPS; k++)
        nova_end_loop(LOOP, 1, -1, -1);
    (void)call;
}

/* A call that leads to another one, as by a foreign function. */
static void outer_body(nova_context *context, void *call)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    (void)context;
    CHECK(nova_profiled_call(body, call, message, ENTRY, "entry", "p") == 0);
}

static void *caller(void *argument)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    bool fails = true, succeeds = false;
    (void)argument;
    for (int k = 0; k < CALLS; k++) {
        CHECK(nova_profiled_call(body, &succeeds, message, ENTRY, "entry", "p") == 0);
        CHECK(nova_profiled_call(body, &fails, message, ENTRY, "entry", "p") == 1);
        CHECK(strcmp(message, "it fails") == 0);
        CHECK(nova_profiled_call_deep(body, &succeeds, message, DEEP, "deep", "p") == 0);
        CHECK(nova_profiled_call_deep(body, &fails, message, DEEP, "deep", "p") == 1);
    }
    CHECK(nova_profiled_call(outer_body, &succeeds, message, OUTER, "outer", "p") == 0);
    CHECK(nova_loops_here == NULL && nova_region_here == NULL);
    return NULL;
}

static void run_callers(void)
{
    pthread_t threads[CALLERS];
    for (int k = 0; k < CALLERS; k++)
        CHECK(pthread_create(&threads[k], NULL, caller, NULL) == 0);
    for (int k = 0; k < CALLERS; k++)
        CHECK(pthread_join(threads[k], NULL) == 0);
}

/* Starts as if the program had just been loaded. */
static void ask(const char *wanted)
{
    free(nova_loops.rows);
    free(nova_loops.events);
    free(nova_loops.file);
    memset(&nova_loops, 0, sizeof nova_loops);
    if (wanted != NULL)
        setenv("NOVA_PROFILE", wanted, 1);
    else
        unsetenv("NOVA_PROFILE");
    nova_program_here = "p";
    nova_read_profile();
}

/* The numbers of a row. */
static void expect(int number, int64_t calls, int64_t timed, int64_t iterations, int64_t read,
                   int64_t written)
{
    const nova_loop_row *row = &nova_loops.rows[number];
    CHECK(number < nova_loops.count);
    CHECK(row->calls == calls && row->timed == timed && row->iterations == iterations);
    CHECK(row->read == read && row->written == written);
    CHECK(row->own >= 0 && row->own <= row->total && (timed > 0 || row->total == 0));
}

/* The text of a file. */
static char *contents(FILE *file)
{
    static char text[1 << 22];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

int main(void)
{
    const int64_t calls = CALLERS * (4 * CALLS + 1), good = CALLERS * (2 * CALLS + 1);
    const int64_t bad = calls - good;
    char message[NOVA_MESSAGE_SIZE] = "", name[] = "/tmp/nova_loop_profile_XXXXXX";
    setenv("NOVA_NUM_THREADS", "3", 1);
    /* Without a profile. */
    unsetenv("NOVA_PROFILE");
    run_callers();
    ask("0");
    CHECK(!nova_loops.wanted && nova_loops.count == 0);
    ask("");
    CHECK(!nova_loops.wanted);
    /* A table. */
    ask("1");
    CHECK(nova_loops.wanted && nova_loops.file == NULL);
    run_callers();
    expect(LOOP, calls, calls, 2 * calls, -1, -1);
    expect(INSIDE, 2 * calls + bad, 2 * calls, 200 * calls, 800 * calls, 1600 * calls);
    expect(FAILS, bad, 0, 0, 0, 0);
    expect(REGION, calls, calls, CHUNKS * calls, 64 * calls, 0);
    expect(ENTRY, CALLERS * (2 * CALLS + 1), CALLERS * (2 * CALLS + 1), 0, -1, -1);
    expect(DEEP, CALLERS * 2 * CALLS, CALLERS * 2 * CALLS, 0, -1, -1);
    expect(OUTER, CALLERS, CALLERS, 0, -1, -1);
    CHECK(nova_loops.rows[REGION].threads >= 1 && nova_loops.rows[REGION].threads <= CALLERS + 2);
    nova_measure_memory();
    CHECK(nova_loops.speeds[0] > 0 && nova_loops.speeds[1] > 0);
    FILE *file = tmpfile();
    nova_print_loops(file);
    const char *text = contents(file);
    CHECK(strncmp(text, "profile of p on ", 16) == 0 && occurrences(text, "\n") == 2 + 7);
    CHECK(occurrences(text, "scatter, \"map\"  a.nova:3:4") == 1);
    CHECK(occurrences(text, "reduce          a.nova:4:5") == 1);
    /* Loops inside each other without end. */
    ask("1");
    CHECK(nova_profiled_call(recursive, NULL, message, ENTRY, "entry", "p") == 0);
    expect(LOOP, NOVA_OPEN_LOOPS - 1, NOVA_OPEN_LOOPS - 1, NOVA_OPEN_LOOPS - 1, -1, -1);
    /* Names of files. */
    ask("a%n/%n%%.json%");
    CHECK(strcmp(nova_loops.file, "ap/p%%.json%") == 0);
    /* Nothing has run. */
    ask("1");
    file = tmpfile();
    nova_print_loops(file);
    CHECK(*contents(file) == '\0');
    /* A trace, which keeps so many events. */
    CHECK(mkstemp(name) >= 0);
    ask(name);
    run_callers();
    CHECK(strcmp(nova_loops.file, name) == 0 && nova_loops.lost == 0);
    int64_t events = nova_loops.event_count;
    CHECK(events >= 4 * calls + calls + CALLERS && nova_write_trace(name));
    file = fopen(name, "r");
    CHECK(file != NULL);
    text = contents(file);
    CHECK(occurrences(text, "\"ph\": \"X\"") == events);
    CHECK(occurrences(text, "\"cat\": \"loop\"") == 4 * calls);
    CHECK(occurrences(text, "\"operation\": \"scatter, \\\"map\\\"\", \"place\": \"a.nova:3:4\"") == 1);
    for (int k = 0; k < 100; k++)
        CHECK(nova_profiled_call(recursive, NULL, message, ENTRY, "entry", "p") == 0);
    CHECK(nova_loops.event_count == NOVA_MOST_EVENTS && nova_loops.lost > 0);
    CHECK(!nova_write_trace("/nowhere/trace.json"));
    CHECK(remove(name) == 0);
    /* The end of the process finds nothing to report. */
    ask("0");
    return 0;
}
