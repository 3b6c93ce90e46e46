/* A table of C as an argument: all of it is read, checked for cycles, and summed. The walk in C reads
 * the table alone. */
#include "recursion.h"
#include "tables.h"

struct data {
    int64_t n;
    nova_data_List_int list;
    int32_t expected;
};

static double nova(void *data)
{
    struct data *d = data;
    int32_t result;
    double begin = now();
    int code = sum_of_table(&result, d->list);
    double seconds = now() - begin;
    expect("sum_of_table", code, sum_of_table_error(), result == d->expected);
    return seconds;
}

static double walk(void *data)
{
    struct data *d = data;
    double begin = now();
    uint32_t sum = 0;
    const nova_node_List_int *nodes = d->list.nodes;
    for (int64_t at = d->list.root; nodes[at].tag == NOVA_List_Cons; at = nodes[at].u.Cons.e1)
        sum += (uint32_t)nodes[at].u.Cons.e0;
    double seconds = now() - begin;
    expect("walk", 0, "", (int32_t)sum == d->expected);
    return seconds;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int64_t n = setting.n;
    int32_t *order = permutation(n + 1, is(setting, "shuffled"));
    struct data d = {n, {order[0], n + 1, get(n + 1, sizeof *d.list.nodes)}, 0};
    uint32_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        d.list.nodes[order[k]].tag = NOVA_List_Cons;
        d.list.nodes[order[k]].u.Cons = (nova_tuple2_int_link){(int32_t)k, order[k + 1]};
        sum += (uint32_t)k;
    }
    d.list.nodes[order[n]].tag = NOVA_List_Nil;
    d.expected = (int32_t)sum;
    const struct side sides[] = {{"NOVA", nova}, {"C, walk", walk}};
    measure(sides, sizeof sides / sizeof *sides, setting, n, &d);
    return 0;
}
