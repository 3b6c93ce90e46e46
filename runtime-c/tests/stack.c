/* Tests of the stack of recursive functions: deep, and checked. */
#include "../common/call.h"
#include "test.h"

typedef struct call {
    int64_t depth;
    int64_t result;
} call;

static int64_t down(nova_context *context, int64_t depth)
{
    volatile char space[200];
    space[depth % 200] = 1;
    if (!NOVA_STACK_LEFT(context))
        nova_fail(context, NOVA_ERROR_PROGRAM, "a.nova:2:3: recursion too deep");
    return depth == 0 ? 0 : down(context, depth - 1) + space[depth % 200];
}

static void body(nova_context *context, void *argument)
{
    call *c = (call *)argument;
    c->result = down(context, c->depth);
}

int main(void)
{
    char message[NOVA_MESSAGE_SIZE] = "";
    call c = {200000, -1};
    CHECK(nova_call_deep(body, &c, message) == 0 && c.result == 200000);
    c.depth = INT64_MAX;
    c.result = -1;
    CHECK(nova_call_deep(body, &c, message) == NOVA_ERROR_PROGRAM && c.result == -1);
    CHECK(strcmp(message, "a.nova:2:3: recursion too deep") == 0);
    return 0;
}
