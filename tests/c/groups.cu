/* The program. */

/* The kernels and what they use. */
#define NOVA_ON_DEVICE
namespace nova_kernels
{

/* NOVA_SHARED(type, name, count); declares an uninitialised array of the block.
 * NOVA_DYNAMIC_SHARED(type, name); declares a pointer to the shared memory of the launch. */
#ifndef NOVA_SHARED
#define NOVA_SHARED(type, name, count) __shared__ type name[count]
#define NOVA_DYNAMIC_SHARED(type, name)                                                            \
    extern __shared__ __align__(16) unsigned char nova_dynamic_shared[];                           \
    type *name = (type *)nova_dynamic_shared
#endif

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

/* A loop whose iterations the blocks share; all threads of a block run each of its iterations. */
#define NOVA_GROUP_LOOP(variable, count)                                                           \
    NOVA_NOT_UNROLLED                                                                              \
    for (int64_t variable = (int64_t)blockIdx.x; variable < (count);                               \
         variable += (int64_t)gridDim.x)

/* A loop whose iterations the threads of a block share. */
#define NOVA_LOCAL_LOOP(variable, count)                                                           \
    for (int64_t variable = (int64_t)threadIdx.x; variable < (count);                              \
         variable += (int64_t)blockDim.x)

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

/* Begins a work-group. True if an earlier kernel or another group has failed before; all threads get
 * the same answer. */
NOVA_IN_KERNELS bool nova_group_begins_failed(nova_context *context)
{
    if (NOVA_THREAD_OF_GROUP == 0)
        *context->group = nova_has_failed(context->failure) ? -1 : INT32_MAX;
    NOVA_BARRIER();
    return NOVA_READ_LOCAL(context->group) < 0;
}

/* Called after a barrier. True if a thread of the group has failed before it. Threads that have
 * continued may fail meanwhile. That counts only after the next barrier, so that all threads get the
 * same answer. */
NOVA_IN_KERNELS bool nova_group_has_failed(nova_context *context)
{
    context->phase++;
    return NOVA_READ_LOCAL(context->group) < context->phase;
}

static __global__ __launch_bounds__(NOVA_BLOCK_SIZE, NOVA_LEAST_BLOCKS) void groups_value_kernel(int64_t count,
                                                                                                 nova_failure *failure,
                                                                                                 float alpha,
                                                                                                 int64_t A_dim1,
                                                                                                 float *A_data,
                                                                                                 float *x_data,
                                                                                                 float beta,
                                                                                                 float *y_data,
                                                                                                 int64_t x_dim1,
                                                                                                 int64_t x_dim0,
                                                                                                 float *t,
                                                                                                 int64_t t_2_offset)
{
    NOVA_DYNAMIC_SHARED(unsigned char, shared);
    float *t_2 = (float *)(shared + t_2_offset);
    NOVA_SHARED(int, failed_in, 1);
    nova_context state = {failure, false, failed_in, 0, 0, 0, 0, 0, 0};
    nova_context *context = &state;
    if (nova_group_begins_failed(context))
        return;
    NOVA_GROUP_LOOP(i, count) {
        float b = y_data[i];
        __syncthreads();
        if (nova_group_has_failed(context))
            return;
        /* groups.nova:7:32 */
        NOVA_LOCAL_LOOP(i_2, x_dim0) {
            int64_t t_3 = (uint64_t)i_2 * x_dim1;
            float a = 0.0f;
            /* groups.nova:5:22 */
            for (int64_t i_3 = 0; i_3 < x_dim1; i_3++) {
                int64_t t_4 = (uint64_t)t_3 + i_3;
                a += A_data[(int64_t)((uint64_t)i * A_dim1 + t_4)] * x_data[t_4];
            }
            if (!(a >= 0.0f)) {
                nova_fail_at(context, 0, 0, 0);
                goto after;
            }
            t_2[i_2] = a;
        }
        after:;
        context->failed = false;
        float x = 0.0f;
        __syncthreads();
        if (nova_group_has_failed(context))
            return;
        /* groups.nova:7:5 */
        for (int64_t i_4 = 0; i_4 < x_dim0; i_4++)
            x += t_2[i_4];
        /* groups.nova:8:1 */
        NOVA_LOCAL_LOOP(first, 1)
            t[i] = alpha * x + beta * b;
    }
}

} /* nova_kernels */
#undef NOVA_ON_DEVICE

