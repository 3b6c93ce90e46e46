/* The sum of a tree by depth-first search with a stack of its own, so that no chain overflows: right
 * children wait on it while the left ones are followed. Limited by the latency of memory where the nodes
 * lie in any order. The stack is as high as the number of nodes that wait at once. */
#include "peer.h"
#include "tree_sum.h"

int peer_tree_sum(int32_t *result, nova_data_Tree_int tree)
{
    const nova_node_Tree_int *nodes = tree.nodes;
    size_t room = 1024, used = 0;
    int64_t *stack = malloc(room * sizeof *stack);
    if (stack == NULL)
        return 2;
    uint32_t sum = 0;
    for (int64_t at = tree.root;;) {
        if (nodes[at].tag == NOVA_Tree_Node) {
            if (used == room) {
                int64_t *larger = realloc(stack, (room *= 2) * sizeof *stack);
                if (larger == NULL) {
                    free(stack);
                    return 2;
                }
                stack = larger;
            }
            sum += (uint32_t)nodes[at].u.Node.e0;
            stack[used++] = nodes[at].u.Node.e2;
            at = nodes[at].u.Node.e1;
        } else {
            sum += (uint32_t)nodes[at].u.Leaf;
            if (used == 0)
                break;
            at = stack[--used];
        }
    }
    free(stack);
    *result = (int32_t)sum;
    return 0;
}
