/* Walks over the nodes of a group of recursive types: their tables, and the links in their nodes. */
#ifndef NOVA_WALKS_H
#define NOVA_WALKS_H

#include "nodes.h"

/* A link to a node: the number of its table in the walk, and its index there. */
typedef struct nova_target {
    int64_t table, link;
} nova_target;

/* A list of such links. */
typedef struct nova_targets {
    nova_block *block;
    nova_target *data;
    int64_t count, room;
} nova_targets;

/* Makes room for another link in a list. */
static void nova_grow_targets(nova_context *context, nova_targets *list)
{
    nova_block *block;
    int64_t room = list->room < 32 ? 32 : list->room > INT64_MAX / 2 ? INT64_MAX : 2 * list->room;
    nova_target *data = (nova_target *)nova_allocate(context, &block, room, sizeof *data, NULL);
    if (list->count > 0)
        memcpy(data, list->data, (size_t)list->count * sizeof *data);
    nova_release(context, list->block);
    list->block = block;
    list->data = data;
    list->room = room;
}

/* Adds a link to a list. */
static inline void nova_push_target(nova_context *context, nova_targets *list, int64_t table,
                                    int64_t link)
{
    if (list->count == list->room)
        nova_grow_targets(context, list);
    list->data[list->count].table = table;
    list->data[list->count].link = link;
    list->count++;
}

/* A table of a walk. */
typedef struct nova_walked {
    nova_reach *reach; /* its numbers */
    int64_t size;      /* and its nodes */
} nova_walked;

/* Adds the links of a node to a list, in order. */
typedef void nova_find_links(nova_context *context, nova_targets *found, int64_t table,
                             int64_t link);

/* The number of the constructor of a node without payload, among all such constructors of the members;
 * −1 for other nodes. */
typedef int64_t nova_find_constant(nova_context *context, int64_t table, int64_t link);

/* A walk over the tables of a group: first those of its members, then those whose nodes stand between
 * their nodes. */
typedef struct nova_walk {
    nova_find_links *find_links;
    nova_find_constant *find_constant;
    int64_t constants;   /* the constructors without payload */
    nova_walked *tables; /* all tables, */
    int64_t count;       /* their number, */
    int64_t members;     /* and the number of members */
    bool is_list;        /* there is one table, whose nodes have one link at most */
    nova_targets found;  /* links that are not followed yet */
} nova_walk;

#endif
