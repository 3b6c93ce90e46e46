/* Nodes that threads append to a table that all of them share: each builds lists and finds them again, or
 * says how much room it lacks. */
#include "threads.h"
#include "../../../runtime-c/device/new_nodes.h"

enum { THREADS = 64 };

/* A node of a list: its number and the node before it, or -1. */
struct node {
    int64_t value, link;
};

/* Builds for each iteration a list of index % 17 nodes. */
static __global__ void build(int64_t count, nova_failure *failure, const nova_device_nodes table,
                             int64_t *links)
{
    if (nova_has_failed(failure))
        return;
    nova_context state = {failure, false, 0, 0, 0, 0, 0, 0, 0};
    nova_context *context = &state;
    node *nodes = (node *)table.nodes;
    NOVA_SHARED_LOOP(i, count) {
        int64_t link = -1;
        for (int64_t k = 0; k < i % 17; k++) {
            int64_t at = nova_new_node_on_device(context, &table);
            if (context->failed)
                return;
            nodes[at].value = 100 * i + k;
            nodes[at].link = link;
            link = at;
        }
        links[i] = link;
        for (int64_t k = i % 17 - 1; k >= 0; k--) {
            if (nodes[link].value != 100 * i + k) {
                nova_fail_at(context, 7, i, k);
                return;
            }
            link = nodes[link].link;
        }
    }
}

/* Runs it with a table of so much room, of whose nodes there are two before; gives what has failed. */
static nova_failure run(int count, int64_t capacity, std::vector<node> &nodes,
                        std::vector<int64_t> &links)
{
    int blocks = blocks_for(count, 3 * THREADS);
    int64_t next = 2;
    nova_device_nodes table = {on_device<node>(capacity), on_device<int64_t>(1), capacity, 5};
    int64_t *there = on_device<int64_t>(count);
    nova_failure *failure = no_failure();
    DO(cudaMemcpy(table.next, &next, sizeof next, cudaMemcpyHostToDevice));
    DO(nova_put_launch(build, blocks, THREADS, 0, 0, (int64_t)count, failure, table, there));
    nova_failure seen = to_host(failure, 1)[0];
    nodes = to_host((node *)table.nodes, seen.taken ? 0 : to_host(table.next, 1)[0]);
    links = to_host(there, seen.taken ? 0 : count);
    DO(cudaFree(table.nodes));
    DO(cudaFree(table.next));
    DO(cudaFree(there));
    DO(cudaFree(failure));
    return seen;
}

int main(int count, char **arguments)
{
    std::vector<node> nodes;
    std::vector<int64_t> links;
    for (int length : lengths(count, arguments)) {
        if (length > 5000)
            continue;
        nova_failure seen = run(length, 8 * length + 200, nodes, links);
        CHECK(seen.taken == 0);
        int64_t all = 2;
        for (int i = 0; i < length; i++) {
            int64_t link = links[i];
            for (int k = i % 17 - 1; k >= 0; k--) {
                CHECK(link >= 2 && nodes[link].value == 100 * i + k);
                link = nodes[link].link;
            }
            CHECK(link == -1);
            all += i % 17;
        }
        CHECK((int64_t)nodes.size() == all);
        if (length < 100)
            continue;
        seen = run(length, 100, nodes, links);
        CHECK(seen.taken == 1 && seen.site == NOVA_NODES_ARE_FULL && seen.first == 5);
        CHECK(seen.second > 100);
    }
    return 0;
}
