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
    nova_export exported;
    nova_sent_nodes sent;
} List_int_table;

struct nova_tables {
    List_int_table List_int;
};

/* The kernels, for the compiler of the device. */
static const char *const nova_kernel_sources[] = {
    "#pragma OPENCL FP_CONTRACT ON\n"
    "\n"
    "typedef char int8_t;\n"
    "typedef short int16_t;\n"
    "typedef int int32_t;\n"
    "typedef long int64_t;\n"
    "typedef uchar uint8_t;\n"
    "typedef ushort uint16_t;\n"
    "typedef uint uint32_t;\n"
    "typedef ulong uint64_t;\n"
    "#define INT32_MIN INT_MIN\n"
    "#define INT32_MAX INT_MAX\n"
    "#define INT64_MIN LONG_MIN\n"
    "#define INT64_MAX LONG_MAX\n"
    "#define INT64_C(x) x##L\n"
    "#define UINT64_C(x) x##UL\n"
    "#define sqrtf sqrt\n"
    "#define rsqrtf rsqrt\n"
    "#define fabsf fabs\n"
    "#define expf exp\n"
    "#define exp2f exp2\n"
    "#define logf log\n"
    "#define log2f log2\n"
    "#define log10f log10\n"
    "#define sinf sin\n"
    "#define cosf cos\n"
    "#define tanf tan\n"
    "#define asinf asin\n"
    "#define acosf acos\n"
    "#define atanf atan\n"
    "#define sinhf sinh\n"
    "#define coshf cosh\n"
    "#define tanhf tanh\n"
    "#define powf pow\n"
    "#define atan2f atan2\n"
    "#define floorf floor\n"
    "#define ceilf ceil\n"
    "#define roundf round\n"
    "#define truncf trunc\n"
    "#define erff erf\n"
    "#define fmaf fma\n"
    "\n"
    "/* A link as nodes hold it, the largest number of nodes of a type, and the end of the message of the error\n"
    " * that there are more. */\n"
    "typedef int32_t nova_link;\n"
    "#define NOVA_MOST_NODES INT32_MAX\n"
    "#define NOVA_MORE_NODES \"\"\n"
    "\n"
    "/* A loop over 0 … count - 1 whose iterations the threads share. */\n"
    "#define NOVA_SHARED_LOOP(variable, count) \\\n"
    "    for (int64_t variable = NOVA_THREAD; variable < (count); \\\n"
    "         variable += (int64_t)get_global_size(0))\n"
    "\n"
    "/* Definitions of the macros that the headers of device/ for kernels use. */\n"
    "#define NOVA_GLOBAL __global\n"
    "#define NOVA_LOCAL __local\n"
    "#define NOVA_IN_KERNELS static\n"
    "#define NOVA_ANY_TYPE __attribute__((may_alias))\n"
    "#define NOVA_THREAD ((int64_t)get_global_id(0))\n"
    "#define NOVA_THREAD_OF_GROUP get_local_id(0)\n"
    "#define NOVA_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)\n"
    "/* Words of 32 bits that other threads may write at the same time. */\n"
    "#define NOVA_READ_GLOBAL(at) (*(volatile __global const int *)(at))\n"
    "#define NOVA_READ_LOCAL(at) (*(volatile __local const int *)(at))\n"
    "#define NOVA_LOWER_LOCAL(at, value) atomic_min((volatile __local int *)(at), value)\n"
    "#define NOVA_COMPARE_AND_SWAP(at, old, value) atomic_cmpxchg((volatile __global uint *)(at), old, value)\n"
    "#define NOVA_ADD_GLOBAL(at, value) atomic_add((volatile __global uint *)(at), value)\n"
    "\n"
    "/* The record of the first failure of a kernel. */\n"
    "typedef struct nova_failure {\n"
    "    int32_t taken, site;\n"
    "    int64_t first, second;\n"
    "} nova_failure;\n"
    "\n"
    "/* Failures that the host answers with more memory: `first` bytes for a thread, `second` words for the\n"
    " * result buffers numbered `first`, or room for `second` nodes in the growing node table numbered\n"
    " * `first`. */\n"
    "#define NOVA_HEAP_IS_FULL (-1)\n"
    "#define NOVA_RESULT_BUFFERS_ARE_FULL (-2)\n"
    "#define NOVA_NODES_ARE_FULL (-3)\n"
    "\n"
    "/* The state of a thread for failures, and its memory. */\n"
    "typedef struct nova_context {\n"
    "    NOVA_GLOBAL nova_failure *failure;\n"
    "    bool failed; /* the thread must leave its function */\n"
    "    /* For work-groups whose threads wait for each other: the first phase, between two barriers, in\n"
    "     * which a thread has failed; and the phase of this thread. */\n"
    "    NOVA_LOCAL int *group;\n"
    "    int phase;\n",
    "    NOVA_GLOBAL uint8_t *heap; /* the thread's slice of the memory of threads, */\n"
    "    int64_t size, used;        /* its bytes, and the bytes that blocks have taken; */\n"
    "    int64_t free;              /* the offset of the first free block in it, or -1 */\n"
    "    const struct nova_device_tables *tables; /* nodes of recursive data */\n"
    "} nova_context;\n"
    "\n"
    "/* True if a thread of this kernel or of an earlier one has failed. */\n"
    "NOVA_IN_KERNELS bool nova_has_failed(NOVA_GLOBAL const nova_failure *failure)\n"
    "{\n"
    "    return NOVA_READ_GLOBAL(&failure->taken) != 0;\n"
    "}\n"
    "\n"
    "/* Makes the thread fail at a check; the function that it is in returns. */\n"
    "NOVA_IN_KERNELS void nova_fail_at(nova_context *context, int32_t site, int64_t first,\n"
    "                                  int64_t second)\n"
    "{\n"
    "    context->failed = true;\n"
    "    if (NOVA_COMPARE_AND_SWAP((NOVA_GLOBAL uint32_t *)&context->failure->taken, 0u, 1u) == 0) {\n"
    "        context->failure->site = site;\n"
    "        context->failure->first = first;\n"
    "        context->failure->second = second;\n"
    "    }\n"
    "    if (context->group != 0)\n"
    "        NOVA_LOWER_LOCAL(context->group, context->phase);\n"
    "}\n"
    "\n"
    "/* A node table that kernels append to. */\n"
    "typedef struct nova_device_nodes {\n"
    "    NOVA_GLOBAL void *nodes;\n"
    "    NOVA_GLOBAL int64_t *next; /* the index of the next node, in the lower half */\n"
    "    int64_t capacity;          /* in nodes */\n"
    "    int64_t number;            /* among the growing tables of a kernel */\n"
    "} nova_device_nodes;\n"
    "\n"
    "/* The index of a new node. Fails the kernel if the table has no room for it. Each thread fails at most\n"
    " * once, so that the indices that threads take past the end of the table do not exceed 32 bits. */\n"
    "NOVA_IN_KERNELS int64_t nova_new_node_on_device(nova_context *context,\n"
    "                                                const nova_device_nodes *nodes)\n"
    "{\n"
    "    int64_t link =\n"
    "        (int64_t)(uint32_t)NOVA_ADD_GLOBAL((NOVA_GLOBAL uint32_t *)nodes->next, 1u);\n"
    "    if (link >= nodes->capacity)\n"
    "        nova_fail_at(context, NOVA_NODES_ARE_FULL, nodes->number, link + 1);\n"
    "    return link;\n"
    "}\n"
    "\n"
    "typedef struct List_int_node {\n"
    "    int32_t tag;\n"
    "    union {\n"
    "        struct {\n"
    "            int32_t e0;\n"
    "            nova_link e1_link;\n"
    "        } Cons;\n"
    "    } u;\n"
    "} List_int_node;\n"
    "\n"
    "struct nova_device_tables {\n"
    "    struct {\n"
    "        __global List_int_node *nodes;\n"
    "        nova_device_nodes growth;\n"
    "    } List_int;\n"
    "};\n"
    "\n"
    "__kernel void lists_value_kernel(int64_t count, __global nova_failure *failure,\n"
    "                                 __global List_int_node *List_int_growth_nodes,\n"
    "                                 int64_t List_int_growth_nodes_offset,\n"
    "                                 __global int64_t *List_int_growth_next,\n"
    "                                 int64_t List_int_growth_next_offset,\n"
    "                                 int64_t List_int_growth_capacity, int64_t List_int_growth_number,\n"
    "                                 __global int32_t *X_data_base, int64_t X_data_offset,\n"
    "                                 __global int64_t *t_base, int64_t t_offset)\n"
    "{\n",
    "    (void)List_int_growth_nodes_offset;\n"
    "    (void)List_int_growth_next_offset;\n"
    "    const nova_device_nodes List_int_growth = {List_int_growth_nodes, List_int_growth_next,\n"
    "            List_int_growth_capacity, List_int_growth_number};\n"
    "    struct nova_device_tables tables;\n"
    "    tables.List_int.nodes = (__global List_int_node *)List_int_growth.nodes;\n"
    "    tables.List_int.growth = List_int_growth;\n"
    "    __global int32_t *X_data = X_data_base + X_data_offset;\n"
    "    __global int64_t *t = t_base + t_offset;\n"
    "    if (nova_has_failed(failure))\n"
    "        return;\n"
    "    nova_context state = {failure, false, 0, 0, 0, 0, 0, 0, &tables};\n"
    "    nova_context *context = &state;\n"
    "    NOVA_SHARED_LOOP(i, count) {\n"
    "        int64_t link_2 = 0;\n"
    "        int64_t link_3 = nova_new_node_on_device(context, &context->tables->List_int.growth);\n"
    "        if (context->failed)\n"
    "            return;\n"
    "        context->tables->List_int.nodes[link_3].tag = 1;\n"
    "        context->tables->List_int.nodes[link_3].u.Cons.e0 = X_data[i];\n"
    "        context->tables->List_int.nodes[link_3].u.Cons.e1_link = (nova_link)link_2;\n"
    "        t[i] = link_3;\n"
    "    }\n"
    "}\n"
    "\n",
};

