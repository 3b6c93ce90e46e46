/* Node tables of kernels. A node is written once, and the host's copy is always current: the host appends
 * nodes or fills reserved places, or takes over the nodes of a kernel as soon as it has ended.
 *
 * Where nodes hold arrays, kernels append none. They read copies of the nodes, in which an array is the
 * offset of its elements in one array for all of them. */
#ifndef NOVA_DEVICE_NODES_H
#define NOVA_DEVICE_NODES_H

#include "buffer_pairs.h"
#include "links.h"
#include "../common/blocks.h"

/* The room for new nodes of a kernel at first: NOVA_NEW_NODES, and one for each iteration, but no more
 * than NOVA_MOST_NEW_NODES of these. */
#ifndef NOVA_NEW_NODES
#define NOVA_NEW_NODES 1024
#endif
#define NOVA_MOST_NEW_NODES ((int64_t)1 << 20)

/* The nodes of a table that kernels have seen. */
typedef struct nova_sent_nodes {
    int64_t count; /* nodes */
    nova_block *nodes_block, *bytes_block;
    void *nodes;    /* if nodes hold arrays: the copies of the nodes, */
    uint8_t *bytes; /* the elements of all arrays, */
    int64_t used;   /* and the bytes of these elements */
    /* If kernels append nodes: */
    nova_block **block;     /* the block of the table, */
    int64_t *table_count;   /* the nodes in it, */
    size_t size;            /* the bytes of a node, */
    nova_block *next_block; /* and on the device the index of the next node, which threads */
    int64_t *next;          /* increment: the lower half of *next */
} nova_sent_nodes;

/* Copies the nodes that kernels have not seen to the device, for a table whose nodes hold no arrays. */
static inline void nova_send_nodes(nova_context *context, nova_sent_nodes *sent, const void *nodes,
                                   int64_t count, size_t size)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, nodes);
    if (pair == NULL)
        return;
    if (pair->memory == NULL) {
        pair->memory = nova_device_allocate(context, pair->bytes);
        sent->count = 0;
    }
    if (sent->count < count) {
        size_t seen = (size_t)sent->count * size;
        nova_device_write(context, pair->memory, seen, (const char *)nodes + seen,
                          (size_t)count * size - seen);
    }
    sent->count = count;
    pair->on_host = pair->on_device = true;
}

/* Appends the bytes of an array of a node to those of earlier arrays. Returns their offset. */
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

/* Makes room for this many new nodes. */
static void nova_expect_nodes(nova_context *context, nova_sent_nodes *sent, int64_t room)
{
    int64_t count = *sent->table_count;
    if (count > NOVA_MOST_NODES || room > NOVA_MOST_NODES - count)
        nova_fail_memory(context, NULL);
    nova_reserve(context, sent->block, count, count + room, sent->size, NULL);
}

/* The number of nodes for which a table has room. */
static int64_t nova_capacity_of_nodes(const nova_sent_nodes *sent)
{
    size_t all = (*sent->block)->bytes / sent->size;
    return all < (size_t)NOVA_MOST_NODES ? (int64_t)all : NOVA_MOST_NODES;
}

/* Enlarges a table for this many nodes, with several times the room for new ones. New nodes of a kernel
 * that has failed are lost. */
static void nova_expect_more_nodes(nova_context *context, nova_sent_nodes *sent, int64_t nodes)
{
    int64_t most = NOVA_MOST_NODES - *sent->table_count, room = nodes - *sent->table_count;
    if (room > most)
        nova_fail_memory(context, NULL);
    nova_expect_nodes(context, sent, room < most / 4 ? room * 4 : most);
}

/* Prepares a table for a kernel that appends nodes; new ones come after those of the host. */
static void nova_forget_new_nodes(nova_context *context, nova_sent_nodes *sent)
{
    nova_send_nodes(context, sent, (*sent->block)->data, *sent->table_count, sent->size);
    if (sent->next == NULL) {
        sent->next =
            (int64_t *)nova_allocate(context, &sent->next_block, 1, sizeof(int64_t), NULL);
        nova_fresh(context, sent->next);
    }
    nova_buffer_pair *next = nova_on_device(context, sent->next, true);
    nova_device_write(context, next->memory, 0, sent->table_count, sizeof(int64_t));
}

/* Takes over the nodes that a kernel has appended. */
static void nova_take_new_nodes(nova_context *context, nova_sent_nodes *sent)
{
    nova_buffer_pair *pair = nova_find_buffer_pair(context->session, (*sent->block)->data);
    size_t known = (size_t)*sent->table_count * sent->size;
    nova_on_host(context, sent->next, false);
    if (*sent->next > *sent->table_count)
        nova_device_read(context, (char *)(*sent->block)->data + known, pair->memory, known,
                         (size_t)*sent->next * sent->size - known);
    *sent->table_count = sent->count = *sent->next;
}

/* The nodes of a table, which launches of kernels may have moved. */
static inline void *nova_nodes_of(const nova_block *block)
{
    return block == NULL ? NULL : block->data;
}

#endif
