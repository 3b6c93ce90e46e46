/* A tree built by divide and conquer, with one thread and with two, and in C by recursion into one
 * table. The kind names nothing. */
#include "recursion.h"
#include "dividing.h"
#include "threads_dividing.h"

enum { TOP = 8 };

struct data {
    int64_t n;
    int depth;
    int32_t expected;
};

struct node {
    int32_t tag, value, left, right;
};

struct table {
    struct node *nodes;
    int32_t used;
};

typedef int entry(int32_t *result, int32_t w, int32_t k);

static double call(const struct data *d, entry *dividing, const char *(*error)(void))
{
    int32_t result;
    double begin = now();
    int code = dividing(&result, TOP, d->depth - TOP);
    double seconds = now() - begin;
    expect("dividing", code, error(), result == d->expected);
    return seconds;
}

static double nova(void *data)
{
    return call(data, dividing, dividing_error);
}

static double threads(void *data)
{
    return call(data, threads_dividing, threads_dividing_error);
}

static int32_t build(struct table *table, int32_t i, int k)
{
    struct node node = {k > 0, i, 0, 0};
    if (k > 0) {
        node.left = build(table, 2 * i, k - 1);
        node.right = build(table, 2 * i + 1, k - 1);
    }
    table->nodes[table->used] = node;
    return table->used++;
}

static double by_hand(void *data)
{
    struct data *d = data;
    double begin = now();
    struct table table = {get(d->n, sizeof *table.nodes), 0};
    int32_t root = build(&table, 0, d->depth), sum = 0, turns = 0;
    for (int path = 0; path < 64; path++, turns += 715827) {
        int32_t at = root;
        for (int32_t bits = turns; table.nodes[at].tag; bits /= 2) {
            sum += table.nodes[at].value;
            at = bits % 2 == 0 ? table.nodes[at].left : table.nodes[at].right;
        }
        sum += table.nodes[at].value;
    }
    free(table.nodes);
    double seconds = now() - begin;
    expect("recursion", 0, "", sum == d->expected);
    return seconds;
}

/* The sum of the paths from their turns alone. */
static int32_t expected(int depth)
{
    uint32_t sum = 0;
    int32_t turns = 0;
    for (int path = 0; path < 64; path++, turns += 715827) {
        uint32_t value = 0;
        for (int level = 0; level <= depth; level++) {
            sum += value;
            value = 2 * value + (uint32_t)(turns >> level & 1);
        }
    }
    return (int32_t)sum;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int depth = ceil_log2(setting.n) - 1;
    depth = depth < TOP ? TOP : depth;
    struct data d = {((int64_t)2 << depth) - 1, depth, expected(depth)};
    print_size(d.n);
    const struct side sides[] = {{"NOVA", nova}, {"NOVA, 2 threads", threads}, {"C, recursion", by_hand}};
    measure(sides, sizeof sides / sizeof *sides, setting, d.n, &d);
    return 0;
}
