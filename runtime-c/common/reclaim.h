/* Reclaims nodes that a loop has made and no longer reaches. The nodes that stay move together and keep
 * their order; all links to them change. Marking is that of a tracing collector, and moving that of a
 * sliding one. */
#ifndef NOVA_RECLAIM_H
#define NOVA_RECLAIM_H

#include "reached.h"
#include <stdlib.h>

/* A loop reclaims nodes for the first time when it has made this many of a table. */
#ifndef NOVA_FIRST_RECLAIM
#define NOVA_FIRST_RECLAIM 32768
#endif

/* Consecutive places of a table. Runs of one thread ascend. */
typedef struct nova_place_run {
    int64_t start, end; /* the first place, and the first one behind the run */
    int64_t before;     /* the number of places in earlier runs of the thread */
} nova_place_run;

/* The nodes of a table that a loop has made. */
typedef struct nova_young {
    char *nodes;          /* all nodes of the table, */
    size_t size;          /* the bytes of each, */
    int64_t *total;       /* and the place of the next one */
    int64_t first;        /* the first node that the loop has made, */
    int64_t count;        /* the number of places from there to the next node, */
    uint64_t *live;       /* a bit for each, set if its node stays, */
    int64_t *before;      /* and for each 64 of them the number of earlier ones that stay */
    int64_t next;         /* the nodes from here on have been visited */
    int64_t made, stay;   /* the number of nodes that the loop has made, and of those that stay */
    const nova_place_run *runs; /* the places that nodes of the loop may have: those of these runs; */
    int64_t run_count;    /* all from the first on if there are no runs */
    nova_block *live_block, *before_block;
} nova_young;

/* A place where nodes of a loop may lie, and those that follow. */
typedef struct nova_places {
    int64_t place, end; /* the place, and the end of its run */
    int64_t run;        /* the number of the run */
} nova_places;

/* The place with a number among those where nodes of a loop may lie. */
static nova_places nova_find_place(const nova_young *young, int64_t number)
{
    nova_places places = {young->first + number, INT64_MAX, 0};
    if (young->run_count == 0)
        return places;
    /* The first run may have begun before the loop. */
    number += young->first - young->runs[0].start + young->runs[0].before;
    int64_t low = 0;
    for (int64_t high = young->run_count; high - low > 1;) {
        int64_t middle = low + (high - low) / 2;
        if (young->runs[middle].before <= number)
            low = middle;
        else
            high = middle;
    }
    const nova_place_run *run = &young->runs[low];
    places.place = run->start + (number - run->before);
    places.end = run->end;
    places.run = low;
    return places;
}

/* Goes on to the next run if the last place of one has been used. */
static inline void nova_next_run(const nova_young *young, nova_places *places)
{
    if (places->place == places->end && places->run + 1 < young->run_count) {
        places->run++;
        places->place = young->runs[places->run].start;
        places->end = young->runs[places->run].end;
    }
}

/* An array of links in a node. */
typedef struct nova_link_array {
    int64_t *links;
    int64_t count, table;
} nova_link_array;

/* Tables under reclamation. */
typedef struct nova_reclaim {
    nova_young *tables;
    int64_t count;
    bool moves;              /* false while nodes are marked, true while links change */
    nova_targets left;       /* nodes that are marked and not yet visited */
    nova_link_array *arrays; /* the arrays of links in nodes that stay */
    nova_block *arrays_block;
    int64_t array_count;
} nova_reclaim;

/* Calls nova_see_link and nova_see_links for the links of a node. */
typedef void nova_see_node(nova_context *context, nova_reclaim *reclaim, int64_t table, int64_t link);

/* Releases the arrays of a node. */
typedef void nova_drop_node(nova_context *context, int64_t table, int64_t link);

/* The number of bits that are set. */
static inline int64_t nova_count_bits(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)(bits * 0x0101010101010101u >> 56);
}

/* True if a node stays; its number is counted from the first node of the loop. */
static inline bool nova_is_live(const nova_young *young, int64_t number)
{
    return (young->live[number / 64] >> (number % 64) & 1) != 0;
}

/* Marks a node as one that stays. It is visited later: in order, or next if its turn is over. */
static inline void nova_mark_node(nova_context *context, nova_reclaim *reclaim, int64_t table,
                                  int64_t link)
{
    nova_young *young = &reclaim->tables[table];
    int64_t number = link - young->first;
    if (number < 0 || number >= young->count || nova_is_live(young, number))
        return;
    young->live[number / 64] |= (uint64_t)1 << number % 64;
    if (number >= young->next)
        nova_push_target(context, &reclaim->left, table, link);
}

