/* Suffix sums of a list by pointer jumping beside C that chases the links and C that walks sublists. The
 * argument and the result are tables of C. The peak of the memory is measured in a process of its own. */
#include "recursion.h"
#include "suffix_sum.h"
#include "threads_suffix_sum.h"

int peer_suffix_sum(nova_data_List_int *result, nova_data_List_int list);
int peer_suffix_sum_sublists(nova_data_List_int *result, nova_data_List_int list);

typedef int entry(nova_data_List_int *result, nova_data_List_int list);

/* Element k of the list is k; the sum from element k on. */
static int32_t from(int64_t n, int64_t k)
{
    return (int32_t)(uint32_t)((uint64_t)(n - k) * (uint64_t)(n + k - 1) / 2);
}

static int right(int64_t n, nova_data_List_int list)
{
    int64_t at = list.root;
    for (int64_t k = 0; k < n; k++, at = list.nodes[at].u.Cons.e1)
        if (list.nodes[at].tag != NOVA_List_Cons || list.nodes[at].u.Cons.e0 != from(n, k))
            return 0;
    return list.nodes[at].tag == NOVA_List_Nil;
}

static double call(nova_data_List_int list, entry *sums, const char *name)
{
    nova_data_List_int result;
    double begin = now();
    int code = sums(&result, list);
    double seconds = now() - begin;
    expect(name, code, suffix_sum_error(), code != 0 || right(list.len - 1, result));
    nova_data_List_int_free(&result);
    return seconds;
}

static double nova(void *data)
{
    return call(*(nova_data_List_int *)data, suffix_sum, "suffix_sum");
}

static double threads(void *data)
{
    return call(*(nova_data_List_int *)data, threads_suffix_sum, "suffix_sum with threads");
}

static double chase(void *data)
{
    return call(*(nova_data_List_int *)data, peer_suffix_sum, "peer_suffix_sum");
}

static double sublists(void *data)
{
    return call(*(nova_data_List_int *)data, peer_suffix_sum_sublists, "peer_suffix_sum_sublists");
}

static nova_data_List_int list_of(int64_t n, int shuffled)
{
    int32_t *order = permutation(n + 1, shuffled);
    nova_data_List_int list = {order[0], n + 1, get(n + 1, sizeof *list.nodes)};
    for (int64_t k = 0; k < n; k++) {
        list.nodes[order[k]].tag = NOVA_List_Cons;
        list.nodes[order[k]].u.Cons = (nova_tuple2_int_link){(int32_t)k, order[k + 1]};
    }
    list.nodes[order[n]].tag = NOVA_List_Nil;
    free(order);
    return list;
}

/* All sides on short lists, and on one with many sublists. */
static void check(double (*const *sides)(void *data), int count)
{
    for (int64_t n = 0; n < 400000; n = n < 140 ? n + 1 : 3 * n)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            nova_data_List_int list = list_of(n, shuffled);
            for (int side = 0; side < count; side++)
                sides[side](&list);
            free(list.nodes);
        }
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    /* What the process has without data. */
    double code_and_stack = peak();
    static double (*const all[])(void *data) = {nova, threads, chase, sublists};
    if (!is(setting, "memory"))
        check(all, sizeof all / sizeof *all);
    nova_data_List_int list = list_of(setting.n, is(setting, "shuffled"));
    if (is(setting, "memory")) {
        nova_data_List_int result;
        int code = suffix_sum(&result, list);
        double most = peak();
        expect("suffix_sum", code, suffix_sum_error(), code != 0 || right(setting.n, result));
        double held = (double)(list.len + result.len) * sizeof *list.nodes + code_and_stack;
        print_value("tables of 16 bytes a node", (most - held) / 16 / (double)setting.n);
        print_value("peak in MB", most / 1e6);
        return 0;
    }
    const struct side sides[] = {
        {"NOVA", nova}, {"NOVA, 2 threads", threads}, {"C, chase", chase}, {"C, sublists", sublists}};
    measure(sides, sizeof sides / sizeof *sides, setting, setting.n, &list);
    return 0;
}
