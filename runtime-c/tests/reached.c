/* Tests of walks over the nodes of a group, on random tables: the nodes that a link reaches, and cycles, are
 * those of a plain search. */
/* Lists are cut early, so that short ones are. */
#define NOVA_FIRST_STEPS 4
#define NOVA_FAR_LINK 2
#define NOVA_SUBLIST_STRIDE 4
#define NOVA_PART_LINKS 3

#include "../common/call.h"
#include "../common/reached.h"
#include "test.h"

enum { TABLES = 3, FEW = 40, MOST = 300, LINKS = 3 };

/* A node: its links, none for the constant. */
typedef struct node {
    int count;
    nova_target links[LINKS];
} node;

/* Tables of a group: one or two members, or also a table that is no member. Nodes of members without links
 * are constants. */
typedef struct group {
    int used, members;
    bool is_list; /* nodes of the only table have one link at most */
    int64_t root; /* in the first table */
    int64_t sizes[TABLES];
    node nodes[TABLES][MOST];
    nova_reach reach[TABLES];
} group;

static group *tested;

static void find_links(nova_context *context, nova_targets *found, int64_t table, int64_t link)
{
    const node *own = &tested->nodes[table][link];
    for (int k = 0; k < own->count; k++)
        nova_push_target(context, found, own->links[k].table, own->links[k].link);
}

static int64_t find_constant(nova_context *context, int64_t table, int64_t link)
{
    (void)context;
    return tested->nodes[table][link].count == 0 ? table : -1;
}

static uint64_t state = 1;

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

/* Fills in random links: to nodes before, or to any if `cyclic` is true. */
static void fill(group *g, bool cyclic)
{
    g->is_list = false;
    g->used = 1 + (int)below(TABLES);
    g->members = g->used < TABLES ? g->used : TABLES - 1;
    for (int t = 0; t < TABLES; t++)
        g->sizes[t] = 1 + below(FEW);
    g->root = below(g->sizes[0]);
    for (int t = 0; t < g->used; t++)
        for (int64_t i = 0; i < g->sizes[t]; i++) {
            node *own = &g->nodes[t][i];
            own->count = (int)below(LINKS + 1);
            for (int k = 0; k < own->count; k++) {
                int64_t table = below(g->used), size = g->sizes[table];
                int64_t limit = cyclic || i > size ? size : i;
                if (limit == 0) {
                    own->count = k;
                    break;
                }
                own->links[k].table = table;
                own->links[k].link = below(limit);
            }
        }
}

/* The numbers of a plain search; −1 for nodes that are not reached. */
typedef struct plain {
    int64_t number[TABLES][MOST];
    int64_t counts[TABLES];
    nova_target queue[TABLES * MOST];
    int queued;
    int64_t constants[TABLES];
} plain;

static void meet(plain *p, int64_t table, int64_t link)
{
    const node *own = &tested->nodes[table][link];
    if (p->number[table][link] >= 0)
        return;
    if (table >= tested->members) {
        p->number[table][link] = 0;
        for (int k = 0; k < own->count; k++)
            meet(p, own->links[k].table, own->links[k].link);
        return;
    }
    if (own->count == 0 && p->constants[table] >= 0) {
        p->number[table][link] = p->constants[table];
        return;
    }
    p->number[table][link] = p->counts[table]++;
    if (own->count == 0)
        p->constants[table] = p->number[table][link];
    p->queue[p->queued].table = table;
    p->queue[p->queued++].link = link;
}

/* Numbers the nodes that a node of the first table reaches. */
static void search(plain *p, int64_t root)
{
    memset(p, 0, sizeof *p);
    memset(p->number, -1, sizeof p->number);
    memset(p->constants, -1, sizeof p->constants);
    meet(p, 0, root);
    for (int k = 0; k < p->queued; k++) {
        const node *own = &tested->nodes[p->queue[k].table][p->queue[k].link];
        for (int i = 0; i < own->count; i++)
            meet(p, own->links[i].table, own->links[i].link);
    }
}

/* Fills in lists in one table, whose nodes lie in any order. Lists may end in the same nodes. */
static void fill_lists(group *g)
{
    int64_t size = 1 + below(MOST), near = 1 + below(4), place[MOST];
    g->used = g->members = 1;
    g->is_list = true;
    g->sizes[0] = size;
    for (int64_t i = 0; i < size; i++) {
        int64_t other = below(i + 1);
        place[i] = i;
        place[i] = place[other];
        place[other] = i;
    }
    for (int64_t i = 0; i < size; i++) {
        node *own = &g->nodes[0][place[i]];
        own->count = i > 0 && below(50) > 0;
        own->links[0].table = 0;
        own->links[0].link = i == 0 ? 0 : place[i - 1 - below(i < near ? i : near)];
    }
    g->root = place[size - 1 - below(size < 4 ? size : 4)];
}