/* The link of a node after the nodes have moved. */
static inline int64_t nova_moved_link(const nova_young *young, int64_t link)
{
    int64_t number = link - young->first;
    if (number < 0 || number >= young->count)
        return link;
    uint64_t earlier = young->live[number / 64] & (((uint64_t)1 << number % 64) - 1);
    int64_t place = young->before[number / 64] + nova_count_bits(earlier);
    return young->run_count == 0 ? young->first + place : nova_find_place(young, place).place;
}

/* Sees a link in a node, to a node of a table. */
static inline int64_t nova_see_link(nova_context *context, nova_reclaim *reclaim, int64_t table,
                                    int64_t link)
{
    if (reclaim->moves)
        return nova_moved_link(&reclaim->tables[table], link);
    nova_mark_node(context, reclaim, table, link);
    return link;
}

/* Sees an array of links in a node. Several nodes may hold parts of one array, so that its links change
 * after all nodes have been seen. */
static void nova_see_links(nova_context *context, nova_reclaim *reclaim, int64_t table, int64_t *links,
                           int64_t count)
{
    if (!reclaim->moves) {
        for (int64_t k = 0; k < count; k++)
            nova_mark_node(context, reclaim, table, links[k]);
        return;
    }
    if (count == 0)
        return;
    int64_t k = reclaim->array_count;
    reclaim->arrays = (nova_link_array *)nova_reserve(context, &reclaim->arrays_block, k, k + 1,
                                                      sizeof(nova_link_array), NULL);
    reclaim->arrays[k].links = links;
    reclaim->arrays[k].count = count;
    reclaim->arrays[k].table = table;
    reclaim->array_count = k + 1;
}

/* Orders arrays by their addresses. */
static int nova_compare_link_arrays(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const nova_link_array *)left)->links;
    uintptr_t b = (uintptr_t)((const nova_link_array *)right)->links;
    return (a > b) - (a < b);
}

/* Changes the links in the arrays of nodes, each once. Links to older nodes stay as they are and are not
 * written: these may be in memory that others read. */
static void nova_move_link_arrays(nova_reclaim *reclaim)
{
    if (reclaim->array_count > 1)
        qsort(reclaim->arrays, (size_t)reclaim->array_count, sizeof(nova_link_array),
              nova_compare_link_arrays);
    uintptr_t done = 0;
    for (int64_t a = 0; a < reclaim->array_count; a++) {
        const nova_link_array *array = &reclaim->arrays[a];
        const nova_young *young = &reclaim->tables[array->table];
        for (int64_t k = 0; k < array->count; k++) {
            if ((uintptr_t)&array->links[k] < done)
                continue;
            int64_t link = nova_moved_link(young, array->links[k]);
            if (link != array->links[k])
                array->links[k] = link;
        }
        uintptr_t end = (uintptr_t)(array->links + array->count);
        done = end > done ? end : done;
    }
}

/* Marks what the nodes of a table that stay link to, the newest node first. Most links lead to older
 * nodes, which are visited in turn. */
static void nova_mark_from(nova_context *context, nova_reclaim *reclaim, int64_t table,
                           nova_see_node *see)
{
    nova_young *young = &reclaim->tables[table];
    for (int64_t word = (young->count + 63) / 64 - 1; word >= 0; word--) {
        if (young->live[word] == 0)
            continue;
        for (int64_t bit = 63; bit >= 0; bit--) {
            int64_t number = 64 * word + bit;
            if ((young->live[word] >> bit & 1) == 0)
                continue;
            young->next = number;
            see(context, reclaim, table, young->first + number);
            while (reclaim->left.count > 0) {
                nova_target node = reclaim->left.data[--reclaim->left.count];
                see(context, reclaim, node.table, node.link);
            }
        }
    }
    young->next = 0;
}

/* Moves count nodes to places before theirs. */
static void nova_move_run(const nova_young *young, nova_places *to, int64_t from, int64_t count)
{
    while (count > 0) {
        nova_next_run(young, to);
        int64_t room = to->end - to->place, moved = count < room ? count : room;
        if (to->place != from)
            memmove(young->nodes + (size_t)to->place * young->size,
                    young->nodes + (size_t)from * young->size, (size_t)moved * young->size);
        to->place += moved;
        from += moved;
        count -= moved;
    }
}

/* Moves the nodes of a table that stay to the first places, and drops the others. */
static void nova_move_nodes(nova_context *context, nova_reclaim *reclaim, int64_t table,
                            nova_drop_node *drop)
{
    nova_young *young = &reclaim->tables[table];
    nova_places to = nova_find_place(young, 0);
    for (int64_t number = 0; number < young->count;) {
        int64_t end = number;
        while (end < young->count && nova_is_live(young, end))
            end++;
        nova_move_run(young, &to, young->first + number, end - number);
        for (number = end; number < young->count && !nova_is_live(young, number); number++)
            if (drop != NULL)
                drop(context, table, young->first + number);
    }
    *young->total = to.place;
}

