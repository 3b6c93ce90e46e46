/* A map over a list or a tree in table form beside the same loop over the values alone, in place and
 * into another array. Each map adds the value of the root. NOVA's time is that of a call with many maps less that of a call with one. */
#include "recursion.h"
#include "maps.h"
#include "threads_maps.h"

struct data {
    int64_t n;
    int32_t maps;
    int is_list;
    nova_data_Tree_int tree;
    int32_t *values[2];
    int32_t expected;
};

typedef int list_entry(int32_t *result, int32_t n, int32_t k);
typedef int tree_entry(int32_t *result, nova_data_Tree_int tree, int32_t k);

static double call(const struct data *d, list_entry *list, tree_entry *tree, const char *(*error)(void))
{
    double seconds[2];
    for (int part = 0; part < 2; part++) {
        int32_t k = part == 0 ? 1 : 1 + d->maps, result;
        double begin = now();
        int code = d->is_list ? list(&result, (int32_t)d->n, k) : tree(&result, d->tree, k);
        seconds[part] = now() - begin;
        expect("maps", code, error(), part == 0 || result == d->expected);
    }
    return (seconds[1] - seconds[0]) / d->maps;
}

static double nova(void *data)
{
    return call(data, map_of_list, map_of_tree, map_of_list_error);
}

static double threads(void *data)
{
    return call(data, threads_map_of_list, threads_map_of_tree, threads_map_of_list_error);
}

__attribute__((noinline)) static void step(int64_t n, int32_t *restrict to, const int32_t *restrict from)
{
    uint32_t root = (uint32_t)from[0];
    for (int64_t i = 0; i < n; i++)
        to[i] = (int32_t)(3 * (uint32_t)from[i] + root + 1);
}

__attribute__((noinline)) static void step_in_place(int64_t n, int32_t *values)
{
    uint32_t root = (uint32_t)values[0];
    for (int64_t i = 0; i < n; i++)
        values[i] = (int32_t)(3 * (uint32_t)values[i] + root + 1);
}

__attribute__((noinline)) static void step_with_threads(int64_t n, int32_t *values)
{
    uint32_t root = (uint32_t)values[0];
#pragma omp parallel for num_threads(2)
    for (int64_t i = 0; i < n; i++)
        values[i] = (int32_t)(3 * (uint32_t)values[i] + root + 1);
}

enum way { TWO_ARRAYS, IN_PLACE, IN_PLACE_WITH_THREADS };

static double by_hand(struct data *d, enum way way)
{
    for (int64_t i = 0; i < d->n; i++)
        d->values[1][i] = (int32_t)i;
    step(d->n, d->values[0], d->values[1]);
    double begin = now();
    for (int32_t k = 0; k < d->maps; k++)
        switch (way) {
        case TWO_ARRAYS:
            step(d->n, d->values[(k + 1) % 2], d->values[k % 2]);
            break;
        case IN_PLACE:
            step_in_place(d->n, d->values[0]);
            break;
        case IN_PLACE_WITH_THREADS:
            step_with_threads(d->n, d->values[0]);
            break;
        }
    double seconds = now() - begin;
    expect("step", 0, "", d->values[way == TWO_ARRAYS ? d->maps % 2 : 0][0] == d->expected);
    return seconds / d->maps;
}

static double two_arrays(void *data)
{
    return by_hand(data, TWO_ARRAYS);
}

static double in_place(void *data)
{
    return by_hand(data, IN_PLACE);
}

static double with_threads(void *data)
{
    return by_hand(data, IN_PLACE_WITH_THREADS);
}

/* A complete tree of n nodes in the order of a heap. */
static nova_data_Tree_int heap(int64_t n)
{
    nova_data_Tree_int tree = {0, n, get(n, sizeof *tree.nodes)};
    for (int64_t i = 0; i < n; i++) {
        tree.nodes[i].tag = 2 * i + 2 < n ? NOVA_Tree_Node : NOVA_Tree_Leaf;
        if (tree.nodes[i].tag == NOVA_Tree_Node)
            tree.nodes[i].u.Node = (nova_tuple3_int_link_link){(int32_t)i, 2 * i + 1, 2 * i + 2};
        else
            tree.nodes[i].u.Leaf = (int32_t)i;
    }
    return tree;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int64_t n = setting.n | 1;
    struct data d = {.n = n, .is_list = is(setting, "list")};
    d.maps = (int32_t)(n >= 1 << 18 ? (1 << 29) / n : 16);
    if (!d.is_list)
        d.tree = heap(n);
    d.values[0] = get(n, 4);
    d.values[1] = get(n, 4);
    uint32_t value = 0;
    for (int32_t k = 0; k <= d.maps; k++)
        value = 4 * value + 1;
    d.expected = (int32_t)value;
    const struct side sides[] = {{"NOVA", nova},
                                 {"NOVA, 2 threads", threads},
                                 {"C, two arrays", two_arrays},
                                 {"C, in place", in_place},
                                 {"C, in place, 2 threads", with_threads}};
    measure(sides, sizeof sides / sizeof *sides, setting, n, &d);
    return 0;
}
