/* Calls generated functions when memory or threads are refused and when iterations fail: the code
 * and the message are the right ones, nothing leaks (LeakSanitizer looks at the end), and the next
 * call works. The first argument says what is tried, the second how often. */
#include "refusals.h"
#undef malloc
#undef aligned_alloc
#undef pthread_create
#include "robust_default.h"
#include "robust_small.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Requests are counted; those from `first` on are refused, `count` of them. */
static int64_t asked, first = INT64_MAX, count;
static int64_t threads_left = INT64_MAX;

static bool is_refused(void)
{
    int64_t number = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    return number >= first && number - first < count;
}

void *host_malloc(size_t bytes)
{
    return is_refused() ? NULL : malloc(bytes);
}

void *host_aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused() ? NULL : aligned_alloc(alignment, bytes);
}

int host_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                        void *argument)
{
    if (__atomic_fetch_sub(&threads_left, 1, __ATOMIC_RELAXED) <= 0)
        return 11; /* EAGAIN */
    return pthread_create(thread, attributes, run, argument);
}

enum { N = 1000, ENTRIES = 4 };
static int32_t few[N];

/* An entry's result as bytes. */
typedef struct result {
    int code;
    int64_t length;
    size_t bytes;
    char *data;
    const char *message;
} result;

static result flat(int code, int64_t length, int32_t *data, const char *message)
{
    return (result){code, length, (size_t)length * sizeof *data, (char *)data, message};
}

static result call(int entry)
{
    int64_t length = 0, *starts = NULL;
    int32_t *data = NULL;
    switch (entry) {
    case 0: {
        int code = small_squares(&length, &data, N, few);
        return flat(code, length, data, small_squares_error());
    }
    case 1: {
        int code = small_medians(&length, &data, N, few);
        return flat(code, length, data, small_medians_error());
    }
    case 2: {
        int code = small_odd(&length, &data, N, few);
        return flat(code, length, data, small_odd_error());
    }
    default: {
        int code = small_rows(&length, &starts, &data, N, few);
        int64_t all = code == 0 ? starts[length] : 0;
        free(starts);
        return flat(code, all, data, small_rows_error());
    }
    }
}

static result expected[ENTRIES];

static void call_well(int entry)
{
    result found = call(entry);
    if (found.code != 0)
        fprintf(stderr, "entry %d: %d %s\n", entry, found.code, found.message);
    CHECK(found.code == 0 && found.length == expected[entry].length);
    CHECK(found.bytes == 0 || memcmp(found.data, expected[entry].data, found.bytes) == 0);
    free(found.data);
}

static void call_all_well(void)
{
    for (int entry = 0; entry < ENTRIES; entry++)
        call_well(entry);
}

/* Every request is refused once, alone and with all that follow. */
static void memory(void)
{
    for (int entry = 0; entry < ENTRIES; entry++)
        for (int all = 0; all < 2; all++) {
            bool reached = true;
            for (int64_t k = 0; reached; k += 1 + k / 32) {
                __atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
                count = all ? INT64_MAX : 1;
                first = k;
                result found = call(entry);
                first = INT64_MAX;
                reached = __atomic_load_n(&asked, __ATOMIC_RELAXED) > k;
                CHECK(found.code == (reached ? 2 : 0));
                CHECK(!reached || strstr(found.message, "out of memory") != NULL);
                CHECK(!reached || found.data == NULL);
                free(found.data);
                call_well(entry);
            }
        }
}

enum { MANY = 1000000 };

/* Calls with elements that fail at two places; the error is that of the first. */
static void fail_at(int32_t *x, int64_t zero, int64_t negative)
{
    int64_t length = 0;
    int32_t *data = NULL, old_zero = x[zero], old_negative = x[negative];
    x[zero] = 0;
    x[negative] = -5;
    int code = default_failing(&length, &data, MANY, x);
    const char *wanted = zero < negative ? "robust_default.nova:9:" : "index -5 is out of range for length 1000000";
    const char *never = zero < negative ? "index" : "division";
    CHECK(code == 1 && data == NULL);
    if (strstr(default_failing_error(), wanted) == NULL)
        fprintf(stderr, "%s\n", default_failing_error());
    CHECK(strstr(default_failing_error(), wanted) != NULL);
    CHECK(strstr(default_failing_error(), never) == NULL);
    x[zero] = old_zero;
    x[negative] = old_negative;
    CHECK(default_failing(&length, &data, MANY, x) == 0 && data[MANY - 1] == 1000 / x[MANY - 1]);
    free(data);
}

static void errors(long times)
{
    int32_t *x = malloc(MANY * sizeof *x);
    CHECK(x != NULL);
    for (int i = 0; i < MANY; i++)
        x[i] = i % 1500 + 1;
    fail_at(x, 0, MANY - 1);
    fail_at(x, MANY - 1, 0);
    for (int64_t i = 0; i < times; i++) {
        int64_t zero = i * 7919 * 131 % MANY, negative = (i * 104729 + 5) % MANY;
        if (zero != negative)
            fail_at(x, zero, negative);
    }
    free(x);
}

static long share;

static void *call_often(void *unused)
{
    for (long i = 0; i < share; i++)
        call_well((int)(i % ENTRIES));
    return unused;
}

/* Eight threads of the host call at once, so many times together. */
static void hosts(long times)
{
    pthread_t threads[8];
    share = times / 8;
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, call_often, NULL) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **arguments)
{
    const char *what = argc > 1 ? arguments[1] : "";
    long times = argc > 2 ? strtol(arguments[2], NULL, 10) : 0;
    for (int i = 0; i < N; i++)
        few[i] = i * 37 % 101;
    if (strcmp(what, "threads") == 0)
        threads_left = times;
    for (int entry = 0; entry < ENTRIES; entry++) {
        expected[entry] = call(entry);
        CHECK(expected[entry].code == 0);
    }
    if (strcmp(what, "memory") == 0)
        memory();
    else if (strcmp(what, "errors") == 0 || strcmp(what, "threads") == 0)
        errors(strcmp(what, "errors") == 0 ? times : 3);
    else if (strcmp(what, "alone") == 0)
        for (long i = 0; i < times; i++)
            call_well((int)(i % ENTRIES));
    else if (strcmp(what, "hosts") == 0)
        hosts(times);
    else
        CHECK(strcmp(what, "leak") == 0);
    call_all_well();
    for (int entry = 0; entry < ENTRIES && strcmp(what, "leak") != 0; entry++)
        free(expected[entry].data);
    memset(expected, 0, sizeof expected);
    return 0;
}
