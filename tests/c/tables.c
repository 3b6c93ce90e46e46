/* The program. */

/* A node of Rose: what its links name are other nodes. Node 0 is Leaf. */
typedef struct Rose_node {
    int32_t tag;
    union {
        struct {
            int32_t e0;
            int64_t e1_length;
            int64_t *e1_data_link;
            nova_block *e1_data_link_block;
            nova_link e2_link;
        } Rose;
    } u;
} Rose_node;

typedef struct Rose_table {
    Rose_node *nodes;
    nova_block *block;
    int64_t count;
    int64_t room;
    nova_reach reach;
    nova_export exported;
} Rose_table;

/* A node of Maybe_data_Rose: what its links name are other nodes. Node 0 is None. */
typedef struct Maybe_data_Rose_node {
    int32_t tag;
    union {
        struct {
            nova_link link_;
        } Some;
    } u;
} Maybe_data_Rose_node;

typedef struct Maybe_data_Rose_table {
    Maybe_data_Rose_node *nodes;
    nova_block *block;
    int64_t count;
    int64_t room;
    nova_reach reach;
    nova_export exported;
} Maybe_data_Rose_table;

struct nova_tables {
    Rose_table Rose;
    Maybe_data_Rose_table Maybe_data_Rose;
};

/* The parameters of a call of nodes. */
struct nodes_call {
    int64_t *result;
    nova_data_Rose t;
};

static NOVA_THREAD_LOCAL char nodes_message[NOVA_MESSAGE_SIZE];

/* The parameters of a call of leaves. */
struct leaves_call {
    nova_tuple2_bool_data_Rose *result;
    int64_t n;
};

static NOVA_THREAD_LOCAL char leaves_message[NOVA_MESSAGE_SIZE];

static void links_of_Rose(nova_context *context, nova_targets *found, int64_t table, int64_t link)
{
    switch (table) {
    case 0: {
        const Rose_node *node = &context->tables->Rose.nodes[link];
        switch (node->tag) {
        case 0:
            break;
        default:
            for (int64_t i = 0; i < node->u.Rose.e1_length; i++)
                nova_push_target(context, found, 0, node->u.Rose.e1_data_link[i]);
            nova_push_target(context, found, 1, node->u.Rose.e2_link);
            break;
        }
    }
        break;
    default: {
        const Maybe_data_Rose_node *node_2 = &context->tables->Maybe_data_Rose.nodes[link];
        switch (node_2->tag) {
        case 0:
            break;
        default:
            nova_push_target(context, found, 0, node_2->u.Some.link_);
            break;
        }
    }
        break;
    }
}

static int64_t constant_of_Rose(nova_context *context, int64_t table, int64_t link)
{
    (void)table;
    {
        const Rose_node *node = &context->tables->Rose.nodes[link];
        switch (node->tag) {
        case 0:
            return 0;
        default:
            return -1;
        }
    }
}

static void reached_Rose(nova_context *context, int64_t link, nova_reached *results,
                         const char *place)
{
    nova_walked tables[2] = {{&context->tables->Rose.reach, context->tables->Rose.count},
            {&context->tables->Maybe_data_Rose.reach, context->tables->Maybe_data_Rose.count}};
    nova_walk walk = {links_of_Rose, constant_of_Rose, 1, tables, 2, 1, false, {NULL, NULL, 0, 0}};
    nova_find_reached(context, &walk, link, results, place);
}

static int64_t reserve_Rose(nova_context *context, int64_t count, const char *place)
{
    Rose_table *table = &context->tables->Rose;
    int64_t link = table->count;
    if (count < 0)
        nova_fail_memory(context, place);
    if (count > table->room - link)
        table->nodes = (Rose_node *)nova_grow_nodes(context, &table->block, &table->room,
                table->count, count, sizeof(Rose_node), place);
    table->count = link + count;
    return link;
}

static bool are_acyclic_Rose(nova_context *context, const int64_t *first, const int64_t *counts)
{
    nova_walked tables[2] = {{&context->tables->Rose.reach, context->tables->Rose.count},
            {&context->tables->Maybe_data_Rose.reach, context->tables->Maybe_data_Rose.count}};
    nova_walk walk = {links_of_Rose, constant_of_Rose, 1, tables, 2, 1, false, {NULL, NULL, 0, 0}};
    return nova_are_acyclic(context, &walk, first, counts);
}

static int64_t reserve_Maybe_data_Rose(nova_context *context, int64_t count, const char *place)
{
    Maybe_data_Rose_table *table = &context->tables->Maybe_data_Rose;
    int64_t link = table->count;
    if (count < 0)
        nova_fail_memory(context, place);
    if (count > table->room - link)
        table->nodes = (Maybe_data_Rose_node *)nova_grow_nodes(context, &table->block, &table->room,
                table->count, count, sizeof(Maybe_data_Rose_node), place);
    table->count = link + count;
    return link;
}

