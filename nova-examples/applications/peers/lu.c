/* The factors of a matrix without a pivot. Limited by arithmetic: panels of columns are factored in
 * a buffer of their own, where rows lie close together, and most of the work is products of such a
 * panel with packed strips, in blocks that stay in registers. Threads take blocks of columns as
 * tasks, so that the next panel is factored while the rest is still updated. */
#include "../../benchmarks/peers/peer.h"

enum {
#ifdef __AVX512F__
    WIDTH = 16,
    ROWS = 8,
#else
    WIDTH = 8,
    ROWS = 4,
#endif
    /* A block in registers is ROWS rows of VECTORS vectors, the columns of a strip. */
    VECTORS = 3,
    STRIP = VECTORS * WIDTH,
    /* A panel is factored so many columns at a time, of so many vectors. */
    NARROW = 16,
    PARTS = NARROW / WIDTH,
    /* The columns of a panel, and of a block that is updated by one. */
    PANEL = 144,
    BLOCK_COLUMNS = 2 * PANEL,
};

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));

/* The columns of a matrix from `first` on, so many of them, from their diagonal down. Below it they
 * hold factors, which are also the left side of products. Rows and columns that fill blocks are
 * 0. */
typedef struct {
    float *rows;
    int64_t first, columns, height;
} panel;

static inline vec get(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void put(float *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

/* c -= a b, for ROWS rows of a panel, `depth` of its columns, and a strip. If asked to, it then
 * solves for c with the triangle of the panel's next ROWS columns. */
static inline void product(const float *a, const float *b, int64_t depth, float *c, int64_t stride,
                           int solves)
{
    vec sum[ROWS][VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            sum[i][v] = get(c + i * stride + v * WIDTH);
    for (int64_t k = 0; k < depth; k++) {
        vec right[VECTORS];
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            right[v] = get(b + k * STRIP + v * WIDTH);
#pragma GCC unroll 8
        for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 3
            for (int v = 0; v < VECTORS; v++)
                sum[i][v] -= a[i * PANEL + k] * right[v];
    }
    if (solves)
#pragma GCC unroll 8
        for (int k = 0; k < ROWS; k++)
#pragma GCC unroll 8
            for (int i = k + 1; i < ROWS; i++)
#pragma GCC unroll 3
                for (int v = 0; v < VECTORS; v++)
                    sum[i][v] -= a[i * PANEL + depth + k] * sum[k][v];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 3
        for (int v = 0; v < VECTORS; v++)
            put(c + i * stride + v * WIDTH, sum[i][v]);
}

/* The same where only some rows and columns of the block exist. */
static void product_at_edge(const float *a, const float *b, float *c, int64_t stride, int64_t rows,
                            int64_t columns)
{
    float block[ROWS * STRIP] = {0};
    for (int64_t i = 0; i < rows; i++)
        memcpy(block + i * STRIP, c + i * stride, (size_t)columns * sizeof *c);
    product(a, b, PANEL, block, STRIP, 0);
    for (int64_t i = 0; i < rows; i++)
        memcpy(c + i * stride, block + i * STRIP, (size_t)columns * sizeof *c);
}

/* Brings the rows from i on of the columns from c on to where only these columns are still to be
 * eliminated; rows above c are then those of the upper factor. */
static inline void rows_of_panel(float *rows, int64_t i, int64_t c)
{
    float *at = rows + i * PANEL;
    int64_t depth = i < c ? i : c;
    vec sum[ROWS][PARTS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < PARTS; v++)
            sum[r][v] = get(at + r * PANEL + c + v * WIDTH);
    for (int64_t k = 0; k < depth; k++)
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
            for (int v = 0; v < PARTS; v++)
                sum[r][v] -= at[r * PANEL + k] * get(rows + k * PANEL + c + v * WIDTH);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < PARTS; v++) {
            if (i < c)
#pragma GCC unroll 8
                for (int k = 0; k < r; k++)
                    sum[r][v] -= at[r * PANEL + i + k] * sum[k][v];
            put(at + r * PANEL + c + v * WIDTH, sum[r][v]);
        }
}

/* The upper factor of NARROW columns: rows with 0 up to the diagonal, and one over the latter. */
typedef struct {
    float rows[NARROW][NARROW], inverse[NARROW];
} triangle;

/* What is left of a row after the first `count` of NARROW columns are eliminated. These columns
 * hold what was left of them. */
static inline void eliminate(vec *row, const triangle *u, int count)
{
#pragma GCC unroll 16
    for (int k = 0; k < NARROW; k++)
        if (k < count) {
            vec factor = __builtin_shuffle(row[k / WIDTH], k % WIDTH + (ivec){0}) * u->inverse[k];
#pragma GCC unroll 2
            for (int v = 0; v < PARTS; v++)
                row[v] -= factor * get(u->rows[k] + v * WIDTH);
        }
}

/* The upper factor of the NARROW columns from c on, and the lower one next to it. */
static void factor_triangle(float *rows, int64_t c, int64_t columns, triangle *u)
{
    memset(u, 0, sizeof *u);
    for (int i = 0; i < NARROW && c + i < columns; i++) {
        float *at = rows + (c + i) * PANEL + c;
        vec row[PARTS];
        for (int v = 0; v < PARTS; v++)
            row[v] = get(at + v * WIDTH);
        eliminate(row, u, i);
        for (int v = 0; v < PARTS; v++)
            put(at + v * WIDTH, row[v]);
        for (int k = 0; k < i; k++)
            at[k] *= u->inverse[k];
        u->inverse[i] = 1.0f / at[i];
        for (int k = i + 1; k < NARROW; k++)
            u->rows[i][k] = at[k];
    }
}

/* Factors of the rows from i on, four of them, so that one waits for itself while others go on. */
static inline void factors_of_rows(float *rows, int64_t i, int64_t c, const triangle *u)
{
    vec row[4][PARTS];
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++)
#pragma GCC unroll 2
        for (int v = 0; v < PARTS; v++)
            row[r][v] = get(rows + (i + r) * PANEL + c + v * WIDTH);
#pragma GCC unroll 16
    for (int k = 0; k < NARROW; k++)
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++) {
            vec left = __builtin_shuffle(row[r][k / WIDTH], k % WIDTH + (ivec){0});
            vec factor = left * u->inverse[k];
#pragma GCC unroll 2
            for (int v = k / WIDTH; v < PARTS; v++)
                row[r][v] -= factor * get(u->rows[k] + v * WIDTH);
        }
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++)
#pragma GCC unroll 2
        for (int v = 0; v < PARTS; v++)
            put(rows + (i + r) * PANEL + c + v * WIDTH,
                row[r][v] * get(u->inverse + v * WIDTH));
}

