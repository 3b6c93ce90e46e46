/* The five kernels of BabelStream on arrays of doubles, in its order and with its first values: NOVA beside
 * plain loops and loops with non-temporal stores, with one thread and with two. Times are of one byte as
 * BabelStream counts them: two arrays for copy, mul and dot, three for add and triad. Its rate is that of
 * the best repetition but the first. Arrays lie on pages of 2 MB where the system gives these on request. */
#include "../recursion/recursion.h"
#include "stream.h"
#include "threads_stream.h"
#include <math.h>
#include <sys/mman.h>

enum { KERNELS = 5, SIDES = 6, PAGE = 2 << 20 };
static const double SCALAR = 0.4;

/* Doubles that are written past the caches together. */
typedef double line __attribute__((vector_size(64)));

struct arrays {
    int64_t n;
    double *a, *b, *c, sum;
};

/* One side: its kernels return 0 or the code of an error. */
struct stream {
    const char *name;
    int (*kernels[KERNELS])(struct arrays *);
};

#define NOVA(prefix)                                                                               \
    static int prefix##_copy(struct arrays *s)                                                     \
    {                                                                                              \
        return prefix##stream_copy(&s->n, &s->c, s->n, s->a);                                      \
    }                                                                                              \
    static int prefix##_mul(struct arrays *s)                                                      \
    {                                                                                              \
        return prefix##stream_mul(&s->n, &s->b, SCALAR, s->n, s->c);                               \
    }                                                                                              \
    static int prefix##_add(struct arrays *s)                                                      \
    {                                                                                              \
        return prefix##stream_add(&s->n, &s->c, s->n, s->a, s->n, s->b);                           \
    }                                                                                              \
    static int prefix##_triad(struct arrays *s)                                                    \
    {                                                                                              \
        return prefix##stream_triad(&s->n, &s->a, SCALAR, s->n, s->b, s->n, s->c);                 \
    }                                                                                              \
    static int prefix##_dot(struct arrays *s)                                                      \
    {                                                                                              \
        return prefix##stream_dot(&s->sum, s->n, s->a, s->n, s->b);                                \
    }

NOVA()
NOVA(threads_)

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

/* A loop over the elements, which writes through the caches. */
#define PLAIN(name, threads, to, value)                                                            \
    static int name(struct arrays *s)                                                              \
    {                                                                                              \
        const double *a = s->a, *b = s->b, *c = s->c;                                              \
        double *result = s->to;                                                                    \
        (void)a, (void)b, (void)c;                                                                 \
        PRAGMA(omp parallel for simd num_threads(threads)) for (int64_t i = 0; i < s->n; i++)      \
            result[i] = value;                                                                     \
        return 0;                                                                                  \
    }

#if defined __x86_64__
#include <immintrin.h>
/* Writes a line past the caches. */
static inline void put(double *to, line value)
{
#if defined __AVX512F__
    _mm512_stream_pd(to, (__m512d)value);
#else
    for (int k = 0; k < 8; k += 2)
        _mm_stream_pd(to + k, (__m128d){value[k], value[k + 1]});
#endif
}
#define FENCE() _mm_sfence()
#else
static inline void put(double *to, line value)
{
    *(line *)to = value;
}
#define FENCE() (void)0
#endif

/* A line of an array, which begins on a page. */
#define AT(array) (*(const line *)(s->array + i))

/* A loop over lines, which writes past the caches. */
#define NON_TEMPORAL(name, threads, to, value)                                                     \
    static int name(struct arrays *s)                                                              \
    {                                                                                              \
        PRAGMA(omp parallel num_threads(threads))                                                  \
        {                                                                                          \
            PRAGMA(omp for nowait) for (int64_t i = 0; i < s->n; i += 8)                           \
                put(s->to + i, value);                                                             \
            FENCE();                                                                               \
        }                                                                                          \
        return 0;                                                                                  \
    }

#define DOT(name, threads)                                                                         \
    static int name(struct arrays *s)                                                              \
    {                                                                                              \
        const double *a = s->a, *b = s->b;                                                         \
        double sum = 0;                                                                            \
        PRAGMA(omp parallel for simd num_threads(threads) reduction(+ : sum))                      \
        for (int64_t i = 0; i < s->n; i++)                                                         \
            sum += a[i] * b[i];                                                                    \
        s->sum = sum;                                                                              \
        return 0;                                                                                  \
    }

/* Sums of eight lines at once. */
#define DOT_OF_LINES(name, threads)                                                                \
    static int name(struct arrays *s)                                                              \
    {                                                                                              \
        double sum = 0;                                                                            \
        PRAGMA(omp parallel for num_threads(threads) reduction(+ : sum))                           \
        for (int64_t block = 0; block < s->n; block += 4096) {                                     \
            int64_t end = block + 4096 < s->n ? block + 4096 : s->n;                               \
            line sums[8] = {{0}};                                                                  \
            int64_t i = block;                                                                     \
            for (; i + 64 <= end; i += 64)                                                         \
                for (int k = 0; k < 8; k++)                                                        \
                    sums[k] += *(const line *)(s->a + i + 8 * k) * *(const line *)(s->b + i + 8 * k); \
            for (; i < end; i++)                                                                   \
                sum += s->a[i] * s->b[i];                                                          \
            for (int k = 0; k < 64; k++)                                                           \
                sum += sums[k / 8][k % 8];                                                         \
        }                                                                                          \
        s->sum = sum;                                                                              \
        return 0;                                                                                  \
    }

