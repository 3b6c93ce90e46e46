/* Nodes that the threads of a kernel append to a table that they all share. A thread takes the index of
 * the next node by one atomic operation, and the node then belongs to it. Other threads do not know its
 * index while the kernel runs. A table without room fails the kernel, and the host runs it again with a
 * larger one. */
#ifndef NOVA_NEW_NODES_H
#define NOVA_NEW_NODES_H

/* A node table that kernels append to. */
typedef struct nova_device_nodes {
    NOVA_GLOBAL void *nodes;
    NOVA_GLOBAL int64_t *next; /* the index of the next node, in the lower half */
    int64_t capacity;          /* in nodes */
    int64_t number;            /* among the growing tables of a kernel */
} nova_device_nodes;

/* The index of a new node. Fails the kernel if the table has no room for it. Each thread fails at most
 * once, so that the indices that threads take past the end of the table do not exceed 32 bits. */
NOVA_IN_KERNELS int64_t nova_new_node_on_device(nova_context *context,
                                                const nova_device_nodes *nodes)
{
    int64_t link =
        (int64_t)(uint32_t)NOVA_ADD_GLOBAL((NOVA_GLOBAL uint32_t *)nodes->next, 1u);
    if (link >= nodes->capacity)
        nova_fail_at(context, NOVA_NODES_ARE_FULL, nodes->number, link + 1);
    return link;
}

#endif
