/* Products of square matrices of floats and of doubles: NOVA beside OpenBLAS, with one thread and with two.
 * Times are of one multiplication or addition, of which a product of n × n matrices has 2 n^3. */
#include "../recursion/recursion.h"
#include "gemm.h"
#include "threads_gemm.h"
#include <dlfcn.h>
#include <math.h>

enum { MISSING = 77, ROW_MAJOR = 101, AS_IT_IS = 111, PROBES = 64 };

typedef void multiply_floats(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                             const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void multiply_doubles(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                              const double *a, int lda, const double *b, int ldb, double beta, double *c,
                              int ldc);

static void (*set_threads)(int);
static multiply_floats *blas_sgemm;
static multiply_doubles *blas_dgemm;

struct data {
    int64_t n;
    int is_double;
    size_t bytes;
    void *a, *b, *out;
    /* Some elements of the product, exact but for the rounding of doubles, and a bound of their rounding. */
    int64_t places[PROBES];
    double expected[PROBES], allowed[PROBES];
};

static double at(const struct data *d, const void *matrix, int64_t place)
{
    return d->is_double ? ((const double *)matrix)[place] : (double)((const float *)matrix)[place];
}

static void probe(struct data *d)
{
    uint64_t state = 88172645463325252u;
    double unit = d->is_double ? 0x1p-53 : 0x1p-24;
    for (int k = 0; k < PROBES; k++) {
        int64_t row = (int64_t)(draw(&state) % (uint64_t)d->n), column = (int64_t)(draw(&state) % (uint64_t)d->n);
        double sum = 0, sizes = 0;
        for (int64_t j = 0; j < d->n; j++) {
            double product = at(d, d->a, row * d->n + j) * at(d, d->b, j * d->n + column);
            sum += product;
            sizes += fabs(product);
        }
        d->places[k] = row * d->n + column;
        d->expected[k] = sum;
        d->allowed[k] = 2 * (double)d->n * unit * sizes;
    }
}

/* The result of a side, which begins with what no product is. */
static void check(const struct data *d, const char *what)
{
    int right = 1;
    for (int k = 0; k < PROBES; k++)
        right &= fabs(at(d, d->out, d->places[k]) - d->expected[k]) <= d->allowed[k];
    expect(what, 0, "", right);
}

#define NOVA(name, prefix)                                                                         \
    static double name(void *data)                                                                \
    {                                                                                             \
        struct data *d = data;                                                                    \
        int64_t n = d->n, rows = n, columns = n;                                                  \
        float *floats = d->out;                                                                   \
        double *doubles = d->out;                                                                 \
        memset(d->out, 255, d->bytes);                                                            \
        double begin = now();                                                                     \
        int code = d->is_double ? prefix##dgemm(&rows, &columns, &doubles, n, n, d->a, n, n, d->b) \
                                : prefix##sgemm(&rows, &columns, &floats, n, n, d->a, n, n, d->b); \
        double seconds = now() - begin;                                                           \
        expect(#name, code, d->is_double ? prefix##dgemm_error() : prefix##sgemm_error(), 1);     \
        check(d, #name);                                                                          \
        return seconds;                                                                           \
    }

NOVA(nova, )
NOVA(nova_threads, threads_)

static double by_library(struct data *d, int threads)
{
    int n = (int)d->n;
    set_threads(threads);
    memset(d->out, 255, d->bytes);
    double begin = now();
    if (d->is_double)
        blas_dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, 1, d->a, n, d->b, n, 0, d->out, n);
    else
        blas_sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, 1, d->a, n, d->b, n, 0, d->out, n);
    double seconds = now() - begin;
    check(d, "OpenBLAS");
    return seconds;
}

static double library(void *data)
{
    return by_library(data, 1);
}

static double library_threads(void *data)
{
    return by_library(data, 2);
}

/* A matrix of numbers from -4 to 4. */
static void *matrix(const struct data *d, uint64_t state)
{
    void *made = get(1, d->bytes);
    for (int64_t i = 0; i < d->n * d->n; i++) {
        double value = (double)(draw(&state) >> 40) * (8.0 / (1 << 24)) - 4.0;
        if (d->is_double)
            ((double *)made)[i] = value;
        else
            ((float *)made)[i] = (float)value;
    }
    return made;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    void *blas = dlopen("libopenblas.so.0", RTLD_NOW);
    if (blas == NULL) {
        fprintf(stderr, "libopenblas.so.0 is not installed\n");
        return MISSING;
    }
    set_threads = (void (*)(int))dlsym(blas, "openblas_set_num_threads");
    blas_sgemm = (multiply_floats *)dlsym(blas, "cblas_sgemm");
    blas_dgemm = (multiply_doubles *)dlsym(blas, "cblas_dgemm");
    if (set_threads == NULL || blas_sgemm == NULL || blas_dgemm == NULL)
        fail("libopenblas.so.0", "has no functions of OpenBLAS");
    struct data d = {.n = setting.n, .is_double = is(setting, "double")};
    d.bytes = (size_t)(d.n * d.n) * (d.is_double ? sizeof(double) : sizeof(float));
    d.a = matrix(&d, 1);
    d.b = matrix(&d, 2);
    d.out = get(1, d.bytes);
    probe(&d);
    static const struct side sides[] = {
        {"NOVA", nova},
        {"OpenBLAS", library},
        {"NOVA, 2 threads", nova_threads},
        {"OpenBLAS, 2 threads", library_threads},
    };
    measure(sides, (int)(sizeof sides / sizeof *sides), setting, 2 * d.n * d.n * d.n, &d);
    free(d.a);
    free(d.b);
    free(d.out);
    return 0;
}