static nova_device nova_program_device = {NOVA_EMPTY_POOL, false, 0, 0, 0, NULL};

/* The parameters of a call of groups. */
struct groups_call {
    int64_t *result_len;
    float **result;
    float alpha;
    int64_t A_dim0;
    int64_t A_dim1;
    const float *A;
    int64_t x_len;
    const float *x;
    float beta;
    int64_t y_len;
    const float *y;
    int32_t each;
};

static NOVA_THREAD_LOCAL char groups_message[NOVA_MESSAGE_SIZE];

struct groups_device_call {
    int64_t *result_len;
    float **result;
    float alpha;
    int64_t A_dim0;
    int64_t A_dim1;
    const float *A;
    int64_t x_len;
    const float *x;
    float beta;
    int64_t y_len;
    const float *y;
    int32_t each;
};

NOVA_NEVER_RETURNS static void nova_length_error(nova_context *context, const char *place,
                                                 int64_t first, int64_t second)
{
    nova_fail(context, 1, "%s: lengths differ: %lld and %lld", place, (long long)first,
            (long long)second);
}

NOVA_NEVER_RETURNS static void nova_division_error(nova_context *context, const char *place)
{
    nova_fail(context, 1, "%s: division by zero", place);
}

NOVA_NEVER_RETURNS static void nova_split_error(nova_context *context, const char *place,
                                                int64_t first, int64_t second)
{
    nova_fail(context, 1, "%s: rows of %lld elements for a vector of %lld", place, (long long)first,
            (long long)second);
}

static void groups_value(nova_context *context, float alpha, int64_t A_dim0, int64_t A_dim1,
                         float *A_data, int64_t x_length, float *x_data, float beta,
                         int64_t y_length, float *y_data, int32_t each, int64_t *length_out,
                         float **data_out, nova_block **data_block_out)
{
    if (A_dim0 != y_length)
        nova_length_error(context, "groups.nova:8:1", A_dim0, y_length);
    int64_t x_dim1 = each;
    bool empty = A_dim0 == 0;
    if (!empty && A_dim1 != x_length)
        nova_length_error(context, "groups.nova:7:62", A_dim1, x_length);
    if (!empty && x_dim1 <= 0)
        nova_split_error(context, "groups.nova:7:50", x_dim1, A_dim1);
    int64_t x_dim0 = empty ? 0 : nova_divide_i64(A_dim1, x_dim1);
    if (!empty && (empty ? 0 : nova_remainder_i64(A_dim1, x_dim1)) != 0)
        nova_split_error(context, "groups.nova:7:50", x_dim1, A_dim1);
    float *t = (float *)nova_fresh(context,
            nova_make_result(context, A_dim0, sizeof(float), false, "groups.nova:8:1"));
    nova_block *t_block = NULL;
    /* groups.nova:8:1 */
    nova_argument arguments[10] = {nova_value(&alpha, sizeof(float)),
            nova_value(&A_dim1, sizeof(int64_t)), nova_array(context, A_data, sizeof(float), false),
            nova_array(context, x_data, sizeof(float), false), nova_value(&beta, sizeof(float)),
            nova_array(context, y_data, sizeof(float), false), nova_value(&x_dim1, sizeof(int64_t)),
            nova_value(&x_dim0, sizeof(int64_t)), nova_array(context, t, sizeof(float), true),
            nova_local_array(context, x_dim0, sizeof(float))};
    nova_launch_groups(context, NOVA_KERNEL(nova_kernels::groups_value_kernel, "groups.nova:8:1"),
            A_dim0, x_dim0, true, arguments, 10);
    *length_out = A_dim0;
    *data_out = t;
    *data_block_out = t_block;
}