static const char *const nova_kernel_names[1] = {"lists_value_kernel"};
static const char *const nova_kernel_places[1] = {"lists.nova:3:1"};
static cl_kernel nova_kernels[1];

static nova_device nova_program_device = {NOVA_EMPTY_POOL, nova_kernel_sources, 3, "-cl-std=CL1.2",
        nova_kernel_names, nova_kernel_places, nova_kernels, 1, false, NULL, NULL, NULL, NULL};

/* The parameters of a call of lists. */
struct lists_call {
    int64_t *result_len;
    nova_data_List_int **result;
    int64_t X_len;
    const int32_t *X;
};

static NOVA_THREAD_LOCAL char lists_message[NOVA_MESSAGE_SIZE];

static inline int64_t add_List_int(nova_context *context, int32_t tag, const char *place)
{
    List_int_table *table = &context->tables->List_int;
    int64_t link = table->count;
    if (link == table->room)
        table->nodes = (List_int_node *)nova_grow_nodes(context, &table->block, &table->room,
                table->count, 1, sizeof(List_int_node), place);
    table->nodes[link].tag = tag;
    table->count = link + 1;
    return link;
}

static nova_data_List_int export_List_int(nova_context *context, int64_t link)
{
    nova_start_export(&context->tables->List_int.exported, &context->tables->List_int.reach,
            context->tables->List_int.count);
    nova_data_List_int result;
    result.root = nova_export_node(context, &context->tables->List_int.exported, link);
    nova_block *List_int_block = NULL;
    int64_t List_int_done = 0;
    result.nodes = NULL;
    while (List_int_done < context->tables->List_int.exported.count) {
        result.nodes = (nova_node_List_int *)nova_reserve(context, &List_int_block, List_int_done,
                List_int_done + 1, sizeof(nova_node_List_int), NULL);
        List_int_node *node = &context->tables->List_int.nodes[nova_exported_node(&context->tables->List_int.exported,
                List_int_done)];
        nova_node_List_int *copy = &result.nodes[List_int_done];
        copy->tag = node->tag;
        switch (node->tag) {
        case 0:
            break;
        default:
            copy->u.Cons.e0 = node->u.Cons.e0;
            copy->u.Cons.e1 = nova_export_node(context, &context->tables->List_int.exported,
                    node->u.Cons.e1_link);
            break;
        }
        List_int_done++;
    }
    result.len = List_int_done;
    result.nodes = (nova_node_List_int *)nova_give(context, result.nodes, List_int_block,
            List_int_done, sizeof(nova_node_List_int));
    return result;
}

