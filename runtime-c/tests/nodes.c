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
    return 0;
}
