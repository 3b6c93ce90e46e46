/* Node tables that kernels read. Nodes are only ever appended, by the host, whose copy is always
 * current. Where nodes hold arrays, kernels read copies of them in which an array is the place at which
 * its elements begin in one array for all of them. */
#ifndef NOVA_DEVICE_NODES_H
#define NOVA_DEVICE_NODES_H

#include "mirrors.h"
#include "../common/blocks.h"

/* What kernels have seen of a table. */
typedef struct nova_sent_nodes {
    int64_t count; /* nodes */
    nova_block *nodes_block, *bytes_block;
    void *nodes;    /* where nodes hold arrays: the copies, */
    uint8_t *bytes; /* the elements of all arrays, */
    int64_t used;   /* and how many bytes these take */
} nova_sent_nodes;

/* Prepares a table whose nodes hold no arrays for a kernel. */
static inline void nova_send_nodes(nova_context *context, nova_sent_nodes *sent, const void *nodes,
                                   int64_t count)
{
    if (sent->count == count)
        return;
    nova_on_host(context, nodes, true);
    sent->count = count;
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

#endif
