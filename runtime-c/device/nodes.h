/* Node tables of kernels. Nodes are only ever appended, and the host's copy is always current: it appends
 * nodes, or takes over those that a kernel has appended as soon as that has ended. Where nodes hold
 * arrays, kernels read copies of them in which an array is the place at which its elements begin in one
 * array for all of them, and append none. */
#ifndef NOVA_DEVICE_NODES_H
#define NOVA_DEVICE_NODES_H

#include "mirrors.h"
#include "../common/blocks.h"

/* Nodes that kernels have room for beside those there are, first, and for each iteration up to so many,
 * and nodes of a table at most: kernels count them in 32 bits. */
#ifndef NOVA_NEW_NODES
#define NOVA_NEW_NODES 1024
#endif
#define NOVA_MOST_NEW_NODES ((int64_t)1 << 20)
#define NOVA_MOST_NODES ((int64_t)1 << 31)

/* What kernels have seen of a table. */
typedef struct nova_sent_nodes {
    int64_t count; /* nodes */
    nova_block *nodes_block, *bytes_block;
    void *nodes;    /* where nodes hold arrays: the copies, */
    uint8_t *bytes; /* the elements of all arrays, */
    int64_t used;   /* and how many bytes these take */
    /* Where kernels append nodes: */
    nova_block **block;     /* the block of the table, */
    int64_t *table_count;   /* the nodes in it, */
    size_t size;            /* the bytes of a node, */
    nova_block *next_block; /* and on the device the index of the next node, from which threads take */
    int64_t *next;          /* theirs: the lower half of *next */
} nova_sent_nodes;

/* Brings the nodes that kernels have not seen to the device, for a table whose nodes hold no arrays. */
static inline void nova_send_nodes(nova_context *context, nova_sent_nodes *sent, const void *nodes,
                                   int64_t count, size_t size)
{
    nova_mirror *mirror = nova_find_mirror(context->session, nodes);
    if (mirror == NULL)
        return;
    if (mirror->memory == NULL) {
        mirror->memory = nova_device_allocate(context, mirror->bytes);
        sent->count = 0;
    }
    if (sent->count < count) {
        size_t seen = (size_t)sent->count * size;
        nova_device_write(context, mirror->memory, seen, (const char *)nodes + seen,
                          (size_t)count * size - seen);
    }
    sent->count = count;
    mirror->on_host = mirror->on_device = true;
}

/* Copies so many bytes of an array of a node behind those before; gives where they begin. */
static inline int64_t nova_send_array(nova_context *context, nova_sent_nodes *sent,
                                      const void *data, int64_t bytes)
{
    int64_t at = sent->used;
    if (bytes <= 0)
        return 0;
    int64_t end = at + (bytes + 7) / 8 * 8;
    sent->bytes = (uint8_t *)nova_reserve(context, &sent->bytes_block, at, end, 1, NULL);
    nova_on_host(context, data, false);
    nova_on_host(context, sent->bytes, true);
    memcpy(sent->bytes + at, data, (size_t)bytes);
    sent->used = end;
    return at;
}

/* Makes room for so many new nodes. */
static void nova_expect_nodes(nova_context *context, nova_sent_nodes *sent, int64_t room)
{
    int64_t count = *sent->table_count;
    if (count > NOVA_MOST_NODES || room > NOVA_MOST_NODES - count)
        nova_fail_memory(context, NULL);
    nova_reserve(context, sent->block, count, count + room, sent->size, NULL);
}

/* How many nodes a table has room for. */
static int64_t nova_capacity_of_nodes(const nova_sent_nodes *sent)
{
    size_t all = (*sent->block)->bytes / sent->size;
    return all < (size_t)NOVA_MOST_NODES ? (int64_t)all : NOVA_MOST_NODES;
}

/* Makes more room than a table has, for so many nodes and as many new ones several times over; new ones
 * of a kernel that has failed are lost. */
static void nova_expect_more_nodes(nova_context *context, nova_sent_nodes *sent, int64_t nodes)
{
    int64_t most = NOVA_MOST_NODES - *sent->table_count, room = nodes - *sent->table_count;
    if (room > most)
        nova_fail_memory(context, NULL);
    nova_expect_nodes(context, sent, room < most / 4 ? room * 4 : most);
}

/* Prepares a table for a kernel that appends nodes: new ones come behind those of the host. */
static void nova_forget_new_nodes(nova_context *context, nova_sent_nodes *sent)
{
    nova_send_nodes(context, sent, (*sent->block)->data, *sent->table_count, sent->size);
    if (sent->next == NULL) {
        sent->next =
            (int64_t *)nova_allocate(context, &sent->next_block, 1, sizeof(int64_t), NULL);
        nova_fresh(context, sent->next);
    }
    nova_mirror *next = nova_on_device(context, sent->next, true);
    nova_device_write(context, next->memory, 0, sent->table_count, sizeof(int64_t));
}

/* Takes over the nodes that a kernel has appended. */
static void nova_take_new_nodes(nova_context *context, nova_sent_nodes *sent)
{
    nova_mirror *mirror = nova_find_mirror(context->session, (*sent->block)->data);
    size_t known = (size_t)*sent->table_count * sent->size;
    nova_on_host(context, sent->next, false);
    if (*sent->next > *sent->table_count)
        nova_device_read(context, (char *)(*sent->block)->data + known, mirror->memory, known,
                         (size_t)*sent->next * sent->size - known);
    *sent->table_count = sent->count = *sent->next;
}

/* The nodes of a table, which kernels may have moved. */
static inline void *nova_nodes_of(const nova_block *block)
{
    return block == NULL ? NULL : block->data;
}

#endif
