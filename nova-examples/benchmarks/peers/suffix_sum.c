/* The suffix sums of a list by two passes: the chase of its links writes the elements in order, and a
 * loop from the end adds them up. Limited by the latency of memory where the nodes lie in any order,
 * by its bandwidth where they lie in the order of the list. */
#include "peer.h"
#include "suffix_sum.h"

int peer_suffix_sum(nova_data_List_int *result, nova_data_List_int list)
{
    const nova_node_List_int *from = list.nodes;
    nova_node_List_int *to = malloc((size_t)list.len * sizeof *to);
    if (to == NULL)
        return 2;
    int64_t n = 0;
    for (int64_t at = list.root; from[at].tag == NOVA_List_Cons; at = from[at].u.Cons.e1)
        to[n++].u.Cons.e0 = from[at].u.Cons.e0;
    to[n].tag = NOVA_List_Nil;
    uint32_t sum = 0;
    for (int64_t k = n - 1; k >= 0; k--) {
        to[k].tag = NOVA_List_Cons;
        to[k].u.Cons.e0 = (int32_t)(sum += (uint32_t)to[k].u.Cons.e0);
        to[k].u.Cons.e1 = k + 1;
    }
    *result = (nova_data_List_int){.root = 0, .len = n + 1, .nodes = to};
    return 0;
}
