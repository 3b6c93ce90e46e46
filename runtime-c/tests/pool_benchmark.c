/* A benchmark, not a test: the cost of an empty parallel region, in nanoseconds, next to an empty one
 * of OpenMP, and the speedup of two halves of some work. The arguments are the number of threads, and
 * the divisor of the number of regions (1). With the argument `busy` it keeps one processor busy until
 * it is ended, or ten minutes have passed. */
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#endif
#include "pool_test.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

typedef void empty(nova_context *context);

static void nothing(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    (void)chunk;
    (void)environment;
}

/* A region with as many chunks as OpenMP's region has threads. */
static void empty_region(nova_context *context)
{
    nova_parallel(context, nova_count_threads(), nothing, NULL);
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

static void rest(long microseconds)
{
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    if (microseconds > 0)
        nanosleep(&time, NULL);
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Times a region this many times, with a pause before each. Prints the median, the mean and the largest
 * time. */
static void measure(const char *name, nova_context *context, empty *region, int64_t count,
                    long pause)
{
    int64_t *times = (int64_t *)malloc((size_t)count * sizeof(int64_t));
    CHECK(times != NULL);
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        rest(pause);
        int64_t start = nova_now();
        region(context);
        times[i] = nova_now() - start;
        sum += times[i];
    }
    qsort(times, (size_t)count, sizeof(int64_t), compare);
    printf("%-6s  pause %6ld  median %8lld  mean %8lld  99%% %9lld  max %9lld\n", name, pause,
           (long long)times[count / 2], (long long)(sum / count),
           (long long)times[count * 99 / 100], (long long)times[count - 1]);
    free(times);
}

/* Times a row of regions, without a clock between them. */
static void measure_row(const char *name, nova_context *context, empty *region, int64_t count)
{
    for (int64_t i = 0; i < count / 100; i++)
        region(context);
    int64_t start = nova_now();
    for (int64_t i = 0; i < count; i++)
        region(context);
    printf("%-6s  pause %6d  each %8lld\n", name, 0, (long long)((nova_now() - start) / count));
}

/* Times regions in a row, and after pauses; the longer the pauses, the fewer the regions. */
static void measure_all(const char *name, nova_context *context, empty *region, int divisor)
{
    static const struct {
        long pause;
        int64_t count;
    } ways[] = {{0, 100000}, {100, 5000}, {1000, 2000}, {10000, 400}};
    measure_row(name, context, region, 1000000 / divisor + 1);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        measure(name, context, region, ways[k].count / divisor + 1, ways[k].pause);
}

/* Two halves of some work, to be compared with one after the other. */
typedef struct halves {
    int64_t iterations;
    double sums[16];
} halves;

static void half(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    halves *h = (halves *)environment;
    double sum = 0;
    for (int64_t i = 0; i < h->iterations; i++)
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

/* The median time of one way, after pauses. Before that, the threads of another way fall asleep. */
static double median_of(void (*way)(nova_context *, halves *), nova_context *context, halves *h,
                        int count, long pause)
{
    int64_t times[200];
    rest(50000);
    for (int i = 0; i < count; i++) {
        rest(pause);
        int64_t start = nova_now();
        way(context, h);
        times[i] = nova_now() - start;
    }
    qsort(times, (size_t)count, sizeof(int64_t), compare);
    return (double)times[count / 2];
}

static void measure_work(nova_context *context, int64_t iterations, int divisor, long pause)
{
    halves h = {iterations, {0}};
    int count = (pause > 0 ? 50 : 199) / divisor + 1;
    double alone = median_of(halves_alone, context, &h, count, pause);
    double pool = median_of(halves_together, context, &h, count, pause);
    printf("work    pause %6ld  alone %9.0f  pool %5.2f", pause, alone, alone / pool);
#if defined(_OPENMP)
    printf("  OpenMP %5.2f", alone / median_of(halves_openmp, context, &h, count, pause));
#endif
    printf("\n");
}

/* Keeps the first processor of this process busy. */
static void keep_busy(void)
{
#if defined(__linux__)
    cpu_set_t may, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof may, &may) == 0)
        for (int k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; k++)
            if (CPU_ISSET(k, &may))
                CPU_SET(k, &one);
    if (CPU_COUNT(&one) == 1)
        (void)sched_setaffinity(0, sizeof one, &one);
#endif
    alarm(600);
    for (volatile unsigned k = 0;; k++) {
    }
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "busy") == 0)
        keep_busy();
    use_threads(count > 1 ? atoi(arguments[1]) : 2);
    int divisor = count > 2 && atoi(arguments[2]) > 1 ? atoi(arguments[2]) : 1;
    nova_context context;
    char message[NOVA_MESSAGE_SIZE];
    nova_open(&context, message);
    measure_all("pool", &context, empty_region, divisor);
#if defined(_OPENMP)
    omp_set_num_threads(nova_count_threads());
    measure_all("OpenMP", &context, empty_openmp, divisor);
#endif
    for (int64_t iterations = 1000; iterations == 1000 || iterations <= 1000000 / divisor; iterations *= 10) {
        measure_work(&context, iterations, divisor, 0);
        measure_work(&context, iterations, divisor, 10000);
    }
    return 0;
}
