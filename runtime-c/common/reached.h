/* The nodes of a group of recursive types that a link reaches, and whether nodes contain themselves. */
#ifndef NOVA_REACHED_H
#define NOVA_REACHED_H

#include "sublists.h"

/* The nodes of a member that a link reaches. */
typedef struct nova_reached {
    int64_t count;
    int64_t *order;
    nova_block *order_block;
    int64_t lowest, span;
    int32_t *number;
    nova_block *number_block;
} nova_reached;

/* Reverses the links from the one with this number on: the last one is followed first. */
static void nova_reverse_targets(nova_targets *list, int64_t from)
{
    for (int64_t to = list->count - 1; from < to; from++, to--) {
        nova_target first = list->data[from];
        list->data[from] = list->data[to];
        list->data[to] = first;
    }
}

/* The numbers that a walk has given to the nodes of the members. */
typedef struct nova_numbers {
    nova_targets *queue; /* all nodes with an own number, if there are several members, */
    nova_targets *twins; /* the others: nodes without payload, each with its number in `same`, */
    nova_targets *same;
    int64_t *constants; /* and for each constructor without payload the number of its node, or −1 */
} nova_numbers;

/* Numbers a node of a member that has no number of its own yet. */
static void nova_number_node(nova_context *context, nova_walk *walk, nova_numbers *numbers,
                             int64_t table, int64_t link)
{
    nova_reach *reach = walk->tables[table].reach;
    int64_t constant = -1;
    if (walk->constants > 0)
        constant = walk->find_constant(context, table, link);
    if (constant >= 0 && numbers->constants[constant] >= 0) {
        nova_targets *twins = numbers->twins;
        int64_t known = reach->number[link];
        if (known < twins->count && twins->data[known].table == table
            && twins->data[known].link == link)
            return;
        reach->number[link] = (nova_link)twins->count;
        nova_push_target(context, twins, table, link);
        nova_push_target(context, numbers->same, table, numbers->constants[constant]);
        return;
    }
    int64_t number = nova_reach_node(reach, link);
    if (constant >= 0)
        numbers->constants[constant] = number;
    if (walk->members > 1)
        nova_push_target(context, numbers->queue, table, link);
}

/* True if a walk has met a node that has a number of its own, or has met one between members. */
static inline bool nova_is_numbered(const nova_reach *reach, int64_t link)
{
    int64_t number = reach->number[link];
    return number < reach->count && reach->order[number] == link;
}

/* Follows the links that are found and not yet followed. Nodes between members are visited in place. */
static void nova_follow_links(nova_context *context, nova_walk *walk, nova_numbers *numbers)
{
    nova_targets *found = &walk->found;
    while (found->count > 0) {
        nova_target target = found->data[--found->count];
        nova_reach *reach = walk->tables[target.table].reach;
        if (nova_is_numbered(reach, target.link))
            continue;
        if (target.table < walk->members) {
            nova_number_node(context, walk, numbers, target.table, target.link);
            continue;
        }
        int64_t from = found->count;
        nova_reach_node(reach, target.link);
        walk->find_links(context, &walk->found, target.table, target.link);
        nova_reverse_targets(found, from);
    }
}

/* Finds the links of a node of a member, and follows them. */
static void nova_visit_node(nova_context *context, nova_walk *walk, nova_numbers *numbers,
                            int64_t table, int64_t link)
{
    nova_targets *found = &walk->found;
    walk->find_links(context, found, table, link);
    if (walk->count > walk->members) {
        nova_reverse_targets(found, 0);
        nova_follow_links(context, walk, numbers);
        return;
    }
    for (int64_t k = 0; k < found->count; k++) {
        int64_t to = found->data[k].table, next = found->data[k].link;
        if (!nova_is_numbered(walk->tables[to].reach, next))
            nova_number_node(context, walk, numbers, to, next);
    }
    found->count = 0;
}

/* Numbers the nodes of a list, of which the first one has its number. Where so many are found to be scattered
 * that the whole table is worth a walk, the rest is numbered by sublists. */
static void nova_number_list(nova_context *context, nova_walk *walk, nova_numbers *numbers)
{
    const nova_reach *reach = walk->tables[0].reach;
    int64_t part = walk->tables[0].size / 16;
    int64_t due = part > NOVA_FIRST_STEPS ? part : NOVA_FIRST_STEPS;
    for (int64_t k = 0; k < reach->count; k++) {
        if (k == due) {
            if (nova_is_scattered(reach) && nova_number_rest(context, walk))
                return;
            due *= 2;
        }
        nova_visit_node(context, walk, numbers, 0, reach->order[k]);
    }
}

