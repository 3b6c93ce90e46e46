/* Tests of parallel regions: every chunk is done once and visible afterwards, with any number of
 * threads, nested, from several hosts at once, and very many one after the other. */
#include "pool_test.h"

static const int threads[] = {1, 2, 3, 8, 16, 64};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Adds one to the counter of the chunk. This is not atomic, so a chunk that is done twice or lost is
 * found. */
static void mark(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    ((int *)environment)[chunk]++;
}

static void every_chunk_is_done_once(void)
{
    static const int64_t counts[] = {0, 1, 2, 3, 100, 4096, 4097, 100003};
    for (size_t i = 0; i < COUNT(counts); i++) {
        int *marks = (int *)calloc((size_t)counts[i] + 1, sizeof(int));
        CHECK(marks != NULL);
        run_well(counts[i], mark, marks);
        for (int64_t chunk = 0; chunk < counts[i]; chunk++)
            CHECK(marks[chunk] == 1);
        CHECK(marks[counts[i]] == 0);
        free(marks);
    }
}

/* The sum that the chunks add up in their ordered regions, and the sum that each found. */
typedef struct prefix {
    int64_t sum;
    int64_t *found;
} prefix;

static void add_in_order(nova_context *context, int64_t chunk, void *environment)
{
    prefix *r = (prefix *)environment;
    int64_t own = chunk % 7 + 1;
    nova_begin_ordered(context, chunk);
    r->found[chunk] = r->sum;
    r->sum += own;
    nova_end_ordered(context, chunk);
}

/* A region whose chunks have ordered regions, as the body of a call. */
static void run_in_order(nova_context *context, void *call)
{
    job *j = (job *)call;
    nova_parallel_ordered(context, j->chunks, j->function, j->environment);
}

static void ordered_regions(void)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    static const int64_t counts[] = {0, 1, 2, 3, 100, 4096, 4097, 10003};
    for (size_t i = 0; i < COUNT(counts); i++) {
        prefix r = {0, (int64_t *)calloc((size_t)counts[i] + 1, sizeof(int64_t))};
        CHECK(r.found != NULL);
        job j = {counts[i], add_in_order, &r};
        CHECK(nova_call(run_in_order, &j, message) == 0);
        int64_t sum = 0;
        for (int64_t chunk = 0; chunk < counts[i]; chunk++) {
            CHECK(r.found[chunk] == sum);
            sum += chunk % 7 + 1;
        }
        CHECK(r.sum == sum);
        free(r.found);
    }
}

/* Inside another region chunks may be done by one thread or by several. */
static void ordered_inside(nova_context *context, int64_t chunk, void *environment)
{
    (void)environment;
    int64_t found[50];
    prefix r = {0, found};
    nova_parallel_ordered(context, 20 + chunk % 30, add_in_order, &r);
    CHECK(found[0] == 0 && found[19] == 1 + 2 + 3 + 4 + 5 + 6 + 7 + 28 + 1 + 2 + 3 + 4 + 5);
}

#define ROWS 20
#define COLUMNS 30
#define LAYERS 5

static void mark_column(nova_context *context, int64_t column, void *environment)
{
    nova_parallel(context, LAYERS, mark, (int *)environment + column * LAYERS);
}

static void mark_row(nova_context *context, int64_t row, void *environment)
{
    nova_parallel(context, COLUMNS, mark_column, (int *)environment + row * COLUMNS * LAYERS);
}

static void regions_nest(void)
{
    static int cube[ROWS * COLUMNS * LAYERS];
    memset(cube, 0, sizeof cube);
    run_well(ROWS, mark_row, cube);
    for (size_t i = 0; i < COUNT(cube); i++)
        CHECK(cube[i] == 1);
}

/* Many regions, one after the other, each of which reads what the one before has written. */
static void *many_regions(void *argument)
{
    long count = *(long *)argument;
    int marks[4] = {0, 0, 0, 0};
    for (long i = 0; i < count; i++)
        run_well(2 + i % 3, mark, marks);
    CHECK(marks[0] == count && marks[1] == count && marks[2] + marks[3] == count / 3 * 3);
    return NULL;
}

static void *nests(void *argument)
{
    (void)argument;
    for (int i = 0; i < 10; i++) {
        int cube[ROWS * COLUMNS * LAYERS] = {0};
        run_well(ROWS, mark_row, cube);
        for (size_t k = 0; k < COUNT(cube); k++)
            CHECK(cube[k] == 1);
    }
    return NULL;
}

/* Waits until another chunk runs, which ends only if a thread comes to help. */
typedef struct meeting {
    nova_shared present;
} meeting;

static void meet(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    (void)chunk;
    meeting *m = (meeting *)environment;
    NOVA_ADD(&m->present, 1, NOVA_ORDERED);
    while (NOVA_LOAD(&m->present, NOVA_ORDERED) < 2)
        sched_yield();
}

/* Help comes, whether the threads of the pool are awake, falling asleep, or asleep. */
static void help_comes(int iterations)
{
    for (int i = 0; i < iterations; i++) {
        meeting m;
        NOVA_STORE(&m.present, 0, NOVA_ORDERED);
        run_well(2, meet, &m);
        struct timespec pause = {0, (long)(i % 8) * 10000};
        nanosleep(&pause, NULL);
    }
}

