/* Tests of links between nodes: found in range, without cycles; nodes numbered as they are reached. */
#include "../common/call.h"
#include "../common/nodes.h"
#include "test.h"

typedef struct call {
    int64_t count;
    int64_t links;
    int64_t (*link)[2];
} call;

static void body(nova_context *context, void *argument)
{
    call *c = (call *)argument;
    nova_links links = {NULL, NULL, NULL, NULL, 0};
    for (int64_t k = 0; k < c->links; k++)
        nova_add_link(context, "x", &links, c->link[k][0], 0, c->count, c->link[k][1]);
    nova_check_acyclic(context, "x", &links, c->count);
}

static void reach(nova_context *context, void *argument)
{
    (void)argument;
    nova_reach set;
    memset(&set, 0, sizeof set);
    for (int iteration = 0; iteration < 3; iteration++) {
        nova_start_reach(context, &set, 5 + iteration);
        CHECK(nova_reach_node(&set, 4) == 0 && nova_reach_node(&set, 0) == 1);
        CHECK(nova_reach_node(&set, 4) == 0 && nova_reach_node(&set, 2) == 2 && set.count == 3);
    }
}

/* Links that are met in some order: in progressions up and down, with some that were met before, and
 * others that lie anywhere. Numbers are those of a table that has one for each node. */
static void export_in_order(nova_context *context, void *argument)
{
    enum { NODES = 300 };
    uint64_t *state = (uint64_t *)argument;
    nova_reach expected, own;
    nova_export nodes;
    memset(&expected, 0, sizeof expected);
    memset(&own, 0, sizeof own);
    for (int test = 0; test < 200; test++) {
        nova_start_reach(context, &expected, NODES);
        nova_start_export(&nodes, &own, NODES);
        int64_t link = 0, step = 1, apart = 1 + test % 100;
        for (int k = 0; k < 2 * NODES; k++) {
            *state = *state * 6364136223846793005u + 1442695040888963407u;
            int64_t drawn = (int64_t)(*state >> 40);
            if (drawn % apart == 0) {
                link = drawn / 128 % NODES;
                step = drawn / 64 % 2 == 0 ? 1 : -1;
            }
            CHECK(nova_export_node(context, &nodes, link) == nova_reach_node(&expected, link));
            CHECK(nodes.count == expected.count);
            link += step;
            link = link < 0 || link >= NODES ? NODES / 2 : link;
        }
        for (int64_t k = 0; k < nodes.count; k++)
            CHECK(nova_exported_node(&nodes, k) == expected.order[k]);
    }
}

/* Nodes with at most one link: walks find the same as the search of any graph. Most chains have no
 * cycle, or one that a few nodes lead to. */
static void chains(nova_context *context, void *argument)
{
    enum { NODES = 400 };
    uint64_t *state = (uint64_t *)argument;
    int64_t from[NODES], to[NODES], order[NODES];
    int found[2] = {0, 0};
    for (int test = 0; test < 3000; test++) {
        int64_t count = test % NODES, some = 1 + test % 97;
        for (int64_t i = 0; i < count; i++) {
            *state = *state * 6364136223846793005u + 1442695040888963407u;
            int64_t j = (int64_t)(*state >> 33) % (i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        nova_links links = {NULL, NULL, from, to, 0};
        int64_t place[NODES];
        for (int64_t i = 0; i < count; i++)
            place[order[i]] = i;
        for (int64_t i = 0; i < count; i++) {
            *state = *state * 6364136223846793005u + 1442695040888963407u;
            int64_t drawn = (int64_t)(*state >> 33), after = place[i] + 1 + drawn % 3;
            if (drawn / 8 % some == 0)
                continue;
            from[links.count] = i;
            /* Rarely to any node. */
            to[links.count++] = after >= count || drawn / 1024 % 500 == 0 ? drawn / 8 % count : order[after];
        }
        bool acyclic = nova_graph_is_acyclic(context, &links, count);
        CHECK(nova_chains_are_acyclic(context, &links, count) == acyclic);
        found[acyclic]++;
    }
    CHECK(found[0] > 300 && found[1] > 300);
}

/* A table grows, and more nodes than links can name are an error. */
static void grow(nova_context *context, void *argument)
{
    int64_t room = 0, more = *(const int64_t *)argument;
    nova_block *block = NULL;
    int64_t *nodes = (int64_t *)nova_grow_nodes(context, &block, &room, 0, 3, 16, "place");
    CHECK(room >= 3);
    nodes[5] = 7;
    nodes = (int64_t *)nova_grow_nodes(context, &block, &room, 3, 1000, 16, "place");
    CHECK(room >= 1003 && nodes[5] == 7);
    nova_grow_nodes(context, &block, &room, 1003, more, 16, "place");
    nova_release(context, block);
}

/* The direction of links into a range of nodes, which others surround. */
static void order(void)
{
    nova_order both = {true, true};
    nova_order_node(&both, 4, 100, 10, 0, 99);
    nova_order_node(&both, 4, 100, 10, 0, 110);
    CHECK(both.rising && both.falling);
    nova_order_node(&both, 4, 100, 10, 0, 105);
    CHECK(both.rising && !both.falling);
    nova_order_node(&both, 4, 100, 10, 0, 104);
    CHECK(!both.rising && !both.falling);
    nova_order later = {true, true};
    nova_order_node(&later, 4, 100, 10, 20, 100);
    CHECK(later.rising && !later.falling);
}

int main(void)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    int64_t mixed[5][2] = {{0, 3}, {1, 0}, {1, 2}, {3, 2}, {3, 2}};
    call c = {4, 5, mixed};
    CHECK(nova_call(body, &c, message) == 0);
    mixed[3][1] = 1;
    CHECK(nova_call(body, &c, message) == NOVA_ERROR_ARGUMENT);
    CHECK(strcmp(message, "x: a node contains itself") == 0);
    mixed[3][1] = 4;
    CHECK(nova_call(body, &c, message) == NOVA_ERROR_ARGUMENT);
    CHECK(strcmp(message, "x: link 4 is out of range for 4 nodes") == 0);
    int64_t self[1][2] = {{2, 2}};
    call own = {4, 1, self};
    CHECK(nova_call(body, &own, message) == NOVA_ERROR_ARGUMENT);
    call none = {0, 0, NULL};
    CHECK(nova_call(body, &none, message) == 0);
    CHECK(nova_call(reach, NULL, message) == 0);
    uint64_t state = 7;
    CHECK(nova_call(export_in_order, &state, message) == 0);
    CHECK(nova_call(chains, &state, message) == 0);
    int64_t more[4] = {1, NOVA_MOST_NODES - 1002, NOVA_MOST_NODES, INT64_MAX};
    CHECK(nova_call(grow, &more[0], message) == 0);
    for (int k = 1; k < 4; k++) {
        CHECK(nova_call(grow, &more[k], message) == NOVA_ERROR_MEMORY);
        CHECK(strstr(message, "place: more than 2147483647 nodes of one type") == message);
    }
    order();
    return 0;
}
