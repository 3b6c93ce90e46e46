/* One squaring of a list with two links per node, in five layouts: NOVA's tables, and in C structures
 * of 12 bytes, separate arrays, separate arrays of which the unchanged one is shared, and structures
 * of the two components that change. The kind is the order of the nodes in memory. A run makes
 * some squarings after the first one. NOVA's time is that of a call less that of a call with one
 * squaring, which also makes the list and numbers its nodes anew. */
#include "recursion.h"
#include "squaring.h"
#include "threads_squaring.h"

struct cell {
    int32_t value, jump, next;
};

struct pair {
    int32_t value, jump;
};

struct data {
    int64_t n;
    int32_t rounds;
    int32_t *order, *next;
    struct cell *cells[2];
    int32_t *values[2], *jumps[2], *nexts[2];
    struct pair *pairs[2];
    int32_t expected;
    /* The seconds of NOVA's call with one squaring. */
    double first;
};

typedef int entry(int32_t *result, int64_t n, const int32_t *order, int32_t k);

static double call(struct data *d, entry *squaring, const char *(*error)(void))
{
    double seconds[2];
    for (int part = 0; part < 2; part++) {
        int32_t k = part == 0 ? 1 : 1 + d->rounds, result;
        double begin = now();
        int code = squaring(&result, d->n, d->order, k);
        seconds[part] = now() - begin;
        expect("squaring", code, error(), part == 0 || result == d->expected);
    }
    d->first = seconds[0];
    return (seconds[1] - seconds[0]) / d->rounds;
}

static double nova(void *data)
{
    return call(data, squaring, squaring_error);
}

static double threads(void *data)
{
    return call(data, threads_squaring, threads_squaring_error);
}

static void square_cells(int64_t n, struct cell *restrict to, const struct cell *restrict from)
{
    for (int64_t i = 0; i < n; i++) {
        struct cell cell = from[i];
        if (cell.jump >= 0) {
            struct cell far = from[cell.jump];
            cell.value += far.value;
            cell.jump = far.jump;
        }
        to[i] = cell;
    }
}

static void square_pairs(int64_t n, struct pair *restrict to, const struct pair *restrict from)
{
    for (int64_t i = 0; i < n; i++) {
        struct pair pair = from[i];
        if (pair.jump >= 0) {
            struct pair far = from[pair.jump];
            pair.value += far.value;
            pair.jump = far.jump;
        }
        to[i] = pair;
    }
}

static void square_arrays(int64_t n, int32_t *restrict values, int32_t *restrict jumps,
                          const int32_t *restrict old_values, const int32_t *restrict old_jumps)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t value = old_values[i], jump = old_jumps[i];
        if (jump >= 0) {
            value += old_values[jump];
            jump = old_jumps[jump];
        }
        values[i] = value;
        jumps[i] = jump;
    }
}

static double structures(void *data)
{
    struct data *d = data;
    for (int64_t i = 0; i < d->n; i++)
        d->cells[1][i] = (struct cell){1, d->next[i], d->next[i]};
    square_cells(d->n, d->cells[0], d->cells[1]);
    double begin = now();
    for (int32_t k = 0; k < d->rounds; k++)
        square_cells(d->n, d->cells[(k + 1) % 2], d->cells[k % 2]);
    double seconds = now() - begin;
    expect("structures", 0, "", d->cells[d->rounds % 2][d->order[0]].value == d->expected);
    return seconds / d->rounds;
}

static double pairs(void *data)
{
    struct data *d = data;
    for (int64_t i = 0; i < d->n; i++)
        d->pairs[1][i] = (struct pair){1, d->next[i]};
    square_pairs(d->n, d->pairs[0], d->pairs[1]);
    double begin = now();
    for (int32_t k = 0; k < d->rounds; k++)
        square_pairs(d->n, d->pairs[(k + 1) % 2], d->pairs[k % 2]);
    double seconds = now() - begin;
    expect("pairs", 0, "", d->pairs[d->rounds % 2][d->order[0]].value == d->expected);
    return seconds / d->rounds;
}

static double in_arrays(struct data *d, int share)
{
    for (int64_t i = 0; i < d->n; i++) {
        d->values[1][i] = 1;
        d->jumps[1][i] = d->nexts[0][i] = d->next[i];
    }
    square_arrays(d->n, d->values[0], d->jumps[0], d->values[1], d->jumps[1]);
    double begin = now();
    for (int32_t k = 0; k < d->rounds; k++) {
        int to = (k + 1) % 2, from = k % 2;
        square_arrays(d->n, d->values[to], d->jumps[to], d->values[from], d->jumps[from]);
        if (!share)
            memcpy(d->nexts[to], d->nexts[from], (size_t)d->n * sizeof(int32_t));
    }
    double seconds = now() - begin;
    expect("arrays", 0, "", d->values[d->rounds % 2][d->order[0]] == d->expected);
    return seconds / d->rounds;
}

static double arrays(void *data)
{
    return in_arrays(data, 0);
}

static double shared(void *data)
{
    return in_arrays(data, 1);
}

/* The squarings of whole calls for lists of each size up to n, and their bound. */
static void count_squarings(const struct setting setting)
{
    for (int64_t n = 1 << 10; n <= setting.n; n *= 4) {
        int32_t *order = permutation(n, is(setting, "squarings, shuffled"));
        nova_tuple2_int_int result;
        int code = squarings(&result, n, order);
        expect("squarings", code, squarings_error(), result.e0 == n);
        print_bounded("squarings", result.e1, ceil_log2(n));
        free(order);
    }
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int64_t n = setting.n;
    if (strncmp(setting.kind, "squarings", 9) == 0) {
        count_squarings(setting);
        return 0;
    }
    struct data d = {.n = n, .rounds = n <= 1 << 20 ? 16 : 8};
    d.order = permutation(n, is(setting, "shuffled"));
    d.next = get(n, 4);
    for (int64_t k = 0; k < n; k++)
        d.next[d.order[k]] = k + 1 < n ? d.order[k + 1] : -1;
    for (int k = 0; k < 2; k++) {
        d.cells[k] = get(n, sizeof *d.cells[k]);
        d.pairs[k] = get(n, sizeof *d.pairs[k]);
        d.values[k] = get(n, sizeof *d.values[k]);
        d.jumps[k] = get(n, sizeof *d.jumps[k]);
        d.nexts[k] = get(n, sizeof *d.nexts[k]);
    }
    d.expected = (int32_t)(n < 2 << d.rounds ? n : 2 << d.rounds);
    const struct side sides[] = {
        {"NOVA", nova},          {"NOVA, 2 threads", threads}, {"C, structures", structures},
        {"C, arrays", arrays},   {"C, arrays shared", shared}, {"C, pairs", pairs},
    };
    measure(sides, sizeof sides / sizeof *sides, setting, n, &d);
    nova(&d);
    print_value("call with one squaring", d.first * 1e9 / (double)n);
    return 0;
}