/* Gives some nodes that the root does not reach links to any node, or out of the table: they are unfinished. */
static void add_unfinished(group *g)
{
    static plain reached;
    int64_t size = g->sizes[0];
    search(&reached, g->root);
    for (int64_t i = 0; i < size; i++)
        if (reached.number[0][i] < 0 && below(4) == 0) {
            node *own = &g->nodes[0][i];
            own->count = 1;
            own->links[0].link = below(2) > 0 ? below(size) : below(INT32_MAX) - below(INT32_MAX);
        }
}

static nova_walk walk_of(group *g, nova_walked *tables)
{
    for (int t = 0; t < TABLES; t++) {
        tables[t].reach = &g->reach[t];
        tables[t].size = g->sizes[t];
    }
    nova_walk walk = {find_links, find_constant, g->members, tables, g->used, g->members, g->is_list,
                      {NULL, NULL, 0, 0}};
    return walk;
}

static void check_reached(nova_context *context, group *g)
{
    static plain p;
    nova_walked tables[TABLES];
    nova_walk walk = walk_of(g, tables);
    nova_reached found[TABLES];
    search(&p, g->root);
    nova_find_reached(context, &walk, g->root, found, NULL);
    for (int t = 0; t < g->members; t++) {
        const nova_reached *own = &found[t];
        CHECK(own->count == p.counts[t]);
        for (int64_t k = 0; k < own->count; k++)
            CHECK(p.number[t][own->order[k]] == k);
        for (int64_t i = 0; i < g->sizes[t]; i++) {
            bool inside = i >= own->lowest && i - own->lowest < own->span;
            CHECK(inside || p.number[t][i] < 0);
            if (p.number[t][i] >= 0)
                CHECK(own->number[i - own->lowest] == p.number[t][i]);
        }
        CHECK(own->span == 0 || p.number[t][own->lowest] >= 0);
        CHECK(own->span == 0 || p.number[t][own->lowest + own->span - 1] >= 0);
        nova_release(context, own->order_block);
        nova_release(context, own->number_block);
    }
}

/* True if a node is part of a cycle inside of the ranges. */
static bool contains_itself(group *g, const int64_t *first, const int64_t *counts)
{
    static bool removed[TABLES][MOST];
    memset(removed, 0, sizeof removed);
    bool changed = true, left = false;
    while (changed) {
        changed = false;
        for (int t = 0; t < g->used; t++)
            for (int64_t i = 0; i < g->sizes[t]; i++) {
                const node *own = &g->nodes[t][i];
                bool out = t < g->members && (i < first[t] || i >= first[t] + counts[t]);
                bool held = false;
                for (int k = 0; k < own->count; k++)
                    held |= !removed[own->links[k].table][own->links[k].link];
                if (!removed[t][i] && (out || !held))
                    changed = removed[t][i] = true;
            }
    }
    for (int t = 0; t < g->members; t++)
        for (int64_t i = 0; i < g->sizes[t]; i++)
            left |= !removed[t][i];
    return left;
}

static int cycles;

static void check_acyclic(nova_context *context, group *g)
{
    nova_walked tables[TABLES];
    nova_walk walk = walk_of(g, tables);
    int64_t first[TABLES], counts[TABLES];
    for (int t = 0; t < g->members; t++) {
        first[t] = below(g->sizes[t]);
        counts[t] = below(g->sizes[t] - first[t] + 1);
    }
    bool acyclic = nova_are_acyclic(context, &walk, first, counts);
    CHECK(acyclic == !contains_itself(g, first, counts));
    cycles += !acyclic;
}

static void body(nova_context *context, void *argument)
{
    group *g = (group *)argument;
    memset(g, 0, sizeof *g);
    tested = g;
    for (int round = 0; round < 3000; round++) {
        fill(g, round % 2 == 1);
        check_reached(context, g);
        check_acyclic(context, g);
        fill_lists(g);
        if (round % 2 == 1)
            g->nodes[0][below(g->sizes[0])].links[0].link = below(g->sizes[0]);
        check_acyclic(context, g);
        fill_lists(g);
        add_unfinished(g);
        check_reached(context, g);
    }
    CHECK(cycles > 200 && cycles < 4000);
}

int main(void)
{
    static group g;
    char message[NOVA_MESSAGE_SIZE] = "";
    CHECK(nova_call(body, &g, message) == 0);
    return 0;
}