static void start_List_int(nova_context *context)
{
    add_List_int(context, 0, NULL);
}

static void lists_value(nova_context *context, int64_t X_length, int32_t *X_data,
                        int64_t *length_out, int64_t **data_link_out,
                        nova_block **data_link_block_out)
{
    nova_block *t_block;
    int64_t *t = (int64_t *)nova_fresh(context,
            nova_allocate(context, &t_block, X_length, sizeof(int64_t), "lists.nova:3:1"));
    if ((int64_t)((uint64_t)nova_minimum_i64(X_length, 128) * 3) >= 128) {
        /* lists.nova:3:1 */
        nova_argument arguments[3] = {nova_growing_table(&context->tables->List_int.sent,
                        &context->tables->List_int.block, &context->tables->List_int.count,
                        sizeof(List_int_node)), nova_array(context, X_data, sizeof(int32_t), false),
                nova_array(context, t, sizeof(int64_t), true)};
        nova_launch_with_nodes(context, 0, X_length, false, arguments, 3);
        context->tables->List_int.nodes = (List_int_node *)nova_nodes_of(context->tables->List_int.block);
        context->tables->List_int.room = nova_room_for_nodes(context->tables->List_int.block,
                sizeof(List_int_node));
    } else {
        nova_on_host(context, X_data, false);
        nova_on_host(context, t, true);
        for (int64_t i = 0; i < X_length; i++) {
            int64_t link_2 = 0;
            int64_t link_3 = add_List_int(context, 1, "lists.nova:3:18");
            context->tables->List_int.nodes[link_3].u.Cons.e0 = X_data[i];
            context->tables->List_int.nodes[link_3].u.Cons.e1_link = (nova_link)link_2;
            t[i] = link_3;
        }
    }
    *length_out = X_length;
    *data_link_out = t;
    *data_link_block_out = t_block;
}

