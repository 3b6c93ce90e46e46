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

/* The kernels and what they use. */
#define NOVA_ON_DEVICE
namespace nova_kernels
{

/* A link as nodes hold it, the largest number of nodes of a type, and the end of the message of the error
 * that there are more. */
typedef int32_t nova_link;
#define NOVA_MOST_NODES INT32_MAX
#define NOVA_MORE_NODES ""

/* Reads memory that another block may write at the same time; orders nothing else. A loop that waits
 * for a value reads it so, then calls __threadfence() before it reads the data that the value
 * announces. */
#ifndef nova_load
template <typename T> static __device__ inline T nova_load(const T *address)
{
    return *(const volatile T *)address;
}
#endif

/* Loops that most threads run only once are not unrolled: their number of iterations would need a
 * division of 64 bits. */
#ifdef __NVCC__
#define NOVA_NOT_UNROLLED _Pragma("unroll 1")
#else
#define NOVA_NOT_UNROLLED
#endif

/* A loop over 0 … count - 1 whose iterations the threads share. */
#define NOVA_SHARED_LOOP(variable, count)                                                          \
    NOVA_NOT_UNROLLED                                                                              \
    for (int64_t variable = NOVA_THREAD; variable < (count);                                       \
         variable += (int64_t)gridDim.x * blockDim.x)

/* The words of the files of device/ for kernels, as they are written in CUDA. */
#define NOVA_GLOBAL
#define NOVA_LOCAL
#define NOVA_IN_KERNELS static __device__ inline
#define NOVA_ANY_TYPE __attribute__((may_alias))
#define NOVA_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define NOVA_THREAD_OF_GROUP threadIdx.x
#define NOVA_BARRIER() __syncthreads()
/* Accesses to words of 32 bits that other threads may write at the same time. */
#define NOVA_READ_GLOBAL(at) nova_load(at)
#define NOVA_READ_LOCAL(at) nova_load(at)
#define NOVA_LOWER_LOCAL(at, value) atomicMin(at, value)
#define NOVA_COMPARE_AND_SWAP(at, old, value) atomicCAS(at, old, value)
#define NOVA_ADD_GLOBAL(at, value) atomicAdd(at, value)

/* The state of a thread for failures, and its memory. */
typedef struct nova_context {
    NOVA_GLOBAL nova_failure *failure;
    bool failed; /* the thread must leave its function */
    /* For work-groups whose threads wait for each other: the first phase, between two barriers, in
     * which a thread has failed; and the phase of this thread. */
    NOVA_LOCAL int *group;
    int phase;
    NOVA_GLOBAL uint8_t *heap; /* the thread's slice of the memory of threads, */
    int64_t size, used;        /* its bytes, and the bytes that blocks have taken; */
    int64_t free;              /* the offset of the first free block in it, or -1 */
    const struct nova_device_tables *tables; /* nodes of recursive data */
} nova_context;

/* True if a thread of this kernel or of an earlier one has failed. */
NOVA_IN_KERNELS bool nova_has_failed(NOVA_GLOBAL const nova_failure *failure)
{
    return NOVA_READ_GLOBAL(&failure->taken) != 0;
}

/* Makes the thread fail at a check; the function that it is in returns. */
NOVA_IN_KERNELS void nova_fail_at(nova_context *context, int32_t site, int64_t first,
                                  int64_t second)
{
    context->failed = true;
    if (NOVA_COMPARE_AND_SWAP((NOVA_GLOBAL uint32_t *)&context->failure->taken, 0u, 1u) == 0) {
        context->failure->site = site;
        context->failure->first = first;
        context->failure->second = second;
    }
    if (context->group != 0)
        NOVA_LOWER_LOCAL(context->group, context->phase);
}

/* A node table that kernels append to. */
typedef struct nova_device_nodes {
    NOVA_GLOBAL void *nodes;
    NOVA_GLOBAL int64_t *next; /* the index of the next node, in the lower half */
    int64_t capacity;          /* in nodes */
    int64_t number;            /* among the growing tables of a kernel */
} nova_device_nodes;

/* The index of a new node. Fails the kernel if the table has no room for it. Each thread fails at most
 * once, so that the indices that threads take past the end of the table do not exceed 32 bits. */
NOVA_IN_KERNELS int64_t nova_new_node_on_device(nova_context *context,
                                                const nova_device_nodes *nodes)
{
    int64_t link =
        (int64_t)(uint32_t)NOVA_ADD_GLOBAL((NOVA_GLOBAL uint32_t *)nodes->next, 1u);
    if (link >= nodes->capacity)
        nova_fail_at(context, NOVA_NODES_ARE_FULL, nodes->number, link + 1);
    return link;
}

struct nova_device_tables {
    struct {
        List_int_node *nodes;
        nova_device_nodes growth;
    } List_int;
};

static __global__ __launch_bounds__(NOVA_BLOCK_SIZE, NOVA_LEAST_BLOCKS) void lists_value_kernel(int64_t count,
                                                                                                nova_failure *failure,
                                                                                                const nova_device_nodes List_int_growth,
                                                                                                int32_t *X_data,
                                                                                                int64_t *t)
{
    struct nova_device_tables tables;
    tables.List_int.nodes = (List_int_node *)List_int_growth.nodes;
    tables.List_int.growth = List_int_growth;
    if (nova_has_failed(failure))
        return;
    nova_context state = {failure, false, 0, 0, 0, 0, 0, 0, &tables};
    nova_context *context = &state;
    NOVA_SHARED_LOOP(i, count) {
        int64_t link_2 = 0;
        int64_t link_3 = nova_new_node_on_device(context, &context->tables->List_int.growth);
        if (context->failed)
            return;
        context->tables->List_int.nodes[link_3].tag = 1;
        context->tables->List_int.nodes[link_3].u.Cons.e0 = X_data[i];
        context->tables->List_int.nodes[link_3].u.Cons.e1_link = (nova_link)link_2;
        t[i] = link_3;
    }
}

} /* nova_kernels */
#undef NOVA_ON_DEVICE

static nova_device nova_program_device = {NOVA_EMPTY_POOL, false, 0, 0, 0, NULL};

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
        nova_launch_with_nodes(context,
                NOVA_KERNEL(nova_kernels::lists_value_kernel, "lists.nova:3:1"), X_length, false,
                arguments, 3);
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
