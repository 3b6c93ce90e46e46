/* A list by constructors beside an index table in C, which grows by a half when it is full. */
#include "recursion.h"
#include "building.h"

struct node {
    int32_t tag, value, next;
};

static double nova(void *data)
{
    int32_t n = *(int32_t *)data, result;
    double begin = now();
    int code = building(&result, n);
    double seconds = now() - begin;
    expect("building", code, building_error(), result == n - 1);
    return seconds;
}

static double by_hand(void *data)
{
    int32_t n = *(int32_t *)data, list = 0;
    double begin = now();
    size_t room = 32, used = 0;
    struct node *nodes = get((int64_t)room, sizeof *nodes);
    nodes[used++] = (struct node){0, 0, 0};
    for (int32_t i = 0; i < n; i++) {
        if (used == room) {
            room += room / 2;
            struct node *grown = realloc(nodes, room * sizeof *nodes);
            if (grown == NULL)
                fail("memory", "there is not enough");
            nodes = grown;
        }
        nodes[used] = (struct node){1, i, list};
        list = (int32_t)used++;
    }
    int32_t first = nodes[list].value;
    free(nodes);
    double seconds = now() - begin;
    expect("index table", 0, "", first == n - 1);
    return seconds;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int32_t n = (int32_t)setting.n;
    const struct side sides[] = {{"NOVA", nova}, {"C, index table", by_hand}};
    measure(sides, sizeof sides / sizeof *sides, setting, n, &n);
    return 0;
}
