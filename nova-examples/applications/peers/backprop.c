/* One step of training a network with a hidden layer. Limited by the bandwidth of reading weights
 * twice and writing them once, and by the allocation of a vector for each row of the result. Sums
 * for neighbouring columns are held in registers over several rows; threads have their own rows. */
#include "../../benchmarks/peers/peer.h"
#include "backprop.h"
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 16,
#else
    WIDTH = 8,
#endif
    /* Rows whose sums are in registers, by several chains of additions. */
    ROWS = 16,
    CHAINS = 4,
    /* Weights that are worth a second thread. */
    WORTHWHILE = 1 << 15,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef nova_vector_vector_float matrix;

/* The weights between two layers, of which the first has rows - 1 values and an input that is 1. */
typedef struct {
    int64_t rows, columns;
    const float *weights, *old, *values;
} layer;

static inline vec get(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* The first value, of row 0, is 1. */
static inline float value_of(const layer *l, int64_t row)
{
    return row == 0 ? 1.0f : l->values[row - 1];
}

/* Adds ROWS rows of weights times their values to sums. */
static inline void add_rows(float *sums, const float *weights, const float *values, int64_t columns)
{
    int64_t j = 0;
    for (; j + WIDTH <= columns; j += WIDTH) {
        vec chains[CHAINS];
#pragma GCC unroll 4
        for (int k = 0; k < CHAINS; k++)
            chains[k] = values[k] * get(weights + k * columns + j);
#pragma GCC unroll 12
        for (int k = CHAINS; k < ROWS; k++)
            chains[k % CHAINS] += values[k] * get(weights + k * columns + j);
        vec sum = get(sums + j) + ((chains[0] + chains[1]) + (chains[2] + chains[3]));
        memcpy(sums + j, &sum, sizeof sum);
    }
    for (; j < columns; j++)
        for (int k = 0; k < ROWS; k++)
            sums[j] += values[k] * weights[k * columns + j];
}

/* Adds the rows from `begin` to `end`, one by one. */
static void add_singly(const layer *l, float *sums, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        float value = value_of(l, i);
        for (int64_t j = 0; j < l->columns; j++)
            sums[j] += value * l->weights[i * l->columns + j];
    }
}

/* Adds the rows from `begin` to `end` to sums: blocks of them in single precision, in `block`. */
static void add_some(const layer *l, double *sums, float *block, int64_t begin, int64_t end)
{
    while (begin < end) {
        int64_t i = begin, stop = end - begin < BLOCK ? end : begin + BLOCK;
        memset(block, 0, (size_t)l->columns * sizeof *block);
        if (i == 0)
            add_singly(l, block, i++, 1);
        for (; i + ROWS <= stop; i += ROWS)
            add_rows(block, l->weights + i * l->columns, l->values + i - 1, l->columns);
        add_singly(l, block, i, stop);
        for (int64_t j = 0; j < l->columns; j++)
            sums[j] += block[j];
        begin = stop;
    }
}

static inline int worthwhile(const layer *l)
{
    return l->rows * l->columns >= WORTHWHILE;
}

/* The values of the next layer. Each thread adds to sums of its own. */
static int forward(const layer *l, float *next)
{
    int64_t threads = 1, columns = l->columns;
#ifdef _OPENMP
    threads = worthwhile(l) ? omp_get_max_threads() : 1;
#endif
    int64_t stride = (columns + 2 * LANES - 1) / LANES * LANES;
    double *sums = calloc((size_t)(threads * stride), sizeof *sums + sizeof(float));
    if (sums == NULL)
        return 2;
    float *blocks = (float *)(sums + threads * stride);
#pragma omp parallel for num_threads((int)threads) schedule(static)
    for (int64_t t = 0; t < threads; t++)
        add_some(l, sums + t * stride, blocks + t * stride, l->rows * t / threads,
                 l->rows * (t + 1) / threads);
    for (int64_t t = 1; t < threads; t++)
        for (int64_t j = 0; j < columns; j++)
            sums[j] += sums[t * stride + j];
    for (int64_t j = 0; j < columns; j++)
        next[j] = 1.0f / (1.0f + expf((float)-sums[j]));
    free(sums);
    return 0;
}