/* Factors a panel, in its buffer, and writes it back. */
static void factor_panel(float *matrix, int64_t n, panel p)
{
    int64_t padded = (p.height + 7) & -(int64_t)8;
    float *from = matrix + p.first * n + p.first;
    size_t bytes = (size_t)p.columns * sizeof *from;
    if (p.columns < PANEL || padded > p.height)
        memset(p.rows, 0, (size_t)padded * PANEL * sizeof *p.rows);
    for (int64_t i = 0; i < p.height; i++)
        memcpy(p.rows + i * PANEL, from + i * n, bytes);
    for (int64_t c = 0; c < p.columns; c += NARROW) {
        triangle u;
        for (int64_t i = 0; i < padded && c > 0; i += ROWS)
            rows_of_panel(p.rows, i, c);
        factor_triangle(p.rows, c, p.columns, &u);
        for (int64_t i = c + NARROW; i < padded; i += 4)
            factors_of_rows(p.rows, i, c, &u);
    }
    for (int64_t i = 0; i < p.height; i++)
        memcpy(from + i * n, p.rows + i * PANEL, bytes);
}

/* The rows of the upper factor that a strip has next to a panel: taken from the matrix, solved for,
 * and written back. */
static void solve_strip(const float *rows, float *strip, float *matrix, int64_t n, int64_t columns)
{
    size_t bytes = (size_t)columns * sizeof *strip;
    for (int64_t k = 0; k < PANEL; k++) {
        memcpy(strip + k * STRIP, matrix + k * n, bytes);
        memset(strip + k * STRIP + columns, 0, STRIP * sizeof *strip - bytes);
    }
    for (int64_t i = 0; i < PANEL; i += ROWS)
        product(rows + i * PANEL, strip, i, strip + i * STRIP, STRIP, 1);
    for (int64_t k = 0; k < PANEL; k++)
        memcpy(matrix + k * n, strip + k * STRIP, bytes);
}