/* The lowest and the highest link to a node of a member that has a number. */
static void nova_find_span(const nova_walk *walk, int64_t table, const nova_targets *twins,
                           int64_t *lowest, int64_t *highest)
{
    const nova_reach *reach = walk->tables[table].reach;
    *lowest = INT64_MAX;
    *highest = -1;
    for (int64_t k = 0; k < reach->count; k++) {
        int64_t link = reach->order[k];
        *lowest = link < *lowest ? link : *lowest;
        *highest = link > *highest ? link : *highest;
    }
    for (int64_t k = 0; k < twins->count; k++) {
        int64_t link = twins->data[k].link;
        if (twins->data[k].table != table)
            continue;
        *lowest = link < *lowest ? link : *lowest;
        *highest = link > *highest ? link : *highest;
    }
}

/* Copies the order and the numbers of the nodes of a member. */
static void nova_copy_reached(nova_context *context, const nova_reach *reach, nova_reached *result,
                              const char *place)
{
    result->order = (int64_t *)nova_allocate(context, &result->order_block, reach->count,
                                             sizeof(int64_t), place);
    result->number = (int32_t *)nova_allocate(context, &result->number_block, result->span,
                                              sizeof(int32_t), place);
    for (int64_t k = 0; k < reach->count; k++) {
        result->order[k] = reach->order[k];
        result->number[reach->order[k] - result->lowest] = (int32_t)k;
    }
}

/* Hands over the order and the numbers of the nodes of a member. The next walk makes new ones. */
static void nova_give_reached(nova_reach *reach, nova_reached *result)
{
    result->order = reach->order;
    result->order_block = reach->order_block;
    result->number = (int32_t *)(void *)reach->number + result->lowest;
    result->number_block = reach->number_block;
    reach->order_block = reach->number_block = NULL;
    reach->size = 0;
}

/* Fills in the nodes of a member. Where a large part of a table is reached, nothing is copied. */
static void nova_write_reached(nova_context *context, const nova_walk *walk, int64_t table,
                               const nova_numbers *numbers, nova_reached *result, const char *place)
{
    nova_reach *reach = walk->tables[table].reach;
    const nova_targets *twins = numbers->twins;
    int64_t lowest, highest;
    nova_find_span(walk, table, twins, &lowest, &highest);
    result->count = reach->count;
    result->lowest = highest < 0 ? 0 : lowest;
    result->span = highest < 0 ? 0 : highest - lowest + 1;
    if (sizeof(nova_link) == sizeof(int32_t) && reach->count > 0
        && reach->count >= reach->size / 4)
        nova_give_reached(reach, result);
    else
        nova_copy_reached(context, reach, result, place);
    for (int64_t k = 0; k < twins->count; k++)
        if (twins->data[k].table == table)
            result->number[twins->data[k].link - lowest] = (int32_t)numbers->same->data[k].link;
}

/* Finds the nodes that a link to a node of the first member reaches, breadth first. `results` has a place
 * for each member. */
static void nova_find_reached(nova_context *context, nova_walk *walk, int64_t link,
                              nova_reached *results, const char *place)
{
    nova_targets queue = {NULL, NULL, 0, 0}, twins = {NULL, NULL, 0, 0}, same = {NULL, NULL, 0, 0};
    nova_numbers numbers = {&queue, &twins, &same, NULL};
    nova_block *constants = NULL;
    if (walk->constants > 0)
        numbers.constants = (int64_t *)nova_allocate(context, &constants, walk->constants,
                                                     sizeof(int64_t), place);
    for (int64_t k = 0; k < walk->constants; k++)
        numbers.constants[k] = -1;
    for (int64_t k = 0; k < walk->count; k++)
        nova_start_reach(context, walk->tables[k].reach, walk->tables[k].size);
    nova_push_target(context, &walk->found, 0, link);
    nova_follow_links(context, walk, &numbers);
    /* The nodes of a single member are a queue themselves. */
    const nova_reach *only = walk->tables[0].reach;
    if (walk->is_list)
        nova_number_list(context, walk, &numbers);
    else if (walk->members == 1)
        for (int64_t k = 0; k < only->count; k++)
            nova_visit_node(context, walk, &numbers, 0, only->order[k]);
    for (int64_t k = 0; k < queue.count; k++)
        nova_visit_node(context, walk, &numbers, queue.data[k].table, queue.data[k].link);
    for (int64_t k = 0; k < walk->members; k++)
        nova_write_reached(context, walk, k, &numbers, &results[k], place);
    nova_release(context, walk->found.block);
    nova_release(context, queue.block);
    nova_release(context, twins.block);
    nova_release(context, same.block);
    nova_release(context, constants);
}

