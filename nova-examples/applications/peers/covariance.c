/* The covariances of columns. Limited by arithmetic: as in a product of matrices, blocks of rows
 * less their means are packed into panels of columns, and parts of the result are held in registers
 * while a block is added to them. Only the upper half is computed, and then copied. */
#include "../../benchmarks/peers/peer.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
#ifdef __AVX512F__
    WIDTH = 8,
#else
    WIDTH = 4,
#endif
    VECTORS = 3,
    /* Columns of a panel, and of its parts: a panel times such a part is held in registers. */
    PANEL = VECTORS * WIDTH,
    PART = WIDTH,
    /* Rows of a block; panels of a group whose block stays in the second-level cache. */
    BLOCK_ROWS = 256,
    GROUP = 5,
    /* Squares of a side that are copied at once, and products worth a second thread. */
    SQUARE = 32,
    WORTHWHILE = 1 << 18,
};

typedef double vec __attribute__((vector_size(8 * WIDTH)));

/* The panels of a block of the n times m data, each BLOCK_ROWS * PANEL numbers. */
typedef struct {
    int64_t n, m, panels;
    const double *data;
    double *means, *packed, *result;
} problem;

static inline vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* The means of columns. */
static void mean(const problem *p, int64_t begin, int64_t end)
{
    double sums[PANEL] = {0};
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < end - begin; j++)
            sums[j] += p->data[i * p->m + begin + j];
    for (int64_t j = begin; j < end; j++)
        p->means[j] = sums[j - begin] / (double)p->n;
}

/* Packs the rows from `top` to `bottom` of a panel, with zeros behind the last column. */
static void pack(const problem *p, int64_t panel, int64_t top, int64_t bottom)
{
    int64_t begin = panel * PANEL, count = p->m - begin < PANEL ? p->m - begin : PANEL;
    double means[PANEL] = {0}, *out = p->packed + panel * BLOCK_ROWS * PANEL;
    memcpy(means, p->means + begin, (size_t)count * sizeof *means);
    for (int64_t i = top; i < bottom; i++, out += PANEL) {
        const double *row = p->data + i * p->m + begin;
        if (count == PANEL)
            for (int64_t j = 0; j < PANEL; j++)
                out[j] = row[j] - means[j];
        else
            for (int64_t j = 0; j < PANEL; j++)
                out[j] = j < count ? row[j] - means[j] : 0;
    }
}

/* Adds to `sums` the products of the columns of a part with those of a panel. */
static void multiply(double *sums, const double *part, const double *panel, int64_t rows)
{
    vec acc[PART][VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < PART; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            acc[r][v] = (vec){0};
    for (int64_t i = 0; i < rows; i++, part += PANEL, panel += PANEL)
#pragma GCC unroll 8
        for (int r = 0; r < PART; r++)
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                acc[r][v] += part[r] * get(panel + v * WIDTH);
#pragma GCC unroll 8
    for (int r = 0; r < PART; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            memcpy(sums + r * PANEL + v * WIDTH, &acc[r][v], sizeof(vec));
}

/* Adds a block's products of one part and one panel to the result, or writes them. */
static void one_part(const problem *p, int64_t a, int64_t panel, int64_t rows, int adds)
{
    _Alignas(64) double sums[PART * PANEL];
    const double *part = p->packed + a / PANEL * BLOCK_ROWS * PANEL + a % PANEL;
    multiply(sums, part, p->packed + panel * BLOCK_ROWS * PANEL, rows);
    int64_t b = panel * PANEL, columns = p->m - b < PANEL ? p->m - b : PANEL;
    for (int64_t r = 0; r < PART && a + r < p->m; r++) {
        double *out = p->result + (a + r) * p->m + b;
        for (int64_t c = 0; c < columns; c++)
            out[c] = adds ? out[c] + sums[r * PANEL + c] : sums[r * PANEL + c];
    }
}

/* A block's products of a group of panels with a panel, as far as they are in the upper half. */
static void one_group(const problem *p, int64_t group, int64_t panel, int64_t rows, int adds)
{
    int64_t end = (group + 1) * GROUP < panel + 1 ? (group + 1) * GROUP : panel + 1;
    for (int64_t a = group * GROUP * PANEL; a < end * PANEL; a += PART)
        one_part(p, a, panel, rows, adds);
}

/* Divides a square of the upper half, and copies it to the lower one. */
static void finish(const problem *p, int64_t top, int64_t left)
{
    int64_t m = p->m;
    for (int64_t i = top; i < m && i < top + SQUARE; i++)
        for (int64_t j = i < left ? left : i; j < m && j < left + SQUARE; j++) {
            double value = p->result[i * m + j] / (double)(p->n - 1);
            p->result[i * m + j] = p->result[j * m + i] = value;
        }
}

/* All of it, by a team of threads. */
static void covariances(const problem *p)
{
#pragma omp for
    for (int64_t k = 0; k < p->panels; k++)
        mean(p, k * PANEL, (k + 1) * PANEL < p->m ? (k + 1) * PANEL : p->m);
    /* At least one block, so that the result is written. */
    for (int64_t top = 0; top == 0 || top < p->n; top += BLOCK_ROWS) {
        int64_t rows = p->n - top < BLOCK_ROWS ? p->n - top : BLOCK_ROWS;
#pragma omp for
        for (int64_t k = 0; k < p->panels; k++)
            pack(p, k, top, top + rows);
#pragma omp for collapse(2) schedule(dynamic)
        for (int64_t group = 0; group <= (p->panels - 1) / GROUP; group++)
            for (int64_t panel = 0; panel < p->panels; panel++)
                one_group(p, group, panel, rows, top > 0);
    }
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < p->m; i += SQUARE)
        for (int64_t j = i; j < p->m; j += SQUARE)
            finish(p, i, j);
}

int peer_covariance(int64_t *result_dim0, int64_t *result_dim1, double **result, int64_t data_dim0,
                    int64_t data_dim1, const double *data)
{
    int64_t n = data_dim0, m = data_dim1, panels = (m + PANEL - 1) / PANEL;
    int own = *result == NULL;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, m, m, sizeof **result);
    if (code != 0 || m == 0)
        return code;
    size_t numbers = (size_t)panels * PANEL * (BLOCK_ROWS + 1);
    double *memory = aligned_alloc(64, (numbers * sizeof *memory + 63) & ~(size_t)63);
    if (memory == NULL) {
        if (own)
            free(*result), *result = NULL;
        return 2;
    }
    problem p = {n, m, panels, data, memory + panels * PANEL * BLOCK_ROWS, memory, *result};
#pragma omp parallel if (n * m * m >= WORTHWHILE)
    covariances(&p);
    free(memory);
    return 0;
}
