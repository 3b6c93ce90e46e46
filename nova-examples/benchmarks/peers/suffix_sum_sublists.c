/* The suffix sums of a list by sublists (Helman and JaJa), of which sixteen are walked at a time, so
 * that sixteen loads wait for memory at once. A first walk finds the length and the sum of each
 * sublist; a second one writes its elements at their places. Only a bit for each node says where
 * sublists begin, so that these stay in the cache. */
#include "peer.h"
#include "suffix_sum.h"

enum { SUBLISTS = 4096, WALKERS = 16 };

struct sublist {
    int64_t first, after, length;
    uint32_t sum;
};

struct cut {
    const nova_node_List_int *nodes;
    uint64_t *bits;
    int64_t root, block, blocks;
    struct sublist *lists;
};

/* One of the sublists under way: the node that comes next, and what the first walk counts or the second
 * one writes. */
struct walker {
    int64_t list, at, length;
    uint32_t sum;
};

/* The number of the sublist that begins at a node. The root's has the number `blocks`. */
static inline int64_t list_at(const struct cut *cut, int64_t node)
{
    return node == cut->root ? cut->blocks : node / cut->block;
}

static inline int ends(const struct cut *cut, int64_t node)
{
    return (cut->bits[node / 64] >> (node % 64) & 1) != 0 || cut->nodes[node].tag != NOVA_List_Cons;
}

/* Begins a sublist at a random node of each block of the table, and at the root. */
static void begin_lists(struct cut *cut)
{
    uint64_t state = 88172645463325252u;
    for (int64_t k = 0; k <= cut->blocks; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        int64_t drawn = k * cut->block + (int64_t)(state % (uint64_t)cut->block);
        int64_t first = k == cut->blocks ? cut->root : drawn;
        cut->lists[k].first = first;
        /* The root's block may have drawn the root: that sublist stays unused. */
        if (k == cut->blocks || (first != cut->root && cut->nodes[first].tag == NOVA_List_Cons))
            cut->bits[first / 64] |= (uint64_t)1 << (first % 64);
        else
            cut->lists[k].first = -1;
    }
}

/* The next sublist for a walker; false if there is none. */
static int begin(const struct cut *cut, struct walker *walker, int64_t *next)
{
    while (*next <= cut->blocks && cut->lists[*next].first < 0)
        ++*next;
    if (*next > cut->blocks)
        return 0;
    const struct sublist *list = &cut->lists[*next];
    *walker = (struct walker){(*next)++, list->first, list->length, list->sum};
    return 1;
}

/* Walks all sublists. The first time `to` is NULL, and lengths and sums are counted up. The second time
 * they are those before and from the beginning of each sublist on. */
static void walk(struct cut *cut, nova_node_List_int *to)
{
    struct walker walkers[WALKERS];
    int64_t next = 0;
    int live = 0;
    while (live < WALKERS && begin(cut, &walkers[live], &next))
        live++;
    while (live > 0)
        for (int w = 0; w < live; w++) {
            struct walker *walker = &walkers[w];
            uint32_t element = (uint32_t)cut->nodes[walker->at].u.Cons.e0;
            int64_t after = cut->nodes[walker->at].u.Cons.e1;
            if (to != NULL) {
                nova_node_List_int *node = &to[walker->length];
                node->tag = NOVA_List_Cons;
                node->u.Cons.e0 = (int32_t)walker->sum;
                node->u.Cons.e1 = walker->length + 1;
                walker->sum -= element;
            } else {
                walker->sum += element;
            }
            walker->length++;
            walker->at = after;
            __builtin_prefetch(&cut->nodes[after]);
            if (!ends(cut, after))
                continue;
            struct sublist *list = &cut->lists[walker->list];
            if (to == NULL) {
                list->length = walker->length;
                list->sum = walker->sum;
                list->after = cut->nodes[after].tag == NOVA_List_Cons ? list_at(cut, after) : -1;
            }
            if (!begin(cut, walker, &next))
                walkers[w--] = walkers[--live];
        }
}

/* Turns lengths and sums into the number of elements before each sublist and the sum from its beginning
 * on. Returns the length of the whole list. */
static int64_t add_up(const struct cut *cut)
{
    uint32_t left = 0;
    for (int64_t k = cut->blocks; k >= 0; k = cut->lists[k].after)
        left += cut->lists[k].sum;
    int64_t before = 0;
    for (int64_t k = cut->blocks; k >= 0; k = cut->lists[k].after) {
        struct sublist *list = &cut->lists[k];
        int64_t length = list->length;
        uint32_t sum = list->sum;
        list->length = before;
        list->sum = left;
        before += length;
        left -= sum;
    }
    return before;
}

int peer_suffix_sum_sublists(nova_data_List_int *result, nova_data_List_int list)
{
    struct cut cut = {.nodes = list.nodes, .root = list.root, .block = list.len / SUBLISTS + 64};
    cut.blocks = list.len / cut.block;
    cut.bits = calloc((size_t)list.len / 64 + 1, sizeof *cut.bits);
    cut.lists = calloc((size_t)cut.blocks + 1, sizeof *cut.lists);
    nova_node_List_int *to = malloc((size_t)list.len * sizeof *to);
    int64_t n = 0;
    int code = cut.bits == NULL || cut.lists == NULL || to == NULL ? 2 : 0;
    if (code == 0 && list.nodes[list.root].tag == NOVA_List_Cons) {
        begin_lists(&cut);
        walk(&cut, NULL);
        n = add_up(&cut);
        walk(&cut, to);
    }
    free(cut.bits);
    free(cut.lists);
    if (code != 0) {
        free(to);
        return code;
    }
    to[n].tag = NOVA_List_Nil;
    *result = (nova_data_List_int){.root = 0, .len = n + 1, .nodes = to};
    return 0;
}