#define OPPONENT(name, threads)                                                                    \
    PLAIN(name##_copy, threads, c, a[i])                                                           \
    PLAIN(name##_mul, threads, b, SCALAR *c[i])                                                    \
    PLAIN(name##_add, threads, c, a[i] + b[i])                                                     \
    PLAIN(name##_triad, threads, a, b[i] + SCALAR * c[i])                                          \
    DOT(name##_dot, threads)                                                                       \
    NON_TEMPORAL(name##_non_temporal_copy, threads, c, AT(a))                                      \
    NON_TEMPORAL(name##_non_temporal_mul, threads, b, SCALAR *AT(c))                               \
    NON_TEMPORAL(name##_non_temporal_add, threads, c, AT(a) + AT(b))                               \
    NON_TEMPORAL(name##_non_temporal_triad, threads, a, AT(b) + SCALAR * AT(c))                    \
    DOT_OF_LINES(name##_non_temporal_dot, threads)

OPPONENT(c, 1)
OPPONENT(c2, 2)

#define KERNELS_OF(name) {name##_copy, name##_mul, name##_add, name##_triad, name##_dot}
static const struct stream streams[SIDES] = {
    {"NOVA", KERNELS_OF()},
    {"C", KERNELS_OF(c)},
    {"C, non-temporal", KERNELS_OF(c_non_temporal)},
    {"NOVA, 2 threads", KERNELS_OF(threads_)},
    {"OpenMP", KERNELS_OF(c2)},
    {"OpenMP, non-temporal", KERNELS_OF(c2_non_temporal)},
};
static const char *const names[KERNELS] = {"copy", "mul", "add", "triad", "dot"};
static const int moved[KERNELS] = {2, 2, 3, 3, 2};

static double *make(int64_t n, double value)
{
    size_t bytes = ((size_t)n * sizeof(double) + PAGE - 1) / PAGE * PAGE;
    double *made = aligned_alloc(PAGE, bytes);
    if (made == NULL)
        fail("memory", "there is not enough");
    madvise(made, bytes, MADV_HUGEPAGE);
    for (int64_t i = 0; i < n; i++)
        made[i] = value;
    return made;
}

static int is_near(double found, double expected, double error)
{
    return fabs(found - expected) <= error * fabs(expected);
}

/* The arrays and the sum after one repetition from these values. */
static void check(const struct arrays *s, const char *what, double values[3])
{
    values[2] = values[0];
    values[1] = SCALAR * values[2];
    values[2] = values[0] + values[1];
    values[0] = values[1] + SCALAR * values[2];
    /* The tolerances of BabelStream: sums are added in any order. */
    int right = is_near(s->sum, values[0] * values[1] * (double)s->n, 1e-8);
    for (int64_t i = 0; i < s->n; i++)
        right &= is_near(s->a[i], values[0], 1e-13) & is_near(s->b[i], values[1], 1e-13)
                 & is_near(s->c[i], values[2], 1e-13);
    expect(what, 0, "", right);
    /* The next side begins with what this one has made. */
    values[0] = s->a[0];
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int64_t n = (setting.n + 7) / 8 * 8;
    struct arrays s = {n, make(n, 0.1), make(n, 0.2), make(n, 0), 0};
    double values[3] = {0.1, 0.2, 0};
    double *times = get((int64_t)SIDES * KERNELS * setting.rounds, sizeof *times);
    /* The first repetition is not counted. */
    for (int round = -1; round < setting.rounds; round++)
        for (int k = 0; k < SIDES; k++) {
            int side = (k + round + 1) % SIDES;
            rest();
            for (int kernel = 0; kernel < KERNELS; kernel++) {
                double begin = now();
                int code = streams[side].kernels[kernel](&s);
                double seconds = now() - begin;
                expect(streams[side].name, code, names[kernel], 1);
                if (round >= 0)
                    times[(side * KERNELS + kernel) * setting.rounds + round] =
                        seconds * 1e9 / ((double)n * sizeof(double) * moved[kernel]);
            }
            check(&s, streams[side].name, values);
        }
    print_size(n);
    for (int row = 0; row < SIDES * KERNELS; row++) {
        printf("time\t%s: %s\t", names[row % KERNELS], streams[row / KERNELS].name);
        for (int round = 0; round < setting.rounds; round++)
            printf("%.6g%c", times[row * setting.rounds + round], round + 1 < setting.rounds ? ' ' : '\n');
    }
    free(times);
    free(s.a);
    free(s.b);
    free(s.c);
    return 0;
}
