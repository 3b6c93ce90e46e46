/* Inserts of pseudo-random keys into a balanced tree, one after the other, beside inserts in C into a
 * balanced tree that is changed in place. The peak of the memory is measured in a process of its own. */
#include "recursion.h"
#include "inserts.h"

struct data {
    int32_t n, keys;
};

static int32_t next(int32_t s)
{
    return (int32_t)((uint32_t)s * 1664525u + 1013904223u);
}

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The number of different keys. */
static int32_t distinct(int32_t n)
{
    int32_t *keys = get(n, sizeof *keys), s = 12345, count = 1;
    for (int32_t i = 0; i < n; i++, s = next(s))
        keys[i] = s / 64;
    qsort(keys, (size_t)n, sizeof *keys, compare);
    for (int32_t i = 1; i < n; i++)
        count += keys[i] != keys[i - 1];
    free(keys);
    return count;
}

/* A balanced tree of m keys is at most 1.4405 log2 (m + 2) high. */
static int right(const struct data *d, int32_t keys, int32_t height)
{
    return keys == d->keys && height <= 3 * (ceil_log2(d->n + 2) + 1) / 2;
}

static double nova(void *data)
{
    struct data *d = data;
    nova_tuple2_int_int result;
    double begin = now();
    int code = inserts(&result, d->n);
    double seconds = now() - begin;
    expect("inserts", code, inserts_error(), code != 0 || right(d, result.e0, result.e1));
    return seconds;
}

struct node {
    int32_t key, height, child[2];
};

/* Node 0 is the empty tree. */
static int32_t fix(struct node *nodes, int32_t at)
{
    const int32_t *child = nodes[at].child;
    int32_t left = nodes[child[0]].height, right = nodes[child[1]].height;
    nodes[at].height = 1 + (left > right ? left : right);
    return at;
}

/* Rotates the child on a side to the top. */
static int32_t rotate(struct node *nodes, int32_t at, int side)
{
    int32_t top = nodes[at].child[side];
    nodes[at].child[side] = nodes[top].child[!side];
    nodes[top].child[!side] = fix(nodes, at);
    return fix(nodes, top);
}

static int32_t balance(struct node *nodes, int32_t at)
{
    for (int side = 0; side < 2; side++) {
        int32_t high = nodes[at].child[side], low = nodes[at].child[!side];
        if (nodes[high].height <= nodes[low].height + 1)
            continue;
        const int32_t *child = nodes[high].child;
        if (nodes[child[!side]].height > nodes[child[side]].height)
            nodes[at].child[side] = rotate(nodes, high, !side);
        return rotate(nodes, at, side);
    }
    return fix(nodes, at);
}

static int32_t insert(struct node *nodes, int32_t at, int32_t key, int32_t new)
{
    if (at == 0) {
        nodes[new] = (struct node){key, 1, {0, 0}};
        return new;
    }
    if (key == nodes[at].key)
        return at;
    int side = key > nodes[at].key;
    nodes[at].child[side] = insert(nodes, nodes[at].child[side], key, new);
    return balance(nodes, at);
}

static int32_t size(const struct node *nodes, int32_t at)
{
    return at == 0 ? 0 : 1 + size(nodes, nodes[at].child[0]) + size(nodes, nodes[at].child[1]);
}

static double by_hand(void *data)
{
    struct data *d = data;
    double begin = now();
    struct node *nodes = get(d->n + 1, sizeof *nodes);
    nodes[0] = (struct node){0, 0, {0, 0}};
    int32_t root = 0, s = 12345;
    for (int32_t i = 0; i < d->n; i++, s = next(s))
        root = insert(nodes, root, s / 64, i + 1);
    int32_t keys = size(nodes, root), height = nodes[root].height;
    free(nodes);
    double seconds = now() - begin;
    expect("inserts by hand", 0, "", right(d, keys, height));
    return seconds;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    struct data d = {(int32_t)setting.n, distinct((int32_t)setting.n)};
    if (is(setting, "memory")) {
        double before = peak();
        nova(&d);
        print_value("bytes per key", (peak() - before) / (double)d.keys);
        return 0;
    }
    const struct side sides[] = {{"NOVA", nova}, {"C, in place", by_hand}};
    measure(sides, sizeof sides / sizeof *sides, setting, d.n, &d);
    return 0;
}
