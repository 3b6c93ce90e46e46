/* Tests of the table of a profile. Operations of several calls and threads are added up by name and
 * place, with and without times. The table reports bytes and bandwidth, and is made only if asked for. */
#define _DEFAULT_SOURCE
#include "../common/errors.h"
#include "test.h"
#include <math.h>
#include <pthread.h>

typedef char *nova_device_memory;

/* A queue that counts the waits for it. */
typedef struct fake_queue {
    int finished;
} *nova_queue;

/* A time that is known, or -1. */
typedef double nova_span;

static void nova_release_memory(nova_device_memory memory)
{
    free(memory);
}

static void nova_finish(nova_queue queue)
{
    queue->finished++;
}

static bool nova_end_span(nova_span span, double *seconds)
{
    *seconds = span;
    return span >= 0;
}

#include "../device/profile.h"

static int measured;

static void name_device(nova_session *session, char *text, size_t size)
{
    (void)session;
    snprintf(text, size, "a fake");
}

/* There is memory for half of the first size, and 1 GB moves in a second. */
static double time_copy(nova_session *session, size_t bytes)
{
    (void)session;
    measured++;
    return bytes == NOVA_COPIED ? 0 : 2 * (double)bytes / 1e9;
}

static nova_pool_of_device pool = NOVA_EMPTY_POOL;

static void open_call(nova_session *session, nova_queue queue)
{
    memset(session, 0, sizeof *session);
    session->queue = queue;
    pthread_mutex_lock(&pool.lock);
    session->profile = nova_profile_of(&pool);
    pthread_mutex_unlock(&pool.lock);
    nova_open_profile(session, name_device, time_copy);
}

enum { CALLS = 4, ITERATIONS = 1000 };

/* A call that runs two kernels alternately; one of them often fails, so that its time is unknown. */
static void *call(void *argument)
{
    struct fake_queue queue = {0};
    nova_session session;
    (void)argument;
    open_call(&session, &queue);
    CHECK(session.profile != NULL && session.noted != NULL);
    nova_note(&session, NOVA_COPY_TO_DEVICE, NULL, 0.5, 0, 1000);
    for (int k = 0; k < ITERATIONS; k++) {
        nova_note(&session, "first_kernel", "a.nova:1:2", 0.001, 300000, 200000);
        nova_note(&session, "second_kernel", "a.nova:2:2", k % 2 == 0 ? 0.004 : -1, 8, 0);
    }
    nova_note(&session, "first_kernel", "a.nova:9:2", -1, 1, 1);
    CHECK(queue.finished == (2 * ITERATIONS + 1) / NOVA_NOTED);
    nova_close_profile(&session);
    CHECK(session.noted == NULL && session.noted_count == 0);
    return NULL;
}

/* The printed text. */
static char printed[4096];

static void print_all(void)
{
    FILE *file = tmpfile();
    CHECK(file != NULL);
    nova_print_profile(file, pool.profile);
    rewind(file);
    size_t length = fread(printed, 1, sizeof printed - 1, file);
    printed[length] = '\0';
    fclose(file);
}

/* Checks that the printed text, with single blanks, contains this. */
static void expect(const char *line)
{
    char squeezed[sizeof printed];
    size_t length = 0;
    for (const char *at = printed; *at != '\0'; at++)
        if (*at != ' ' || (length > 0 && squeezed[length - 1] != ' '))
            squeezed[length++] = *at;
    squeezed[length] = '\0';
    if (strstr(squeezed, line) == NULL)
        fprintf(stderr, "no \"%s\" in\n%s", line, squeezed);
    CHECK(strstr(squeezed, line) != NULL);
}

int main(void)
{
    nova_session session;
    struct fake_queue queue = {0};
    pthread_t threads[CALLS];
    /* Without a request for a profile. */
    unsetenv("NOVA_PROFILE");
    open_call(&session, &queue);
    nova_note(&session, "kernel", "a.nova:1:1", 1, 1, 1);
    nova_close_profile(&session);
    CHECK(session.profile == NULL && pool.asked && measured == 0 && queue.finished == 0);
    CHECK(nova_profiles == NULL);
    pool.asked = false;
    setenv("NOVA_PROFILE", "0", 1);
    open_call(&session, &queue);
    CHECK(session.profile == NULL);
    /* With a request. */
    pool.asked = false;
    setenv("NOVA_PROFILE", "1", 1);
    for (int k = 0; k < CALLS; k++)
        CHECK(pthread_create(&threads[k], NULL, call, NULL) == 0);
    for (int k = 0; k < CALLS; k++)
        CHECK(pthread_join(threads[k], NULL) == 0);
    CHECK(measured == 2 && fabs(pool.profile->bandwidth - 1e9) < 1);
    open_call(&session, &queue);
    nova_note(&session, "late_kernel", "", 1, 1, 1);
    print_all();
    expect("profile of a fake, whose copies have 1.0 GB/s\n");
    /* Kernels by their time, then copies; 500 MB/s is half of the bandwidth of copies. */
    expect("of copies\nsecond_kernel a.nova:2:2 4000 8000.000 4000.0 32000 0 0.0 0.0 %\nfirst_kernel "
           "a.nova:1:2 4000 4000.000 1000.0 1200000000 800000000 0.5 50.0 %\nfirst_kernel a.nova:9:2 "
           "4 - - 4 4 - - \nhost to device - 4 2000.000 500000.0 0 4000 0.0 - \n");
    /* A call that ends after the table is printed is not in it, and does no harm. */
    nova_close_profile(&session);
    print_all();
    CHECK(printed[0] == '\0');
    return 0;
}
