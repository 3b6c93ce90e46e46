/* A list from a vector, and a vector from a list. The list is C's table, whose pages are new in each
 * call. The peak of the memory, beside argument and result, is measured in a process of its own. */
#include "recursion.h"
#include "vectors.h"

struct data {
    int64_t n;
    int32_t *vector;
    nova_data_List_int list;
};

static int is_list(const struct data *d, nova_data_List_int list)
{
    int64_t at = list.root;
    for (int64_t i = 0; i < d->n; i++, at = list.nodes[at].u.Cons.e1)
        if (list.nodes[at].tag != NOVA_List_Cons || list.nodes[at].u.Cons.e0 != d->vector[i])
            return 0;
    return list.nodes[at].tag == NOVA_List_Nil;
}

static int is_vector(const struct data *d, int64_t length, const int32_t *vector)
{
    return length == d->n && memcmp(vector, d->vector, (size_t)length * sizeof *vector) == 0;
}

static double list_of(void *data)
{
    struct data *d = data;
    nova_data_List_int list;
    double begin = now();
    int code = to_list(&list, d->n, d->vector);
    double seconds = now() - begin;
    expect("to_list", code, to_list_error(), code != 0 || is_list(d, list));
    nova_data_List_int_free(&list);
    return seconds;
}

static double vector_of(void *data)
{
    struct data *d = data;
    int32_t *vector = NULL;
    int64_t length;
    double begin = now();
    int code = to_vector(&length, &vector, d->list);
    double seconds = now() - begin;
    expect("to_vector", code, to_vector_error(), code != 0 || is_vector(d, length, vector));
    free(vector);
    return seconds;
}

static double both(void *data)
{
    struct data *d = data;
    int32_t *vector = NULL;
    int64_t length;
    double begin = now();
    int code = there_and_back(&length, &vector, d->n, d->vector);
    double seconds = now() - begin;
    expect("there_and_back", code, there_and_back_error(), code != 0 || is_vector(d, length, vector));
    free(vector);
    return seconds;
}

/* The same table by hand, with new pages in each call. */
static double by_hand(void *data)
{
    struct data *d = data;
    double begin = now();
    nova_data_List_int list = {0, d->n + 1, malloc((size_t)(d->n + 1) * sizeof *list.nodes)};
    if (list.nodes == NULL)
        fail("memory", "there is not enough");
    for (int64_t i = 0; i < d->n; i++) {
        list.nodes[i].tag = NOVA_List_Cons;
        list.nodes[i].u.Cons = (nova_tuple2_int_link){d->vector[i], i + 1};
    }
    list.nodes[d->n].tag = NOVA_List_Nil;
    double seconds = now() - begin;
    expect("by hand", 0, "", is_list(d, list));
    free(list.nodes);
    return seconds;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    struct data d = {.n = setting.n, .vector = get(setting.n, 4)};
    for (int64_t i = 0; i < d.n; i++)
        d.vector[i] = (int32_t)(7 * (uint32_t)i);
    /* A small call first, so that the peak does not count the code that calls need. */
    int code = to_list(&d.list, 1, d.vector);
    expect("to_list", code, to_list_error(), 1);
    nova_data_List_int_free(&d.list);
    double before = peak();
    code = to_list(&d.list, d.n, d.vector);
    double most = peak();
    expect("to_list", code, to_list_error(), code != 0 || is_list(&d, d.list));
    if (is(setting, "memory")) {
        double result = (double)d.list.len * sizeof *d.list.nodes;
        print_value("bytes per node", (most - before - result) / (double)d.n);
        print_value("bytes per node with the result", (most - before) / (double)d.n);
        return 0;
    }
    const struct side sides[] = {
        {"NOVA, list of a vector", list_of},
        {"NOVA, vector of a list", vector_of},
        {"NOVA, there and back", both},
        {"C, list of a vector", by_hand},
    };
    measure(sides, sizeof sides / sizeof *sides, setting, d.n, &d);
    return 0;
}
