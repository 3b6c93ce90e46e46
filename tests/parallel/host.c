/* Calls generated functions with parallel loops, one thread first, then eight at once, and prints
 * what each thread has found: all lines must be equal. */
#include "bbox.h"
#include "dot.h"
#include "kept.h"
#include "norm.h"
#include "scal.h"
#include "spmv_csr.h"
#include "sumrows.h"
#include "wordcount.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300001, SORTED = 20001, ROWS = 20001, HOSTS = 8, TIMES = 4 };

static float *x, *y;
static int64_t *starts;
static nova_tuple2_int_float *entries;
static uint8_t *text;

static void check(int code, const char *message)
{
    if (code != 0)
        printf("error %d: %s\n", code, message);
}

/* The sum of all elements, which makes any wrong one visible, and of each with its place. */
static double digest(const float *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i] * (double)(i % 1000 + 1);
    return sum;
}

/* The same of what scans, histograms and sorts give. */
static void call_ordered(char *line, size_t size)
{
    int64_t last_len = 0, counts_len = 0, sorted_len = 0, disordered_len = 0;
    float *last = NULL, *ordered = NULL, *disorder = NULL;
    int32_t *bins = NULL;
    check(last_maxima(&last_len, &last, N, x), last_maxima_error());
    check(counts(&counts_len, &bins, N, x), counts_error());
    check(sorted(&sorted_len, &ordered, SORTED, x), sorted_error());
    check(disordered(&disordered_len, &disorder, SORTED, x), disordered_error());
    snprintf(line, size, " %a %d %d %a %a", digest(last, last_len), bins[37], bins[100],
             digest(ordered, sorted_len), digest(disorder, disordered_len));
    free(last);
    free(bins);
    free(ordered);
    free(disorder);
}

/* The same of arrays into which several threads store. */
static void call_storing(char *line, size_t size)
{
    int64_t marked_len = 0, turned_len = 0, framed_len = 0;
    float *marks = NULL, *turns = NULL, *frames = NULL;
    check(marked(&marked_len, &marks, N, x), marked_error());
    check(turned(&turned_len, &turns, N, x), turned_error());
    check(framed(&framed_len, &frames, N, x), framed_error());
    snprintf(line, size, " %a %a %a", digest(marks, marked_len), digest(turns, turned_len),
             digest(frames, framed_len));
    free(marks);
    free(turns);
    free(frames);
}

static void *call_all(void *line)
{
    for (int k = 0; k < TIMES; k++) {
        int64_t scaled_len = 0, sums_len = 0, products_len = 0, kept_len = 0, running_len = 0;
        float *scaled = NULL, *sums = NULL, *products = NULL, *kept_values = NULL, *running = NULL;
        float product, length;
        int32_t words;
        nova_tuple2_tuple2_float_float_tuple2_float_float box;
        check(scal(&scaled_len, &scaled, 2.0f, N, x), scal_error());
        check(sumrows(&sums_len, &sums, ROWS, starts, x), sumrows_error());
        check(spmv_csr(&products_len, &products, ROWS, starts, entries, N, x), spmv_csr_error());
        check(dot(&product, N, x, N, y), dot_error());
        check(norm(&length, N, x), norm_error());
        check(bbox(&box, N / 2, (const nova_tuple2_float_float *)x), bbox_error());
        check(wordcount(&words, N, text), wordcount_error());
        check(kept(&kept_len, &kept_values, N, x), kept_error());
        check(running_maxima(&running_len, &running, N, x), running_maxima_error());
        int written = snprintf((char *)line, 512, "%a %a %a %a %a %a %a %d %lld %a %a", digest(scaled, scaled_len),
                 digest(sums, sums_len), digest(products, products_len), product, length,
                 box.e0.e0, box.e1.e1, words, (long long)kept_len, digest(kept_values, kept_len),
                 digest(running, running_len));
        call_ordered((char *)line + written, 512 - (size_t)written);
        written = (int)strlen((char *)line);
        call_storing((char *)line + written, 512 - (size_t)written);
        free(scaled);
        free(sums);
        free(products);
        free(kept_values);
        free(running);
    }
    return NULL;
}

/* Two elements with wrong columns, in parts far from each other: the error is that of the first. */
static void fail(void)
{
    int64_t count = 0, middle = starts[ROWS] / 2, last = starts[ROWS] - 5;
    float *products = NULL;
    int32_t old[2] = {entries[middle].e0, entries[last].e0};
    entries[middle].e0 = N + 1;
    entries[last].e0 = -7;
    int code = spmv_csr(&count, &products, ROWS, starts, entries, N, x);
    printf("%d %s\n", code, spmv_csr_error());
    entries[middle].e0 = old[0];
    entries[last].e0 = old[1];
    check(spmv_csr(&count, &products, ROWS, starts, entries, N, x), spmv_csr_error());
    free(products);
}

int main(void)
{
    static char lines[HOSTS + 1][512];
    pthread_t hosts[HOSTS];
    x = (float *)malloc(N * sizeof *x);
    y = (float *)malloc(N * sizeof *y);
    starts = (int64_t *)malloc((ROWS + 1) * sizeof *starts);
    text = (uint8_t *)malloc(N);
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i * 37 % 101) * 0.01f;
        y[i] = (float)(i % 7);
        text[i] = (uint8_t)"ab c"[i * 7 % 4];
    }
    starts[0] = 0;
    for (int i = 0; i < ROWS; i++)
        starts[i + 1] = starts[i] + (i == 7 ? 1000 : i % 13);
    entries = (nova_tuple2_int_float *)malloc((size_t)starts[ROWS] * sizeof *entries);
    for (int64_t i = 0; i < starts[ROWS]; i++) {
        entries[i].e0 = (int32_t)(i * 31 % N);
        entries[i].e1 = 0.5f;
    }
    call_all(lines[HOSTS]);
    fail();
    for (int k = 0; k < HOSTS; k++)
        pthread_create(&hosts[k], NULL, call_all, lines[k]);
    for (int k = 0; k < HOSTS; k++)
        pthread_join(hosts[k], NULL);
    for (int k = 0; k <= HOSTS; k++)
        puts(lines[k]);
    free(x);
    free(y);
    free(starts);
    free(text);
    free(entries);
    return 0;
}
