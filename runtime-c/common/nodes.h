/* Recursive data: node tables in which links are indices. */
#ifndef NOVA_NODES_H
#define NOVA_NODES_H

#include "arguments.h"
#include "links.h"

/* The nodes of one table that a datum reaches, numbered in the order in which they are met. It needs no
 * clearing: number[link] is valid only if order[number[link]] is the link. */
typedef struct nova_reach {
    nova_link *number; /* of each node of the table, its number */
    int64_t *order;    /* of each number, its node */
    int64_t count;     /* numbers given */
    int64_t size;      /* nodes that there is room for */
    nova_block *number_block, *order_block;
} nova_reach;

/* Releases the room of a set. */
static inline void nova_release_reach(nova_context *context, nova_reach *reach)
{
    nova_release(context, reach->number_block);
    nova_release(context, reach->order_block);
}

/* Empties the set, for a table of size nodes. The room grows by at least half. */
static void nova_start_reach(nova_context *context, nova_reach *reach, int64_t size)
{
    if (reach->size < size) {
        int64_t more = reach->size + reach->size / 2, room = more > size ? more : size;
        nova_release_reach(context, reach);
        reach->number_block = reach->order_block = NULL;
        reach->size = 0;
        reach->number = (nova_link *)nova_allocate(context, &reach->number_block, room,
                                                   sizeof(nova_link), NULL);
        memset(reach->number, 0, (size_t)room * sizeof(nova_link));
        reach->order = (int64_t *)nova_allocate(context, &reach->order_block, room,
                                                sizeof(int64_t), NULL);
        reach->size = room;
    }
    reach->count = 0;
}

/* The number of a node; it gets a new one when it is met for the first time. */
static int64_t nova_reach_node(nova_reach *reach, int64_t link)
{
    int64_t number = reach->number[link];
    if (number < reach->count && reach->order[number] == link)
        return number;
    reach->number[link] = (nova_link)reach->count;
    reach->order[reach->count] = link;
    return reach->count++;
}

/* Consecutive numbers of nodes whose places follow each other, upwards or downwards. */
typedef struct nova_progression {
    int64_t number;      /* of the first node, */
    int64_t link, step;  /* its place, and the distance to the next one: 1 or -1 */
    int64_t count;       /* nodes */
} nova_progression;

/* The largest number of progressions that are kept instead of the number of each node. */
#define NOVA_PROGRESSIONS 4

/* The nodes that a result reaches, numbered in the order in which they are met. Lists mostly lie in few
 * progressions. If there are more, each node has its number in a table. */
typedef struct nova_export {
    nova_progression progressions[NOVA_PROGRESSIONS];
    int64_t used;      /* progressions; 0 if each node has its number */
    int64_t count;     /* numbers given */
    int64_t size;      /* nodes of the table */
    nova_reach *reach; /* the numbers, where there are more progressions */
} nova_export;

/* Starts to number nodes of a table of size nodes. */
static void nova_start_export(nova_export *nodes, nova_reach *reach, int64_t size)
{
    nodes->used = 0;
    nodes->count = 0;
    nodes->size = size;
    nodes->reach = reach;
}

/* Gives each node a number of its own. */
static void nova_number_each(nova_context *context, nova_export *nodes)
{
    nova_start_reach(context, nodes->reach, nodes->size);
    for (int64_t s = 0; s < nodes->used; s++) {
        const nova_progression *own = &nodes->progressions[s];
        for (int64_t k = 0; k < own->count; k++)
            nova_reach_node(nodes->reach, own->link + k * own->step);
    }
    nodes->used = 0;
}

/* Numbers a node that no progression has. */
static int64_t nova_export_new(nova_context *context, nova_export *nodes, int64_t link)
{
    if (nodes->used > 0) {
        nova_progression *last = &nodes->progressions[nodes->used - 1];
        if (last->count == 1 && link == last->link - 1)
            last->step = -1;
        if (link == last->link + last->count * last->step) {
            last->count++;
            return nodes->count++;
        }
    }
    bool is_straight = nodes->used > 0 || nodes->count == 0;
    if (is_straight && nodes->used < NOVA_PROGRESSIONS) {
        nova_progression progression = {nodes->count, link, 1, 1};
        nodes->progressions[nodes->used++] = progression;
        return nodes->count++;
    }
    if (is_straight)
        nova_number_each(context, nodes);
    int64_t number = nova_reach_node(nodes->reach, link);
    nodes->count = nodes->reach->count;
    return number;
}

/* The number of a node; it gets a new one when it is met for the first time. */
static inline int64_t nova_export_node(nova_context *context, nova_export *nodes, int64_t link)
{
    for (int64_t s = nodes->used - 1; s >= 0; s--) {
        const nova_progression *own = &nodes->progressions[s];
        int64_t k = (link - own->link) * own->step;
        if (k >= 0 && k < own->count)
            return own->number + k;
    }
    return nova_export_new(context, nodes, link);
}