static void meet_inside(nova_context *context, int64_t chunk, void *environment)
{
    (void)chunk;
    (void)environment;
    meeting m;
    NOVA_STORE(&m.present, 0, NOVA_ORDERED);
    nova_parallel(context, 2, meet, &m);
}

/* Idle threads assist nested regions too. Two threads may wait inside, and their caller for them: a
 * fourth comes. */
static void help_comes_inside(int iterations)
{
    for (int i = 0; i < iterations; i++)
        run_well(2, meet_inside, NULL);
}

static void *runs_ordered_regions(void *argument)
{
    (void)argument;
    ordered_regions();
    run_well(100, ordered_inside, NULL);
    return NULL;
}

/* A region of which the caller does one chunk and waits; the thread that does the other one needs help. */
typedef struct wait_for {
    meeting begun;
    pthread_t caller;
    long pause;
} wait_for;

static void need_help(nova_context *context, int64_t chunk, void *environment)
{
    wait_for *w = (wait_for *)environment;
    meet(context, chunk, &w->begun);
    if (pthread_equal(w->caller, pthread_self()))
        return;
    struct timespec pause = {0, w->pause};
    nanosleep(&pause, NULL);
    meet_inside(context, 0, NULL);
}

/* A caller that waits assists tasks inside its own region, whether it is awake, falling asleep, or
 * asleep. With two threads no other thread can. */
static void callers_help_inside(int iterations)
{
    for (int i = 0; i < iterations; i++) {
        wait_for w;
        NOVA_STORE(&w.begun.present, 0, NOVA_ORDERED);
        w.caller = pthread_self();
        w.pause = (long)(i % 8) * 10000;
        run_well(2, need_help, &w);
    }
}

static void *meets(void *argument)
{
    (void)argument;
    help_comes(20);
    return NULL;
}

/* Several hosts at once, of two kinds. */
static void hosts_call_at_once(void *(*kind)(void *), long count)
{
    pthread_t hosts[8];
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&hosts[i], NULL, i % 2 == 0 ? many_regions : kind, &count) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(hosts[i], NULL) == 0);
}

/* A thread takes the batches of its queue in rising order, then the last ones of other queues. Each batch
 * is taken once. */
static void queues_are_emptied(void)
{
    for (uint32_t claims = 1; claims <= 40; claims++) {
        for (uint32_t queues = 1; queues <= claims && queues <= 5; queues++) {
            static nova_region region;
            char taken[40] = "";
            uint32_t claim, count = 0, thread = claims % 7;
            region.claims = claims;
            region.queue_count = queues;
            nova_fill_queues(&region);
            uint32_t own = nova_own_queue(&region, thread);
            uint32_t begin = claims * own / queues, end = claims * (own + 1) / queues;
            CHECK(own < queues);
            while (nova_take_batch(&region, thread, &claim)) {
                CHECK(claim < claims && !taken[claim]);
                CHECK(begin + count >= end || claim == begin + count);
                CHECK(count + 2 > claims || nova_has_batches(&region) == (count + 2 < claims));
                taken[claim] = 1;
                count++;
            }
            CHECK(count == claims);
        }
    }
}

/* More regions at once than there are slots. */
static void slots_run_out(void)
{
    static nova_slot *taken[NOVA_SLOTS];
    nova_pool *pool = &NOVA_POOL;
    CHECK(nova_has_pool(pool));
    nova_region nothing;
    memset((void *)&nothing, 0, sizeof nothing);
    nova_context context;
    char message[NOVA_MESSAGE_SIZE];
    nova_open(&context, message);
    nothing.context = &context;
    nothing.pool = pool;
    for (int i = 0; i < NOVA_SLOTS; i++) {
        taken[i] = nova_publish(pool, nova_work_on_region, &nothing, NULL, 1);
        CHECK(taken[i] != NULL);
    }
    CHECK(nova_publish(pool, nova_work_on_region, &nothing, NULL, 1) == NULL);
    every_chunk_is_done_once();
    for (int i = 0; i < NOVA_SLOTS; i++)
        nova_retract(pool, taken[i], 0);
    every_chunk_is_done_once();
}

/* The argument is the number of regions in a row, which the numbers of threads share. */
int main(int count, char **arguments)
{
    long regions = count > 1 ? strtol(arguments[1], NULL, 10) : 30000;
    for (size_t i = 0; i < COUNT(threads); i++) {
        use_threads(threads[i]);
        CHECK(nova_count_threads() == threads[i]);
        every_chunk_is_done_once();
        queues_are_emptied();
        regions_nest();
        ordered_regions();
        run_well(100, ordered_inside, NULL);
        long share = regions / (long)COUNT(threads) / 3 * 3;
        many_regions(&share);
        share = share / 300 * 3;
        hosts_call_at_once(nests, share);
        hosts_call_at_once(runs_ordered_regions, 3);
        if (threads[i] > 1) {
            hosts_call_at_once(meets, share); /* needs a slot, of which nests leave none */
            help_comes(200);
            callers_help_inside(200);
            if (threads[i] > 3)
                help_comes_inside(200);
            slots_run_out();
        }
    }
    return 0;
}
