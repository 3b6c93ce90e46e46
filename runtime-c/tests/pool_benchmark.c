/* What an empty parallel region costs, in nanoseconds, beside an empty one of OpenMP: for reading,
 * not a test. docs/pthreads.md says how to build and run it. The argument is the number of
 * threads. */
#include "pool_test.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

static void nothing(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    (void)chunk;
    (void)environment;
}

static void empty_region(nova_context *context)
{
    nova_parallel(context, 2, nothing, NULL);
}

static void empty_openmp(nova_context *context)
{
    (void)context;
#if defined(_OPENMP)
#pragma omp parallel
    {
        __asm__ volatile("");
    }
#endif
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Times a region that often, with a pause before each; prints median, mean and the largest. */
static void measure(const char *name, nova_context *context, void (*region)(nova_context *),
                    int count, long pause)
{
    int64_t *times = (int64_t *)malloc((size_t)count * sizeof(int64_t));
    CHECK(times != NULL);
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        struct timespec rest = {0, pause};
        if (pause > 0)
            nanosleep(&rest, NULL);
        int64_t start = nova_now();
        region(context);
        times[i] = nova_now() - start;
        sum += times[i];
    }
    qsort(times, (size_t)count, sizeof(int64_t), compare);
    printf("  %-24s median %7lld  mean %9lld  99%% %9lld  max %9lld\n", name,
           (long long)times[count / 2], (long long)(sum / count),
           (long long)times[(int64_t)count * 99 / 100], (long long)times[count - 1]);
    free(times);
}

/* What a region costs without a clock between regions. */
static void measure_row(const char *name, nova_context *context, void (*region)(nova_context *))
{
    int count = 1000000;
    for (int i = 0; i < 1000; i++)
        region(context);
    int64_t start = nova_now();
    for (int i = 0; i < count; i++)
        region(context);
    printf("  %-24s each   %7lld\n", name, (long long)((nova_now() - start) / count));
}

/* Two halves of some work: how much faster than one after the other? */
typedef struct halves {
    int64_t rounds;
    double sums[16];
} halves;

static void half(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    halves *h = (halves *)environment;
    double sum = 0;
    for (int64_t i = 0; i < h->rounds; i++)
        sum += 1.0 / (double)(i + 1 + chunk);
    h->sums[chunk * 8] = sum;
}

static void halves_alone(nova_context *context, halves *h)
{
    nova_do_alone(context, 2, half, h);
}

static void halves_together(nova_context *context, halves *h)
{
    nova_parallel(context, 2, half, h);
}

static void halves_openmp(nova_context *context, halves *h)
{
#if defined(_OPENMP)
#pragma omp parallel for schedule(static, 1)
#endif
    for (int chunk = 0; chunk < 2; chunk++)
        half(context, chunk, h);
}

#define ROUNDS 200

/* The medians of all three, one after the other in each round, after pauses of some microseconds. */
static void measure_work(nova_context *context, int64_t rounds, long pause)
{
    static void (*const ways[])(nova_context *, halves *) = {halves_alone, halves_together,
                                                             halves_openmp};
    static int64_t times[3][ROUNDS];
    halves h = {rounds, {0}};
    for (int i = 0; i < ROUNDS; i++)
        for (int way = 0; way < 3; way++) {
            struct timespec rest = {0, pause * 1000};
            nanosleep(&rest, NULL);
            int64_t start = nova_now();
            ways[way](context, &h);
            times[way][i] = nova_now() - start;
        }
    for (int way = 0; way < 3; way++)
        qsort(times[way], ROUNDS, sizeof(int64_t), compare);
    double alone = (double)times[0][ROUNDS / 2];
    printf("  %9.0f ns of work after %5ld us: %4.2f times as fast, with OpenMP %4.2f\n", alone,
           pause, alone / (double)times[1][ROUNDS / 2], alone / (double)times[2][ROUNDS / 2]);
}

int main(int count, char **arguments)
{
    use_threads(count > 1 ? atoi(arguments[1]) : 2);
    nova_context context;
    char message[NOVA_MESSAGE_SIZE];
    nova_open(&context, message);
#if defined(_OPENMP)
    omp_set_num_threads(nova_count_threads());
#endif
    printf("%d threads, times in nanoseconds\n", nova_count_threads());
    measure_row("in a row", &context, empty_region);
    measure("hot", &context, empty_region, 100000, 0);
    measure("after 100 us", &context, empty_region, 2000, 100000);
    measure("after 10 ms", &context, empty_region, 200, 10000000);
    for (int64_t rounds = 1000; rounds <= 1000000; rounds *= 10) {
        measure_work(&context, rounds, 1);
        measure_work(&context, rounds, 10000);
    }
#if defined(_OPENMP)
    measure_row("OpenMP in a row", &context, empty_openmp);
    measure("OpenMP hot", &context, empty_openmp, 100000, 0);
    measure("OpenMP after 100 us", &context, empty_openmp, 2000, 100000);
    measure("OpenMP after 10 ms", &context, empty_openmp, 200, 10000000);
#endif
    return 0;
}