/* A search for cycles among ranges of nodes. */
typedef struct nova_search {
    nova_walk *walk;
    const int64_t *first;  /* for each member the link of the first node, */
    const int64_t *counts; /* the number of nodes, */
    int64_t total;         /* and the number of all */
    nova_targets between;  /* the nodes between members, which are numbered after them */
    nova_links *links;     /* the links that are found */
} nova_search;

/* The number of a node in a search; −1 if it is a node of a member outside of its range. */
static int64_t nova_number_in_search(nova_context *context, nova_search *search, nova_target target)
{
    const nova_walk *walk = search->walk;
    nova_targets *between = &search->between;
    if (target.table < walk->members) {
        int64_t number = target.link - search->first[target.table];
        if (number < 0 || number >= search->counts[target.table])
            return -1;
        for (int64_t k = 0; k < target.table; k++)
            number += search->counts[k];
        return number;
    }
    nova_link *known = &walk->tables[target.table].reach->number[target.link];
    if (*known >= between->count || between->data[*known].table != target.table
        || between->data[*known].link != target.link) {
        *known = (nova_link)between->count;
        nova_push_target(context, between, target.table, target.link);
    }
    return search->total + *known;
}

/* Adds the links of the node with this number. */
static void nova_search_node(nova_context *context, nova_search *search, nova_target node,
                             int64_t from)
{
    nova_targets *found = &search->walk->found;
    found->count = 0;
    search->walk->find_links(context, found, node.table, node.link);
    for (int64_t k = 0; k < found->count; k++) {
        int64_t to = nova_number_in_search(context, search, found->data[k]);
        if (to >= 0)
            nova_note_link(context, search->links, from, to);
    }
}

/* Adds the links of all nodes of the ranges, and then of the nodes between them. */
static void nova_search_ranges(nova_context *context, nova_search *search)
{
    int64_t from = 0;
    for (int64_t table = 0; table < search->walk->members; table++)
        for (int64_t k = 0; k < search->counts[table]; k++) {
            nova_target node = {table, search->first[table] + k};
            nova_search_node(context, search, node, from++);
        }
    for (int64_t k = 0; k < search->between.count; k++)
        nova_search_node(context, search, search->between.data[k], search->total + k);
}

/* True if none of count nodes from the link first on contains itself. They are the only member of the walk,
 * and have one link at most. */
static bool nova_lists_are_acyclic(nova_context *context, nova_walk *walk, int64_t first,
                                   int64_t count)
{
    nova_block *block;
    nova_step *steps = (nova_step *)nova_allocate(context, &block, count, sizeof *steps, NULL);
    for (int64_t k = 0; k < count; k++) {
        int64_t next = nova_next_in_list(context, walk, first + k, first + count) - first;
        steps[k].next = next < 0 ? -1 : next;
        steps[k].walk = 0;
    }
    bool acyclic = nova_steps_are_acyclic(context, steps, count);
    nova_release(context, block);
    return acyclic;
}

/* True if no node of the ranges contains itself: for each member, counts nodes from the link first on. */
static bool nova_are_acyclic(nova_context *context, nova_walk *walk, const int64_t *first,
                             const int64_t *counts)
{
    if (walk->is_list) {
        bool acyclic = nova_lists_are_acyclic(context, walk, first[0], counts[0]);
        nova_release(context, walk->found.block);
        return acyclic;
    }
    nova_links links = {NULL, NULL, NULL, NULL, 0};
    nova_search search = {walk, first, counts, 0, {NULL, NULL, 0, 0}, &links};
    for (int64_t k = 0; k < walk->members; k++)
        search.total += counts[k];
    for (int64_t k = walk->members; k < walk->count; k++)
        nova_start_reach(context, walk->tables[k].reach, walk->tables[k].size);
    nova_search_ranges(context, &search);
    bool acyclic = nova_links_are_acyclic(context, &links, search.total + search.between.count);
    nova_release(context, walk->found.block);
    nova_release(context, search.between.block);
    return acyclic;
}

#endif