/* Asks for the block of ROWS rows below. */
static inline void prefetch_block(const float *block, int64_t n)
{
    for (int r = 0; r < ROWS; r++)
        for (int64_t c = 0; c < STRIP; c += LANES)
            prefetch(block + (r + ROWS) * n + c, 0);
}

/* Updates the columns from `first` to `end` by a panel. */
static void update(float *matrix, int64_t n, panel p, int64_t first, int64_t end)
{
    _Alignas(64) float strips[BLOCK_COLUMNS / STRIP][PANEL * STRIP];
    float *above = matrix + p.first * n;
    for (int64_t j = first; j < end; j += STRIP)
        solve_strip(p.rows, strips[(j - first) / STRIP], above + j, n,
                    end - j < STRIP ? end - j : STRIP);
    for (int64_t i = PANEL; i < p.height; i += ROWS)
        for (int64_t j = first; j < end; j += STRIP) {
            const float *a = p.rows + i * PANEL, *b = strips[(j - first) / STRIP];
            float *c = above + i * n + j;
            int64_t rows = p.height - i < ROWS ? p.height - i : ROWS;
            int64_t columns = end - j < STRIP ? end - j : STRIP;
            if (i + 2 * ROWS <= p.height)
                prefetch_block(c, n);
            if (rows == ROWS && columns == STRIP)
                product(a, b, PANEL, c, n, 0);
            else
                product_at_edge(a, b, c, n, rows, columns);
        }
}

/* Factors the matrix in place. The columns of each panel have a mark that tasks depend on, and so
 * have the two buffers for panels, which take turns. The columns of the next panel are a task of
 * their own, which comes first. */
static void factor(float *matrix, int64_t n, float *buffers, char *marks)
{
    int64_t size = ((n + 7) & -(int64_t)8) * PANEL, panels = (n + PANEL - 1) / PANEL;
    char *in_use = marks + panels;
    (void)in_use;
#pragma omp parallel if (panels > 2)
#pragma omp single
    for (int64_t k = 0; k < panels; k++) {
        int64_t begin = k * PANEL, turn = k % 2;
        panel p = {buffers + turn * size, begin, n - begin < PANEL ? n - begin : PANEL, n - begin};
#pragma omp task depend(inout : marks[k], in_use[turn]) priority(1)
        factor_panel(matrix, n, p);
        for (int64_t low = k + 1, high; low < panels; low = high) {
            high = low == k + 1 || low + 1 == panels ? low + 1 : low + 2;
            int64_t end = high * PANEL < n ? high * PANEL : n;
#pragma omp task depend(in : in_use[turn]) depend(inout : marks[low], marks[high - 1]) \
    priority(low == k + 1)
            update(matrix, n, p, low * PANEL, end);
        }
    }
}

int peer_lu(int64_t *result_dim0, int64_t *result_dim1, float **result, int64_t A_dim0,
            int64_t A_dim1, const float *A)
{
    int64_t n = A_dim0;
    size_t buffers = 2 * (size_t)(((n + 7) & -(int64_t)8) * PANEL) * sizeof(float);
    float *memory = aligned_alloc(64, (buffers + (size_t)(n / PANEL + 4) + 63) & ~(size_t)63);
    if (memory == NULL)
        return 2;
    int code = result_matrix(result_dim0, result_dim1, (void **)result, n, A_dim1, sizeof **result);
    if (code == 0) {
#pragma omp parallel for schedule(static) if (n > 2 * PANEL)
        for (int64_t i = 0; i < n; i++)
            memcpy(*result + i * n, A + i * n, (size_t)n * sizeof *A);
        factor(*result, n, memory, (char *)memory + buffers);
    }
    free(memory);
    return code;
}
