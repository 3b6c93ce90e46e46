/* The program. */

/* A node of List_int: what its links name are other nodes. Node 0 is Nil. */
typedef struct List_int_node {
    int32_t tag;
    union {
        struct {
            int32_t e0;
            nova_link e1_link;
        } Cons;
    } u;
} List_int_node;

typedef struct List_int_table {
    List_int_node *nodes;
    nova_block *block;
    int64_t count;
    int64_t room;
    nova_reach reach;
} List_int_table;

struct nova_tables {
    List_int_table List_int;
};

/* The parameters of a call of total. */
struct total_call {
    int32_t *result;
    nova_data_List_int L;
};

static NOVA_THREAD_LOCAL char total_message[NOVA_MESSAGE_SIZE];

NOVA_NEVER_RETURNS static void nova_recursion_error(nova_context *context, const char *place)
{
    nova_fail(context, 1, "%s: recursion too deep", place);
}

static int64_t reserve_List_int(nova_context *context, int64_t count, const char *place)
{
    List_int_table *table = &context->tables->List_int;
    int64_t link = table->count;
    if (count < 0)
        nova_fail_memory(context, place);
    if (count > table->room - link)
        table->nodes = (List_int_node *)nova_grow_nodes(context, &table->block, &table->room,
                table->count, count, sizeof(List_int_node), place);
    table->count = link + count;
    return link;
}

static int64_t import_List_int(nova_context *context, const char *name,
                               const nova_data_List_int *data)
{
    nova_check_array(context, name, data->len, data->nodes, sizeof(nova_node_List_int));
    nova_check_link(context, name, data->root, data->len);
    int64_t first_List_int = reserve_List_int(context, data->len, NULL);
    nova_order order = {true, true};
    for (int64_t i = 0; i < data->len; i++) {
        nova_check_tag(context, name, data->nodes[i].tag, 2);
        List_int_node *node = &context->tables->List_int.nodes[first_List_int + i];
        node->tag = data->nodes[i].tag;
        switch (data->nodes[i].tag) {
        case 0:
            break;
        default:
            nova_order_link(context, name, &order, i, 0, data->len, data->nodes[i].u.Cons.e1);
            node->u.Cons.e0 = data->nodes[i].u.Cons.e0;
            node->u.Cons.e1_link = (nova_link)(first_List_int + data->nodes[i].u.Cons.e1);
            break;
        }
    }
    if (!order.rising && !order.falling) {
        nova_links links = {NULL, NULL, NULL, NULL, 0};
        for (int64_t i_2 = 0; i_2 < data->len; i_2++) {
            switch (data->nodes[i_2].tag) {
            case 0:
                break;
            default:
                nova_add_link(context, name, &links, i_2, 0, data->len, data->nodes[i_2].u.Cons.e1);
                break;
            }
        }
        nova_check_acyclic(context, name, &links, data->len);
    }
    return first_List_int + data->root;
}

static int32_t total_1(nova_context *context, int64_t l_link)
{
    if (!NOVA_STACK_LEFT(context))
        nova_recursion_error(context, "total.nova:3:34");
    int32_t t_2;
    if (context->tables->List_int.nodes[l_link].tag == 0)
        t_2 = 0;
    else {
        int32_t t_e0 = context->tables->List_int.nodes[l_link].u.Cons.e0;
        int64_t t_e1_link = context->tables->List_int.nodes[l_link].u.Cons.e1_link;
        int32_t t_3 = total_1(context, t_e1_link);
        t_2 = (uint32_t)t_e0 + t_3;
    }
    return t_2;
}

static int32_t total_value(nova_context *context, int64_t L_link)
{
    return total_1(context, L_link);
}

static void total_run(nova_context *context, void *argument)
{
    struct total_call *call = (struct total_call *)argument;
    nova_check_result(context, "result", call->result);
    struct nova_tables tables;
    memset(&tables, 0, sizeof(struct nova_tables));
    context->tables = &tables;
    int32_t value = total_value(context, import_List_int(context, "L", &call->L));
    *call->result = value;
}

int total(int32_t *result, nova_data_List_int L)
{
    struct total_call call = {result, L};
    return nova_call_deep(total_run, &call, total_message);
}

const char *total_error(void)
{
    return total_message;
}

NOVA_WEAK void nova_data_List_int_free(nova_data_List_int *data)
{
    free(data->nodes);
    data->nodes = NULL;
    data->len = 0;
}
