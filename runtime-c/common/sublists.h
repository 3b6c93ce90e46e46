/* The numbers of a long list whose nodes lie scattered in their table. Each step along such a list waits for
 * memory. So the list is cut into sublists, of which several are walked at the same time (Helman and JáJá,
 * "Prefix computations on symmetric multiprocessors", 2001).
 *
 * A sublist begins at a node whose link is a multiple of a stride, and ends before the next such node. Other
 * lists of the table are walked, too, and unfinished nodes may be met. What does not belong to the list is
 * dropped in the end. */
#ifndef NOVA_SUBLISTS_H
#define NOVA_SUBLISTS_H

#include "walks.h"

/* The first nodes of a list, which are numbered one after the other: they show whether the list is scattered. */
#ifndef NOVA_FIRST_STEPS
#define NOVA_FIRST_STEPS 16384
#endif

/* The largest distance of the links of neighbours that lie close to each other. */
#ifndef NOVA_FAR_LINK
#define NOVA_FAR_LINK 64
#endif

/* The distance of the links at which sublists begin. */
#ifndef NOVA_SUBLIST_STRIDE
#define NOVA_SUBLIST_STRIDE 1024
#endif

/* The links of a part of a sublist: 256 bytes with links of 32 bits. */
#ifndef NOVA_PART_LINKS
#define NOVA_PART_LINKS 62
#endif

typedef struct nova_sublist_part {
    int64_t next; /* the part that follows, if the sublist goes on */
    nova_link links[NOVA_PART_LINKS];
} nova_sublist_part;

typedef struct nova_sublist {
    int64_t count;       /* nodes */
    int64_t first, last; /* parts */
    int64_t after;       /* the node that follows the last one, or -1 */
} nova_sublist;

/* All sublists of a table. The last one begins at the node from which on the list has no numbers. */
typedef struct nova_sublists {
    int64_t count;
    nova_sublist *lists;
    nova_sublist_part *parts;
    int64_t used, room; /* parts */
} nova_sublists;

/* True if neighbours among the last nodes of a list mostly lie apart. */
static bool nova_is_scattered(const nova_reach *reach)
{
    int64_t from = reach->count < 1024 ? 1 : reach->count - 1023, apart = 0;
    for (int64_t k = from; k < reach->count; k++) {
        int64_t distance = reach->order[k] - reach->order[k - 1];
        apart += distance < -NOVA_FAR_LINK || distance > NOVA_FAR_LINK;
    }
    return apart > (reach->count - from) / 2;
}

/* The node that follows a node with at most one link; -1 if there is none in a table of this size. */
static inline int64_t nova_next_in_list(nova_context *context, nova_walk *walk, int64_t link,
                                        int64_t size)
{
    walk->find_links(context, &walk->found, 0, link);
    if (walk->found.count == 0)
        return -1;
    walk->found.count = 0;
    int64_t next = walk->found.data[0].link;
    return next >= 0 && next < size ? next : -1;
}

/* Adds a node to a sublist. False if there is no part left: the list is cut badly. */
static inline bool nova_add_to_sublist(nova_sublists *all, nova_sublist *own, int64_t link)
{
    int64_t place = own->count % NOVA_PART_LINKS;
    if (place == 0) {
        if (all->used == all->room)
            return false;
        int64_t part = all->used++;
        if (own->count == 0)
            own->first = part;
        else
            all->parts[own->last].next = part;
        own->last = part;
    }
    all->parts[own->last].links[place] = (nova_link)link;
    own->count++;
    return true;
}

/* Walks all sublists, several at the same time. The last one begins at a node. False if they are too long. */
static bool nova_walk_sublists(nova_context *context, nova_walk *walk, nova_sublists *all,
                               int64_t start, int64_t size)
{
    int64_t at[NOVA_WALKS], active = NOVA_WALKS, begun = all->count;
    nova_sublist *own[NOVA_WALKS];
    for (int w = 0; w < NOVA_WALKS; w++)
        own[w] = NULL;
    while (active > 0) {
        active = 0;
        for (int w = 0; w < NOVA_WALKS; w++) {
            if (own[w] == NULL) {
                if (begun == 0)
                    continue;
                begun--;
                at[w] = begun == all->count - 1 ? start : begun * NOVA_SUBLIST_STRIDE;
                own[w] = &all->lists[begun];
                own[w]->count = 0;
            }
            active++;
            if (!nova_add_to_sublist(all, own[w], at[w]))
                return false;
            at[w] = nova_next_in_list(context, walk, at[w], size);
            if (at[w] < 0 || at[w] % NOVA_SUBLIST_STRIDE == 0) {
                own[w]->after = at[w];
                own[w] = NULL;
            }
        }
    }
    return true;
}

/* Numbers the nodes of a list after the last one that has a number, sublist by sublist. */
static void nova_number_sublists(const nova_sublists *all, nova_reach *reach)
{
    const nova_sublist *own = &all->lists[all->count - 1];
    /* The first node of all has its number. */
    int64_t k = 1;
    for (;;) {
        int64_t part = own->first;
        for (; k < own->count; k++) {
            if (k > 0 && k % NOVA_PART_LINKS == 0)
                part = all->parts[part].next;
            int64_t link = all->parts[part].links[k % NOVA_PART_LINKS];
            reach->number[link] = (nova_link)reach->count;
            reach->order[reach->count++] = link;
        }
        if (own->after < 0)
            return;
        own = &all->lists[own->after / NOVA_SUBLIST_STRIDE];
        k = 0;
    }
}

/* Numbers the rest of a list of the only table of a walk, whose nodes have at most one link. Gives no
 * numbers if it returns false. */
static bool nova_number_rest(nova_context *context, nova_walk *walk)
{
    nova_reach *reach = walk->tables[0].reach;
    int64_t size = walk->tables[0].size;
    nova_sublists all = {(size - 1) / NOVA_SUBLIST_STRIDE + 2, NULL, NULL, 0, 0};
    nova_block *lists, *parts;
    /* Lists may share nodes, which are walked several times. Each sublist has a part that is not full. */
    all.room = size / 2 * 3 / NOVA_PART_LINKS + all.count;
    all.lists = (nova_sublist *)nova_allocate(context, &lists, all.count, sizeof(nova_sublist), NULL);
    all.parts = (nova_sublist_part *)nova_allocate(context, &parts, all.room, sizeof(nova_sublist_part), NULL);
    bool done = nova_walk_sublists(context, walk, &all, reach->order[reach->count - 1], size);
    if (done)
        nova_number_sublists(&all, reach);
    nova_release(context, lists);
    nova_release(context, parts);
    return done;
}

#endif
