/* Ranking of a list whose nodes lie in a random order: NOVA by sublists and by walks, and in C by
 * chasing the links and by sublists of which 16 are walked at a time, so that 16 loads wait for
 * memory at once. */
#include "recursion.h"
#include "ranking.h"

enum { SUBLISTS = 4096, WALKERS = 16 };

struct data {
    int64_t n;
    int32_t root, *follow, *expected, *ranks;
};

typedef int entry(int64_t *length, int32_t **result, int32_t root, int64_t n, const int32_t *follow,
                  int32_t k);

static int right(const struct data *d, const int32_t *ranks)
{
    return memcmp(ranks, d->expected, (size_t)d->n * sizeof *ranks) == 0;
}

static double call(const struct data *d, entry *rank, const char *(*error)(void))
{
    int32_t *result = NULL;
    int64_t length;
    double begin = now();
    int code = rank(&length, &result, d->root, d->n, d->follow, SUBLISTS);
    double seconds = now() - begin;
    expect("ranking", code, error(), code != 0 || right(d, result));
    free(result);
    return seconds;
}

static double sublists(void *data)
{
    return call(data, ranks_by_sublists, ranks_by_sublists_error);
}

static double walks(void *data)
{
    return call(data, ranks_by_walks, ranks_by_walks_error);
}

static double chase(void *data)
{
    struct data *d = data;
    double begin = now();
    int32_t rank = 0;
    for (int32_t i = d->root; i >= 0; i = d->follow[i])
        d->ranks[i] = rank++;
    double seconds = now() - begin;
    expect("chase", 0, "", right(d, d->ranks));
    return seconds;
}

/* The sublists: the first node, the length, the sublist that follows, and the rank of the first. */
struct sublist {
    int32_t first, length, after, base;
};

/* Cuts the list at the root and at a random node of each block of the table. `head` becomes the
 * number of the sublist that begins at each node, or -1. Returns the number of sublists. */
static int32_t cut(const struct data *d, int32_t *head, struct sublist *lists)
{
    memset(head, 255, (size_t)d->n * sizeof *head);
    int32_t count = 0;
    uint64_t state = 88172645463325252u;
    lists[count].first = d->root;
    head[d->root] = count++;
    int64_t block = d->n / SUBLISTS + 1;
    for (int64_t at = 0; at + block <= d->n; at += block) {
        int64_t node = at + (int64_t)(draw(&state) % (uint64_t)block);
        if (head[node] < 0) {
            lists[count].first = (int32_t)node;
            head[node] = count++;
        }
    }
    return count;
}

/* Walks all sublists. Each node gets its sublist and its rank in it. */
static void walk(const struct data *d, const int32_t *head, struct sublist *lists, int32_t count,
                 int32_t *owner)
{
    int32_t node[WALKERS], list[WALKERS], length[WALKERS];
    int32_t next = 0, live = 0;
    for (; live < WALKERS && next < count; live++, next++) {
        list[live] = next;
        node[live] = lists[next].first;
        length[live] = 0;
    }
    while (live > 0)
        for (int w = 0; w < live; w++) {
            int32_t i = node[w], j = d->follow[i];
            d->ranks[i] = length[w]++;
            owner[i] = list[w];
            if (j >= 0 && head[j] < 0) {
                node[w] = j;
                continue;
            }
            lists[list[w]].length = length[w];
            lists[list[w]].after = j < 0 ? -1 : head[j];
            if (next < count) {
                list[w] = next;
                node[w] = lists[next++].first;
                length[w] = 0;
            } else {
                live--;
                list[w] = list[live];
                node[w] = node[live];
                length[w] = length[live];
                w--;
            }
        }
}

static double by_hand(void *data)
{
    struct data *d = data;
    double begin = now();
    int32_t *head = get(d->n, sizeof *head), *owner = get(d->n, sizeof *owner);
    struct sublist *lists = get(SUBLISTS + 2, sizeof *lists);
    int32_t count = cut(d, head, lists), base = 0;
    walk(d, head, lists, count, owner);
    for (int32_t list = 0; list >= 0; list = lists[list].after) {
        lists[list].base = base;
        base += lists[list].length;
    }
    for (int64_t i = 0; i < d->n; i++)
        d->ranks[i] += lists[owner[i]].base;
    free(head);
    free(owner);
    free(lists);
    double seconds = now() - begin;
    expect("sublists", 0, "", right(d, d->ranks));
    return seconds;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int64_t n = setting.n;
    int32_t *order = permutation(n, is(setting, "shuffled"));
    struct data d = {n, order[0], get(n, 4), get(n, 4), get(n, 4)};
    for (int64_t k = 0; k < n; k++) {
        d.follow[order[k]] = k + 1 < n ? order[k + 1] : -1;
        d.expected[order[k]] = (int32_t)k;
    }
    const struct side sides[] = {
        {"NOVA, sublists", sublists}, {"NOVA, walks", walks}, {"chase", chase}, {"C, sublists", by_hand}};
    measure(sides, sizeof sides / sizeof *sides, setting, n, &d);
    return 0;
}
