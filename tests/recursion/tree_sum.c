/* The sum of a tree by rake and compress beside depth-first search in C, on trees of one shape. */
#include "shapes.h"

int peer_tree_sum(int32_t *result, nova_data_Tree_int tree);

struct data {
    nova_data_Tree_int tree;
    int32_t expected;
};

typedef int entry(int32_t *result, nova_data_Tree_int tree);

static double call(const struct data *d, entry *sum, const char *name)
{
    int32_t result;
    double begin = now();
    int code = sum(&result, d->tree);
    double seconds = now() - begin;
    expect(name, code, tree_sum_error(), result == d->expected);
    return seconds;
}

static double nova(void *data)
{
    return call(data, tree_sum, "tree_sum");
}

static double by_hand(void *data)
{
    return call(data, peer_tree_sum, "peer_tree_sum");
}

/* A tree of the shape asked for, and its sum. */
static struct data data_of(struct setting setting, int64_t leaves)
{
    struct data d = {table_of(shape_of(setting, leaves)), 0};
    uint32_t sum = 0;
    for (int64_t i = 0; i < d.tree.len; i++)
        sum += (uint32_t)i;
    d.expected = (int32_t)sum;
    return d;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    for (int64_t leaves = 1; leaves < 70; leaves++) {
        struct data small = data_of(setting, leaves);
        nova(&small);
        by_hand(&small);
        free(small.tree.nodes);
    }
    struct data d = data_of(setting, (setting.n + 1) / 2);
    print_size(d.tree.len);
    const struct side sides[] = {{"NOVA", nova}, {"C, stack", by_hand}};
    measure(sides, sizeof sides / sizeof *sides, setting, d.tree.len, &d);
    return 0;
}