/* The deltas of the layer before, from those of the next one; returns the sum of their sizes. */
static float backward(const layer *l, float *deltas, const float *next)
{
    float error = 0;
    for (int64_t i = 0; i + 1 < l->rows; i++) {
        const float *weights = l->weights + (i + 1) * l->columns;
        float value = l->values[i], sum = 0;
        for (int64_t j = 0; j < l->columns; j++)
            sum += next[j] * weights[j];
        deltas[i] = value * (1.0f - value) * sum;
        error += fabsf(deltas[i]);
    }
    return error;
}

/* Writes the changed weights, each row a vector of its own. Steps are deltas times the rate. */
static int change(matrix *result, const layer *l, const float *steps, float momentum)
{
    int64_t columns = l->columns;
    int failed = 0;
    result->len = l->rows;
    result->data = calloc((size_t)l->rows, sizeof *result->data);
    if (result->data == NULL)
        return 2;
#pragma omp parallel for schedule(static) reduction(| : failed) if (worthwhile(l))
    for (int64_t i = 0; i < l->rows; i++) {
        const float *weights = l->weights + i * columns, *old = l->old + i * columns;
        float value = value_of(l, i);
        float *restrict row = malloc((size_t)columns * sizeof *row);
        failed |= row == NULL;
        for (int64_t j = 0; row != NULL && j < columns; j++)
            row[j] = weights[j] + (steps[j] * value + momentum * old[j]);
        result->data[i] = (nova_vector_float){columns, row};
    }
    return failed ? 2 : 0;
}

static void free_matrix(matrix m)
{
    for (int64_t i = 0; m.data != NULL && i < m.len; i++)
        free(m.data[i].data);
    free(m.data);
}

/* Multiplies deltas by the rate. */
static void scale(float *deltas, int64_t n, float rate)
{
    for (int64_t j = 0; j < n; j++)
        deltas[j] *= rate;
}

int peer_backprop(nova_tuple4_float_float_vector_vector_float_vector_vector_float *result,
                  float rate, float momentum, int64_t input_len, const float *input,
                  int64_t target_len, const float *target, int64_t w1_dim0, int64_t w1_dim1,
                  const float *w1, int64_t w2_dim0, int64_t w2_dim1, const float *w2,
                  int64_t old1_dim0, int64_t old1_dim1, const float *old1, int64_t old2_dim0,
                  int64_t old2_dim1, const float *old2)
{
    (void)input_len, (void)target_len;
    (void)old1_dim0, (void)old1_dim1, (void)old2_dim0, (void)old2_dim1;
    float *hidden = malloc((size_t)(2 * w1_dim1 + 2 * w2_dim1 + 1) * sizeof *hidden);
    if (hidden == NULL)
        return 2;
    float *hidden_deltas = hidden + w1_dim1, *output = hidden_deltas + w1_dim1;
    float *output_deltas = output + w2_dim1, error = 0;
    layer first = {w1_dim0, w1_dim1, w1, old1, input};
    layer second = {w2_dim0, w2_dim1, w2, old2, hidden};
    matrix changed1 = {0, NULL}, changed2 = {0, NULL};
    int code = forward(&first, hidden);
    if (code == 0)
        code = forward(&second, output);
    for (int64_t j = 0; code == 0 && j < w2_dim1; j++) {
        output_deltas[j] = output[j] * (1.0f - output[j]) * (target[j] - output[j]);
        error += fabsf(output_deltas[j]);
    }
    if (code == 0) {
        result->e0 = error;
        result->e1 = backward(&second, hidden_deltas, output_deltas);
        scale(hidden_deltas, w1_dim1, rate);
        scale(output_deltas, w2_dim1, rate);
        code = change(&changed1, &first, hidden_deltas, momentum)
            | change(&changed2, &second, output_deltas, momentum);
    }
    free(hidden);
    if (code != 0) {
        free_matrix(changed1);
        free_matrix(changed2);
        return code;
    }
    result->e2 = changed1;
    result->e3 = changed2;
    return 0;
}