static int64_t import_Rose(nova_context *context, const char *name, const nova_data_Rose *data)
{
    nova_check_array(context, name, data->len_Rose, data->nodes_Rose, sizeof(nova_node_Rose));
    int64_t before = nova_add_length(context, name, 0, data->len_Rose);
    nova_check_array(context, name, data->len_Maybe_data_Rose, data->nodes_Maybe_data_Rose,
            sizeof(nova_node_Maybe_data_Rose));
    nova_add_length(context, name, before, data->len_Maybe_data_Rose);
    nova_check_link(context, name, data->root, data->len_Rose);
    int64_t first_Rose = reserve_Rose(context, data->len_Rose, NULL);
    int64_t first_Maybe_data_Rose = reserve_Maybe_data_Rose(context, data->len_Maybe_data_Rose,
            NULL);
    nova_order order = {true, true};
    for (int64_t i = 0; i < data->len_Rose; i++) {
        nova_check_tag(context, name, data->nodes_Rose[i].tag, 2);
        Rose_node *node = &context->tables->Rose.nodes[first_Rose + i];
        node->tag = data->nodes_Rose[i].tag;
        switch (data->nodes_Rose[i].tag) {
        case 0:
            break;
        default: {
            nova_check_array(context, name, data->nodes_Rose[i].u.Rose.e1.len,
                    data->nodes_Rose[i].u.Rose.e1.data, sizeof(int64_t));
            for (int64_t i_2 = 0; i_2 < data->nodes_Rose[i].u.Rose.e1.len; i_2++)
                nova_order_link(context, name, &order, i, 0, data->len_Rose,
                        data->nodes_Rose[i].u.Rose.e1.data[i_2]);
            nova_order_link(context, name, &order, i, before, data->len_Maybe_data_Rose,
                    data->nodes_Rose[i].u.Rose.e2);
            nova_check_array(context, name, data->nodes_Rose[i].u.Rose.e1.len,
                    data->nodes_Rose[i].u.Rose.e1.data, sizeof(int64_t));
            nova_block *payload_link_block;
            int64_t *payload_link = (int64_t *)nova_allocate(context, &payload_link_block,
                    data->nodes_Rose[i].u.Rose.e1.len, sizeof(int64_t), NULL);
            for (int64_t i_3 = 0; i_3 < data->nodes_Rose[i].u.Rose.e1.len; i_3++)
                payload_link[i_3] = first_Rose + data->nodes_Rose[i].u.Rose.e1.data[i_3];
            node->u.Rose.e0 = data->nodes_Rose[i].u.Rose.e0;
            node->u.Rose.e1_length = data->nodes_Rose[i].u.Rose.e1.len;
            node->u.Rose.e1_data_link = payload_link;
            node->u.Rose.e1_data_link_block = payload_link_block;
            node->u.Rose.e2_link = (nova_link)(first_Maybe_data_Rose
                + data->nodes_Rose[i].u.Rose.e2);
        }
            break;
        }
    }
    for (int64_t i_4 = 0; i_4 < data->len_Maybe_data_Rose; i_4++) {
        nova_check_tag(context, name, data->nodes_Maybe_data_Rose[i_4].tag, 2);
        Maybe_data_Rose_node *node_2 = &context->tables->Maybe_data_Rose.nodes[first_Maybe_data_Rose
            + i_4];
        node_2->tag = data->nodes_Maybe_data_Rose[i_4].tag;
        switch (data->nodes_Maybe_data_Rose[i_4].tag) {
        case 0:
            break;
        default:
            nova_order_link(context, name, &order, before + i_4, 0, data->len_Rose,
                    data->nodes_Maybe_data_Rose[i_4].u.Some);
            node_2->u.Some.link_ = (nova_link)(first_Rose
                + data->nodes_Maybe_data_Rose[i_4].u.Some);
            break;
        }
    }
    if (!order.rising && !order.falling) {
        nova_links links = {NULL, NULL, NULL, NULL, 0};
        for (int64_t i_5 = 0; i_5 < data->len_Rose; i_5++) {
            switch (data->nodes_Rose[i_5].tag) {
            case 0:
                break;
            default:
                nova_check_array(context, name, data->nodes_Rose[i_5].u.Rose.e1.len,
                        data->nodes_Rose[i_5].u.Rose.e1.data, sizeof(int64_t));
                for (int64_t i_6 = 0; i_6 < data->nodes_Rose[i_5].u.Rose.e1.len; i_6++)
                    nova_add_link(context, name, &links, i_5, 0, data->len_Rose,
                            data->nodes_Rose[i_5].u.Rose.e1.data[i_6]);
                nova_add_link(context, name, &links, i_5, before, data->len_Maybe_data_Rose,
                        data->nodes_Rose[i_5].u.Rose.e2);
                break;
            }
        }
        for (int64_t i_7 = 0; i_7 < data->len_Maybe_data_Rose; i_7++) {
            switch (data->nodes_Maybe_data_Rose[i_7].tag) {
            case 0:
                break;
            default:
                nova_add_link(context, name, &links, before + i_7, 0, data->len_Rose,
                        data->nodes_Maybe_data_Rose[i_7].u.Some);
                break;
            }
        }
        nova_check_acyclic(context, name, &links, before + data->len_Maybe_data_Rose);
    }
    return first_Rose + data->root;
}