static void lists_run(nova_context *context, void *argument)
{
    struct lists_call *call = (struct lists_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    struct nova_tables tables;
    memset(&tables, 0, sizeof(struct nova_tables));
    context->tables = &tables;
    start_List_int(context);
    nova_check_array(context, "X", call->X_len, call->X, sizeof(int32_t));
    nova_lend(context, call->X, call->X_len, sizeof(int32_t));
    int64_t value_length;
    int64_t *value_data_link;
    nova_block *value_data_link_block;
    lists_value(context, call->X_len, (int32_t *)nova_elements(call->X), &value_length,
            &value_data_link, &value_data_link_block);
    nova_check_kernels(context);
    nova_on_host(context, value_data_link, false);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    nova_data_List_int *data = *call->result == NULL
        ? (nova_data_List_int *)nova_allocate_result(context, value_length,
                sizeof(nova_data_List_int))
        : (nova_data_List_int *)nova_allocate_temporary(context, value_length,
                sizeof(nova_data_List_int));
    for (int64_t i = 0; i < value_length; i++)
        data[i] = export_List_int(context, value_data_link[i]);
    *call->result = (nova_data_List_int *)nova_put_structures(*call->result, data, value_length,
            sizeof(nova_data_List_int));
    *call->result_len = value_length;
}

int lists(int64_t *result_len, nova_data_List_int **result, int64_t X_len, const int32_t *X)
{
    struct lists_call call = {result_len, result, X_len, X};
    nova_device_call device_call = {&nova_program_device, lists_run, &call, true, false, NULL};
    return nova_call(nova_with_device, &device_call, lists_message);
}

NOVA_WEAK void nova_data_List_int_free(nova_data_List_int *data);

void lists_free_result(int64_t result_len, nova_data_List_int *result)
{
    int64_t held = nova_held(result, result_len, sizeof(nova_data_List_int));
    for (int64_t i = 0; i < held; i++)
        nova_data_List_int_free(&result[i]);
    free(result);
}

const char *lists_error(void)
{
    return lists_message;
}

NOVA_WEAK void nova_data_List_int_free(nova_data_List_int *data)
{
    free(data->nodes);
    data->nodes = NULL;
    data->len = 0;
}

static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    (void)first;
    (void)second;
    switch (site) {
    default:
        nova_fail(context, NOVA_ERROR_DEVICE, "a kernel failed");
        break;
    }
}