/* The number of nodes that the loop has made of a table. */
static int64_t nova_made_nodes(const nova_young *young)
{
    if (young->run_count == 0)
        return *young->total - young->first;
    const nova_place_run *first = &young->runs[0], *last = first + (young->run_count - 1);
    return last->before + (*young->total - last->start) -
           (first->before + (young->first - first->start));
}

/* Counts the nodes of a table that the loop has made, and those of them that stay. */
static void nova_count_nodes(nova_young *young)
{
    int64_t live = 0;
    for (int64_t word = 0; word < (young->count + 63) / 64; word++) {
        young->before[word] = live;
        live += nova_count_bits(young->live[word]);
    }
    young->stay = live;
    young->made = nova_made_nodes(young);
}

/* Moves the nodes that stay together, and changes all links to them. */
static void nova_move_all(nova_context *context, nova_reclaim *reclaim, nova_target *roots,
                          int64_t root_count, nova_see_node *see, nova_drop_node *drop)
{
    reclaim->moves = true;
    for (int64_t table = 0; table < reclaim->count; table++)
        nova_move_nodes(context, reclaim, table, drop);
    for (int64_t table = 0; table < reclaim->count; table++) {
        const nova_young *young = &reclaim->tables[table];
        nova_places places = nova_find_place(young, 0);
        for (int64_t k = 0; k < young->stay; k++) {
            nova_next_run(young, &places);
            see(context, reclaim, table, places.place++);
        }
    }
    nova_move_link_arrays(reclaim);
    for (int64_t k = 0; k < root_count; k++)
        roots[k].link = nova_moved_link(&reclaim->tables[roots[k].table], roots[k].link);
}

/* Drops all nodes that a loop has made of a table. */
static void nova_drop_nodes(nova_context *context, nova_young *young, int64_t table,
                            nova_drop_node *drop)
{
    young->count = *young->total - young->first;
    young->made = nova_made_nodes(young);
    young->stay = 0;
    for (int64_t number = 0; drop != NULL && number < young->count; number++)
        drop(context, table, young->first + number);
    *young->total = young->first;
}

/* Reclaims the nodes of `count` tables that neither `root_count` links nor nodes reach that stay. The
 * fields `nodes`, `size`, `total`, `first` and those of the runs are given. */
static void nova_reclaim_nodes(nova_context *context, nova_young *tables, int64_t count,
                               nova_target *roots, int64_t root_count, nova_see_node *see,
                               nova_drop_node *drop, const char *place)
{
    if (root_count == 0) {
        for (int64_t table = 0; table < count; table++)
            nova_drop_nodes(context, &tables[table], table, drop);
        return;
    }
    nova_reclaim reclaim = {tables, count, false, {NULL, NULL, 0, 0}, NULL, NULL, 0};
    for (int64_t table = 0; table < count; table++) {
        nova_young *young = &tables[table];
        young->count = *young->total - young->first;
        young->next = young->count;
        int64_t words = (young->count + 63) / 64;
        young->live = (uint64_t *)nova_allocate(context, &young->live_block, words,
                                                sizeof(uint64_t), place);
        young->before = (int64_t *)nova_allocate(context, &young->before_block, words,
                                                 sizeof(int64_t), place);
        if (words > 0)
            memset(young->live, 0, (size_t)words * sizeof(uint64_t));
    }
    for (int64_t k = 0; k < root_count; k++)
        nova_mark_node(context, &reclaim, roots[k].table, roots[k].link);
    for (int64_t table = 0; table < count; table++)
        nova_mark_from(context, &reclaim, table, see);
    bool moves = false;
    for (int64_t table = 0; table < count; table++) {
        nova_count_nodes(&tables[table]);
        moves |= tables[table].stay < tables[table].made;
    }
    if (moves)
        nova_move_all(context, &reclaim, roots, root_count, see, drop);
    for (int64_t table = 0; table < count; table++) {
        nova_release(context, tables[table].live_block);
        nova_release(context, tables[table].before_block);
    }
    nova_release(context, reclaim.left.block);
    nova_release(context, reclaim.arrays_block);
}

/* The number of nodes after which nodes are reclaimed next: as many as have stayed. If most have stayed,
 * three times as many. */
static int64_t nova_next_reclaim(const nova_young *young)
{
    int64_t more = young->stay > young->made / 4 * 3 ? 3 * young->stay : young->stay;
    return more > NOVA_FIRST_RECLAIM ? more : NOVA_FIRST_RECLAIM;
}

#endif