/* The node with a number. */
static inline int64_t nova_exported_node(const nova_export *nodes, int64_t number)
{
    for (int64_t s = nodes->used - 1; s >= 0; s--) {
        const nova_progression *own = &nodes->progressions[s];
        if (number >= own->number)
            return own->link + (number - own->number) * own->step;
    }
    return nodes->reach->order[number];
}

/* The number of nodes for which the block of a table has room. */
static inline int64_t nova_room_for_nodes(const nova_block *block, size_t size)
{
    size_t room = block == NULL ? 0 : block->bytes / size;
    return room < (size_t)NOVA_MOST_NODES ? (int64_t)room : (int64_t)NOVA_MOST_NODES;
}

/* Checks that a table of `count` nodes may have this many more. */
static void nova_check_node_count(nova_context *context, int64_t count, int64_t more,
                                  const char *place)
{
    if (more > NOVA_MOST_NODES - count)
        nova_fail(context, NOVA_ERROR_MEMORY, "%s%smore than %" PRId64 " nodes of one type%s",
                  place == NULL ? "" : place, place == NULL ? "" : ": ", (int64_t)NOVA_MOST_NODES,
                  NOVA_MORE_NODES);
}

/* Makes room for more nodes of a table that has `count`. The block grows by at least half, and is not made
 * for a few nodes. Returns the nodes. */
static void *nova_grow_nodes(nova_context *context, nova_block **block, int64_t *room, int64_t count,
                             int64_t more, size_t size, const char *place)
{
    nova_check_node_count(context, count, more, place);
    int64_t end = count + more;
    void *nodes = nova_reserve(context, block, count, end < 32 ? 32 : end, size, place);
    *room = nova_room_for_nodes(*block, size);
    return nodes;
}

/* The links between nodes of a caller, in the order in which they are found: from[k] to to[k]. */
typedef struct nova_links {
    nova_block *from_block, *to_block;
    int64_t *from, *to;
    int64_t count;
} nova_links;

/* Checks a link into a table of length nodes. */
static void nova_check_link(nova_context *context, const char *name, int64_t link, int64_t length)
{
    if (link < 0 || link >= length)
        nova_fail(context, NOVA_ERROR_ARGUMENT,
                  "%s: link %" PRId64 " is out of range for %" PRId64 " nodes", name, link, length);
}

/* Adds a link between two nodes. */
static void nova_note_link(nova_context *context, nova_links *links, int64_t from, int64_t to)
{
    int64_t k = links->count;
    links->from = (int64_t *)nova_reserve(context, &links->from_block, k, k + 1, sizeof(int64_t),
                                          NULL);
    links->to = (int64_t *)nova_reserve(context, &links->to_block, k, k + 1, sizeof(int64_t), NULL);
    links->from[k] = from;
    links->to[k] = to;
    links->count++;
}

/* Adds a link between two nodes of a caller. The target is a link into a table of length nodes, whose
 * first node has the number base. */
static void nova_add_link(nova_context *context, const char *name, nova_links *links, int64_t from,
                          int64_t base, int64_t length, int64_t link)
{
    nova_check_link(context, name, link, length);
    nova_note_link(context, links, from, base + link);
}

/* The direction of the links between nodes. */
typedef struct nova_order {
    bool rising, falling; /* all that are known lead to later nodes, all lead to earlier ones */
} nova_order;

/* Notes the direction of a link from the node with a number. It leads to one of `count` nodes from the link
 * `first` on, whose numbers follow `before` others, or to none of them. */
static inline void nova_order_node(nova_order *order, int64_t from, int64_t first, int64_t count,
                                   int64_t before, int64_t link)
{
    int64_t to = before + (link - first);
    bool is_inside = link >= first && link - first < count;
    order->rising &= !is_inside || to > from;
    order->falling &= !is_inside || to < from;
}

/* Checks a link between two nodes of a caller, and notes its direction. */
static inline void nova_order_link(nova_context *context, const char *name, nova_order *order,
                                   int64_t from, int64_t base, int64_t length, int64_t link)
{
    nova_check_link(context, name, link, length);
    order->rising &= base + link > from;
    order->falling &= base + link < from;
}

/* A node with at most one link: the node that follows it, or -1, and the walk that has met it, or 0. */
typedef struct nova_step {
    int64_t next, walk;
} nova_step;

/* The number of walks that go on at the same time, so that as many loads wait for memory at once. */
#define NOVA_WALKS 16

/* True if no walk that ended where another one had been leads back to itself. `after` holds for each walk the
 * one that had been there, or 0. */
static bool nova_walks_are_acyclic(int64_t *after, int64_t walks)
{
    for (int64_t k = 1; k <= walks; k++) {
        int64_t at = k;
        /* The walks of this round get negative numbers, those of earlier rounds end at 0. */
        while (after[at] > 0) {
            int64_t next = after[at];
            after[at] = -k;
            at = next;
        }
        if (after[at] == -k)
            return false;
    }
    return true;
}

