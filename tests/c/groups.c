/* The program. */

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
    "/* A loop whose iterations the work-groups share; all threads of a group run each of its iterations. */\n"
    "#define NOVA_GROUP_LOOP(variable, count) \\\n"
    "    for (int64_t variable = (int64_t)get_group_id(0); variable < (count); \\\n"
    "         variable += (int64_t)get_num_groups(0))\n"
    "\n"
    "/* A loop whose iterations the threads of a work-group share. All threads run the same number of\n"
    " * iterations; in the last one some have nothing to do. Where threads wait for each other before and\n"
    " * after loops with fewer iterations for some, PoCL 3.1 loses the stores of such loops. */\n"
    "#define NOVA_LOCAL_LOOP(variable, count) \\\n"
    "    for (int64_t variable = (int64_t)get_local_id(0); variable - (int64_t)get_local_id(0) < (count); \\\n"
    "         variable += (int64_t)get_local_size(0)) \\\n"
    "        if (variable >= (count)) { \\\n"
    "        } else\n"
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
    "/* The state of a thread for failures, and its memory. */\n"
    "typedef struct nova_context {\n"
    "    NOVA_GLOBAL nova_failure *failure;\n"
    "    bool failed; /* the thread must leave its function */\n"
    "    /* For work-groups whose threads wait for each other: the first phase, between two barriers, in\n"
    "     * which a thread has failed; and the phase of this thread. */\n",
    "    NOVA_LOCAL int *group;\n"
    "    int phase;\n"
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
    "/* Begins a work-group. True if an earlier kernel or another group has failed before; all threads get\n"
    " * the same answer. */\n"
    "NOVA_IN_KERNELS bool nova_group_begins_failed(nova_context *context)\n"
    "{\n"
    "    if (NOVA_THREAD_OF_GROUP == 0)\n"
    "        *context->group = nova_has_failed(context->failure) ? -1 : INT32_MAX;\n"
    "    NOVA_BARRIER();\n"
    "    return NOVA_READ_LOCAL(context->group) < 0;\n"
    "}\n"
    "\n"
    "/* Called after a barrier. True if a thread of the group has failed before it. Threads that have\n"
    " * continued may fail meanwhile. That counts only after the next barrier, so that all threads get the\n"
    " * same answer. */\n"
    "NOVA_IN_KERNELS bool nova_group_has_failed(nova_context *context)\n"
    "{\n"
    "    context->phase++;\n"
    "    return NOVA_READ_LOCAL(context->group) < context->phase;\n"
    "}\n"
    "\n"
    "__kernel void groups_value_kernel(int64_t count, __global nova_failure *failure, float alpha,\n"
    "                                  int64_t A_dim1, __global float *A_data_base,\n"
    "                                  int64_t A_data_offset, __global float *x_data_base,\n"
    "                                  int64_t x_data_offset, float beta, __global float *y_data_base,\n"
    "                                  int64_t y_data_offset, int64_t x_dim1, int64_t x_dim0,\n"
    "                                  __global float *t_base, int64_t t_offset, __local float *t_2)\n"
    "{\n"
    "    __global float *A_data = A_data_base + A_data_offset;\n"
    "    __global float *x_data = x_data_base + x_data_offset;\n"
    "    __global float *y_data = y_data_base + y_data_offset;\n"
    "    __global float *t = t_base + t_offset;\n"
    "    __local int failed_in;\n"
    "    nova_context state = {failure, false, &failed_in, 0, 0, 0, 0, 0, 0};\n"
    "    nova_context *context = &state;\n"
    "    if (nova_group_begins_failed(context))\n"
    "        return;\n"
    "    NOVA_GROUP_LOOP(i, count) {\n"
    "        float b = y_data[i];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n",
    "        if (nova_group_has_failed(context))\n"
    "            return;\n"
    "        /* groups.nova:7:32 */\n"
    "        NOVA_LOCAL_LOOP(i_2, x_dim0) {\n"
    "            int64_t t_3 = (uint64_t)i_2 * x_dim1;\n"
    "            float a = 0.0f;\n"
    "            /* groups.nova:5:22 */\n"
    "            for (int64_t i_3 = 0; i_3 < x_dim1; i_3++) {\n"
    "                int64_t t_4 = (uint64_t)t_3 + i_3;\n"
    "                a += A_data[(int64_t)((uint64_t)i * A_dim1 + t_4)] * x_data[t_4];\n"
    "            }\n"
    "            if (!(a >= 0.0f)) {\n"
    "                nova_fail_at(context, 0, 0, 0);\n"
    "                goto after;\n"
    "            }\n"
    "            t_2[i_2] = a;\n"
    "        }\n"
    "        after:;\n"
    "        context->failed = false;\n"
    "        float x = 0.0f;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "        if (nova_group_has_failed(context))\n"
    "            return;\n"
    "        /* groups.nova:7:5 */\n"
    "        for (int64_t i_4 = 0; i_4 < x_dim0; i_4++)\n"
    "            x += t_2[i_4];\n"
    "        /* groups.nova:8:1 */\n"
    "        NOVA_LOCAL_LOOP(first, 1)\n"
    "            t[i] = alpha * x + beta * b;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    }\n"
    "}\n"
    "\n",
};

static const char *const nova_kernel_names[1] = {"groups_value_kernel"};
static const char *const nova_kernel_places[1] = {"groups.nova:8:1"};
static cl_kernel nova_kernels[1];

static nova_device nova_program_device = {NOVA_EMPTY_POOL, nova_kernel_sources, 3, "-cl-std=CL1.2",
        nova_kernel_names, nova_kernel_places, nova_kernels, 1, false, NULL, NULL, NULL, NULL};

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
    struct _cl_mem **result;
    float alpha;
    int64_t A_dim0;
    int64_t A_dim1;
    struct _cl_mem *A;
    int64_t x_len;
    struct _cl_mem *x;
    float beta;
    int64_t y_len;
    struct _cl_mem *y;
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
    nova_launch_groups(context, 0, A_dim0, x_dim0, true, arguments, 10);
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
    *outer->result = (struct _cl_mem *)nova_hand_over(context, result, *outer->result);
}

int groups_device(int64_t *result_len, struct _cl_mem **result, float alpha, int64_t A_dim0,
                  int64_t A_dim1, struct _cl_mem *A, int64_t x_len, struct _cl_mem *x, float beta,
                  int64_t y_len, struct _cl_mem *y, int32_t each, void *stream)
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
