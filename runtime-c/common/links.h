/* Links in nodes of recursive data: the indices of other nodes. */
#ifndef NOVA_LINKS_H
#define NOVA_LINKS_H

#include <stdint.h>

/* A link as nodes hold it, the largest number of nodes of a type, and the end of the message of the error
 * that there are more. */
#ifdef NOVA_WIDE_LINKS
typedef int64_t nova_link;
#define NOVA_MOST_NODES INT64_MAX
#define NOVA_MORE_NODES ""
#else
typedef int32_t nova_link;
#ifndef NOVA_MOST_NODES
#define NOVA_MOST_NODES INT32_MAX
#endif
#define NOVA_MORE_NODES " (-DNOVA_WIDE_LINKS allows more)"
#endif

#endif