/* True if none of count nodes that each have at most one link contains itself. Walks begin at any nodes
 * that none has met, and end where another one has been. */
static bool nova_steps_are_acyclic(nova_context *context, nova_step *steps, int64_t count)
{
    nova_block *block = NULL;
    int64_t at[NOVA_WALKS], own[NOVA_WALKS], active = NOVA_WALKS, walks = 0, start = 0;
    int64_t *after = (int64_t *)nova_allocate(context, &block, 64, sizeof(int64_t), NULL);
    bool acyclic = true;
    after[0] = 0;
    for (int w = 0; w < NOVA_WALKS; w++)
        own[w] = 0;
    while (active > 0 && acyclic) {
        active = 0;
        for (int w = 0; w < NOVA_WALKS && acyclic; w++) {
            int64_t next = own[w] == 0 ? -1 : steps[at[w]].next;
            if (next >= 0 && steps[next].walk == 0) {
                steps[next].walk = own[w];
                at[w] = next;
                active++;
                continue;
            }
            if (next >= 0) {
                after[own[w]] = steps[next].walk;
                acyclic = steps[next].walk != own[w];
            }
            while (start < count && steps[start].walk != 0)
                start++;
            own[w] = 0;
            if (start < count) {
                walks++;
                after = (int64_t *)nova_reserve(context, &block, walks, walks + 1,
                                                sizeof(int64_t), NULL);
                after[walks] = 0;
                own[w] = walks;
                at[w] = start;
                steps[start].walk = walks;
                active++;
            }
        }
    }
    acyclic = acyclic && nova_walks_are_acyclic(after, walks);
    nova_release(context, block);
    return acyclic;
}

/* True if none of count nodes contains itself, where no node has two links. */
static bool nova_chains_are_acyclic(nova_context *context, const nova_links *links, int64_t count)
{
    nova_block *block;
    nova_step *steps = (nova_step *)nova_allocate(context, &block, count, sizeof(nova_step), NULL);
    for (int64_t i = 0; i < count; i++) {
        steps[i].next = -1;
        steps[i].walk = 0;
    }
    for (int64_t k = 0; k < links->count; k++)
        steps[links->from[k]].next = links->to[k];
    bool acyclic = nova_steps_are_acyclic(context, steps, count);
    nova_release(context, block);
    return acyclic;
}

/* True if none of count nodes contains itself. Removes nodes to which no other node links until none is
 * left. */
static bool nova_graph_is_acyclic(nova_context *context, const nova_links *links, int64_t count)
{
    nova_block *blocks[3];
    size_t size = sizeof(int64_t);
    int64_t *parents = (int64_t *)nova_allocate(context, &blocks[0], count, size, NULL);
    int64_t *first = (int64_t *)nova_allocate(context, &blocks[1], count + 1, size, NULL);
    int64_t *ready = (int64_t *)nova_allocate(context, &blocks[2], count, size, NULL);
    memset(parents, 0, (size_t)count * size);
    memset(first, 0, (size_t)(count + 1) * size);
    for (int64_t k = 0; k < links->count; k++) {
        parents[links->to[k]]++;
        first[links->from[k] + 1]++;
    }
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        first[i + 1] += first[i];
        if (parents[i] == 0)
            ready[found++] = i;
    }
    for (int64_t done = 0; done < found; done++) {
        int64_t node = ready[done];
        for (int64_t k = first[node]; k < first[node + 1]; k++)
            if (--parents[links->to[k]] == 0)
                ready[found++] = links->to[k];
    }
    for (int k = 0; k < 3; k++)
        nova_release(context, blocks[k]);
    return found == count;
}

/* True if none of count nodes contains itself; frees the links. The links are ordered by their first
 * node. */
static bool nova_links_are_acyclic(nova_context *context, nova_links *links, int64_t count)
{
    bool falling = true, rising = true, single = true, acyclic = true;
    for (int64_t k = 0; k < links->count; k++) {
        falling = falling && links->to[k] < links->from[k];
        rising = rising && links->to[k] > links->from[k];
        single = single && (k == 0 || links->from[k] != links->from[k - 1]);
    }
    if (!falling && !rising)
        acyclic = single ? nova_chains_are_acyclic(context, links, count)
                         : nova_graph_is_acyclic(context, links, count);
    nova_release(context, links->from_block);
    nova_release(context, links->to_block);
    return acyclic;
}

/* Checks that none of count nodes contains itself, and frees the links. */
static void nova_check_acyclic(nova_context *context, const char *name, nova_links *links,
                               int64_t count)
{
    if (!nova_links_are_acyclic(context, links, count))
        nova_fail(context, NOVA_ERROR_ARGUMENT, "%s: a node contains itself", name);
}

#endif