static nova_data_Rose export_Rose(nova_context *context, int64_t link)
{
    nova_start_export(&context->tables->Rose.exported, &context->tables->Rose.reach,
            context->tables->Rose.count);
    nova_start_export(&context->tables->Maybe_data_Rose.exported,
            &context->tables->Maybe_data_Rose.reach, context->tables->Maybe_data_Rose.count);
    nova_data_Rose result;
    result.root = nova_export_node(context, &context->tables->Rose.exported, link);
    nova_block *Rose_block = NULL;
    int64_t Rose_done = 0;
    result.nodes_Rose = NULL;
    nova_block *Maybe_data_Rose_block = NULL;
    int64_t Maybe_data_Rose_done = 0;
    result.nodes_Maybe_data_Rose = NULL;
    while (Rose_done < context->tables->Rose.exported.count
        || Maybe_data_Rose_done < context->tables->Maybe_data_Rose.exported.count) {
        while (Rose_done < context->tables->Rose.exported.count) {
            result.nodes_Rose = (nova_node_Rose *)nova_reserve(context, &Rose_block, Rose_done,
                    Rose_done + 1, sizeof(nova_node_Rose), NULL);
            Rose_node *node = &context->tables->Rose.nodes[nova_exported_node(&context->tables->Rose.exported,
                    Rose_done)];
            nova_node_Rose *copy = &result.nodes_Rose[Rose_done];
            copy->tag = node->tag;
            switch (node->tag) {
            case 0:
                break;
            default:
                copy->u.Rose.e0 = node->u.Rose.e0;
                copy->u.Rose.e1.len = node->u.Rose.e1_length;
                copy->u.Rose.e1.data = (int64_t *)nova_allocate_result(context, copy->u.Rose.e1.len,
                        sizeof(int64_t));
                for (int64_t i = 0; i < copy->u.Rose.e1.len; i++)
                    copy->u.Rose.e1.data[i] = nova_export_node(context,
                            &context->tables->Rose.exported, node->u.Rose.e1_data_link[i]);
                copy->u.Rose.e2 = nova_export_node(context,
                        &context->tables->Maybe_data_Rose.exported, node->u.Rose.e2_link);
                break;
            }
            Rose_done++;
        }
        while (Maybe_data_Rose_done < context->tables->Maybe_data_Rose.exported.count) {
            result.nodes_Maybe_data_Rose = (nova_node_Maybe_data_Rose *)nova_reserve(context,
                    &Maybe_data_Rose_block, Maybe_data_Rose_done, Maybe_data_Rose_done + 1,
                    sizeof(nova_node_Maybe_data_Rose), NULL);
            Maybe_data_Rose_node *node_2 = &context->tables->Maybe_data_Rose.nodes[nova_exported_node(&context->tables->Maybe_data_Rose.exported,
                    Maybe_data_Rose_done)];
            nova_node_Maybe_data_Rose *copy_2 = &result.nodes_Maybe_data_Rose[Maybe_data_Rose_done];
            copy_2->tag = node_2->tag;
            switch (node_2->tag) {
            case 0:
                break;
            default:
                copy_2->u.Some = nova_export_node(context, &context->tables->Rose.exported,
                        node_2->u.Some.link_);
                break;
            }
            Maybe_data_Rose_done++;
        }
    }
    result.len_Rose = Rose_done;
    result.nodes_Rose = (nova_node_Rose *)nova_give(context, result.nodes_Rose, Rose_block,
            Rose_done, sizeof(nova_node_Rose));
    result.len_Maybe_data_Rose = Maybe_data_Rose_done;
    result.nodes_Maybe_data_Rose = (nova_node_Maybe_data_Rose *)nova_give(context,
            result.nodes_Maybe_data_Rose, Maybe_data_Rose_block, Maybe_data_Rose_done,
            sizeof(nova_node_Maybe_data_Rose));
    return result;
}

