/* Tests of walks over the nodes of a group, on random tables: the nodes that a link reaches, and cycles, are
 * those of a plain search. */
#include "../common/call.h"
#include "../common/reached.h"
#include "test.h"

enum { TABLES = 3, MOST = 40, LINKS = 3 };

/* A node: its links, none for the constant. */
typedef struct node {
    int count;
    nova_target links[LINKS];
} node;

/* Tables of a group: one or two members, or also a table that is no member. Nodes of members without links
 * are constants. */
typedef struct group {
    int used, members;
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
    g->used = 1 + (int)below(TABLES);
    g->members = g->used < TABLES ? g->used : TABLES - 1;
    for (int t = 0; t < TABLES; t++)
        g->sizes[t] = 1 + below(MOST);
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

static nova_walk walk_of(group *g, nova_walked *tables)
{
    for (int t = 0; t < TABLES; t++) {
        tables[t].reach = &g->reach[t];
        tables[t].size = g->sizes[t];
    }
    nova_walk walk = {find_links, find_constant, g->members, tables, g->used, g->members, {NULL, NULL, 0, 0}};
    return walk;
}

static void check_reached(nova_context *context, group *g)
{
    static plain p;
    nova_walked tables[TABLES];
    nova_walk walk = walk_of(g, tables);
    nova_reached found[TABLES];
    int64_t root = below(g->sizes[0]);
    memset(&p, 0, sizeof p);
    memset(p.number, -1, sizeof p.number);
    memset(p.constants, -1, sizeof p.constants);
    meet(&p, 0, root);
    for (int k = 0; k < p.queued; k++) {
        const node *own = &g->nodes[p.queue[k].table][p.queue[k].link];
        for (int i = 0; i < own->count; i++)
            meet(&p, own->links[i].table, own->links[i].link);
    }
    nova_find_reached(context, &walk, root, found, NULL);
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
    }
    CHECK(cycles > 100 && cycles < 2000);
}

int main(void)
{
    static group g;
    char message[NOVA_MESSAGE_SIZE] = "";
    CHECK(nova_call(body, &g, message) == 0);
    return 0;
}
