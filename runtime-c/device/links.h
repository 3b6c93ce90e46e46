/* Links in nodes of recursive data, for programs that use a device: the indices of other nodes. Kernels
 * count nodes in 32 bits. */
#ifndef NOVA_LINKS_H
#define NOVA_LINKS_H

/* A link as nodes hold it, the largest number of nodes of a type, and the end of the message of the error
 * that there are more. */
typedef int32_t nova_link;
#define NOVA_MOST_NODES INT32_MAX
#define NOVA_MORE_NODES ""

#endif