static inline int64_t add_Maybe_data_Rose(nova_context *context, int32_t tag, const char *place)
{
    Maybe_data_Rose_table *table = &context->tables->Maybe_data_Rose;
    int64_t link = table->count;
    if (link == table->room)
        table->nodes = (Maybe_data_Rose_node *)nova_grow_nodes(context, &table->block, &table->room,
                table->count, 1, sizeof(Maybe_data_Rose_node), place);
    table->nodes[link].tag = tag;
    table->count = link + 1;
    return link;
}

static void start_Maybe_data_Rose(nova_context *context)
{
    add_Maybe_data_Rose(context, 0, NULL);
}

static int64_t nodes_value(nova_context *context, int64_t t)
{
    nova_reached reached[1];
    reached_Rose(context, t, reached, "tables.nova:1:2");
    int64_t k = reached[0].count;
    nova_block *ob = reached[0].order_block;
    nova_block *nb = reached[0].number_block;
    nova_release(context, ob);
    nova_release(context, nb);
    return k;
}

static void leaves_value(nova_context *context, int64_t n1, bool *a_out, int64_t *l_out)
{
    int64_t f = reserve_Rose(context, n1, "tables.nova:2:2");
    int64_t m = 0;
    nova_block *cb;
    int64_t *c = (int64_t *)nova_allocate(context, &cb, 1, sizeof(int64_t), "tables.nova:2:4");
    c[0] = f;
    /* tables.nova:2:5 */
    for (int64_t i = 0; i < n1; i++) {
        if (i == 0)
            context->tables->Rose.nodes[f].tag = 0;
        else {
            int64_t node_2 = (uint64_t)f + i;
            context->tables->Rose.nodes[node_2].tag = 1;
            context->tables->Rose.nodes[node_2].u.Rose.e0 = (int32_t)i;
            context->tables->Rose.nodes[node_2].u.Rose.e1_length = 1;
            context->tables->Rose.nodes[node_2].u.Rose.e1_data_link = c;
            context->tables->Rose.nodes[node_2].u.Rose.e1_data_link_block = cb;
            nova_retain(cb);
            context->tables->Rose.nodes[node_2].u.Rose.e2_link = (nova_link)m;
        }
    }
    nova_release(context, cb);
    int64_t l = f + ((uint64_t)n1 - 1);
    int64_t first[1] = {f};
    int64_t counts[1] = {n1};
    bool a = are_acyclic_Rose(context, first, counts);
    *a_out = a;
    *l_out = l;
}

static void nodes_run(nova_context *context, void *argument)
{
    struct nodes_call *call = (struct nodes_call *)argument;
    nova_check_result(context, "result", call->result);
    struct nova_tables tables;
    memset(&tables, 0, sizeof(struct nova_tables));
    context->tables = &tables;
    int64_t value = nodes_value(context, import_Rose(context, "t", &call->t));
    *call->result = value;
}

int nodes(int64_t *result, nova_data_Rose t)
{
    struct nodes_call call = {result, t};
    return nova_call(nodes_run, &call, nodes_message);
}

const char *nodes_error(void)
{
    return nodes_message;
}

static void leaves_run(nova_context *context, void *argument)
{
    struct leaves_call *call = (struct leaves_call *)argument;
    nova_check_result(context, "result", call->result);
    struct nova_tables tables;
    memset(&tables, 0, sizeof(struct nova_tables));
    context->tables = &tables;
    start_Maybe_data_Rose(context);
    bool value_e0;
    int64_t value_e1_link;
    leaves_value(context, call->n, &value_e0, &value_e1_link);
    nova_tuple2_bool_data_Rose result;
    memset(&result, 0, sizeof(nova_tuple2_bool_data_Rose));
    result.e0 = value_e0;
    result.e1 = export_Rose(context, value_e1_link);
    *call->result = result;
}

int leaves(nova_tuple2_bool_data_Rose *result, int64_t n)
{
    struct leaves_call call = {result, n};
    return nova_call(leaves_run, &call, leaves_message);
}

NOVA_WEAK void nova_data_Rose_free(nova_data_Rose *data);

void leaves_free_result(nova_tuple2_bool_data_Rose result)
{
    nova_data_Rose_free(&result.e1);
}

const char *leaves_error(void)
{
    return leaves_message;
}

NOVA_WEAK void nova_data_Rose_free(nova_data_Rose *data)
{
    int64_t held = nova_held(data->nodes_Rose, data->len_Rose, sizeof(nova_node_Rose));
    for (int64_t i = 0; i < held; i++)
        if (data->nodes_Rose[i].tag == 1)
            free(data->nodes_Rose[i].u.Rose.e1.data);
    free(data->nodes_Rose);
    data->nodes_Rose = NULL;
    data->len_Rose = 0;
    free(data->nodes_Maybe_data_Rose);
    data->nodes_Maybe_data_Rose = NULL;
    data->len_Maybe_data_Rose = 0;
}