static void groups_run(nova_context *context, void *argument)
{
    struct groups_call *call = (struct groups_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    nova_result result;
    nova_open_result(context, &result, *call->result, *call->result_len, sizeof(float));
    int64_t A_count = 1;
    A_count = nova_times_extent(context, "A", A_count, call->A_dim0);
    A_count = nova_times_extent(context, "A", A_count, call->A_dim1);
    nova_check_array(context, "A", A_count, call->A, sizeof(float));
    nova_lend(context, call->A, A_count, sizeof(float));
    nova_keep_apart(context, sizeof(float), call->A, A_count, sizeof(float));
    nova_check_array(context, "x", call->x_len, call->x, sizeof(float));
    nova_lend(context, call->x, call->x_len, sizeof(float));
    nova_keep_apart(context, sizeof(float), call->x, call->x_len, sizeof(float));
    nova_check_array(context, "y", call->y_len, call->y, sizeof(float));
    nova_lend(context, call->y, call->y_len, sizeof(float));
    nova_keep_apart(context, sizeof(float), call->y, call->y_len, sizeof(float));
    int64_t value_length;
    float *value_data;
    nova_block *value_data_block;
    groups_value(context, call->alpha, call->A_dim0, call->A_dim1, (float *)nova_elements(call->A),
            call->x_len, (float *)nova_elements(call->x), call->beta, call->y_len,
            (float *)nova_elements(call->y), call->each, &value_length, &value_data,
            &value_data_block);
    nova_check_kernels(context);
    nova_bring_result(context, value_data);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (float *)nova_give_result(context, *call->result, value_length, sizeof(float));
    *call->result_len = value_length;
}

int groups(int64_t *result_len, float **result, float alpha, int64_t A_dim0, int64_t A_dim1,
           const float *A, int64_t x_len, const float *x, float beta, int64_t y_len, const float *y,
           int32_t each)
{
    struct groups_call call = {result_len, result, alpha, A_dim0, A_dim1, A, x_len, x, beta, y_len,
            y, each};
    nova_device_call device_call = {&nova_program_device, groups_run, &call, true, false, NULL};
    return nova_call(nova_with_device, &device_call, groups_message);
}

static void groups_device_run(nova_context *context, void *argument)
{
    struct groups_device_call *outer = (struct groups_device_call *)argument;
    nova_check_result(context, "result_len", outer->result_len);
    nova_check_result(context, "result", outer->result);
    float *result = (float *)nova_room_on_device(context, *outer->result, *outer->result_len,
            sizeof(float), false);
    int64_t A_count = 1;
    A_count = nova_times_extent(context, "A", A_count, outer->A_dim0);
    A_count = nova_times_extent(context, "A", A_count, outer->A_dim1);
    const float *A = (const float *)nova_lend_on_device(context, "A", outer->A, A_count,
            sizeof(float), false);
    const float *x = (const float *)nova_lend_on_device(context, "x", outer->x, outer->x_len,
            sizeof(float), false);
    const float *y = (const float *)nova_lend_on_device(context, "y", outer->y, outer->y_len,
            sizeof(float), false);
    struct groups_call call = {outer->result_len, &result, outer->alpha, outer->A_dim0,
            outer->A_dim1, A, outer->x_len, x, outer->beta, outer->y_len, y, outer->each};
    groups_run(context, &call);
    nova_settle_result(context, result, *outer->result_len, sizeof(float));
    *outer->result = (float *)nova_hand_over(context, result, *outer->result);
}

int groups_device(int64_t *result_len, float **result, float alpha, int64_t A_dim0, int64_t A_dim1,
                  const float *A, int64_t x_len, const float *x, float beta, int64_t y_len,
                  const float *y, int32_t each, void *stream)
{
    struct groups_device_call call = {result_len, result, alpha, A_dim0, A_dim1, A, x_len, x, beta,
            y_len, y, each};
    nova_device_call device_call = {&nova_program_device, groups_device_run, &call, true, true,
            stream};
    return nova_call(nova_with_device, &device_call, groups_message);
}

const char *groups_error(void)
{
    return groups_message;
}

static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    (void)first;
    (void)second;
    switch (site) {
    case 0:
        nova_division_error(context, "groups.nova:7:32");
        break;
    default:
        nova_fail(context, NOVA_ERROR_DEVICE, "a kernel failed");
        break;
    }
}
