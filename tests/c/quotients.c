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
    "/* Quotients, truncated; the smallest number divided by -1 is itself. */\n"
    "static inline int32_t nova_divide_i32(int32_t a, int32_t b)\n"
    "{\n"
    "    return b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;\n"
    "}\n"
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
    "/* The state of a thread for failures, and its memory. */\n"
    "typedef struct nova_context {\n"
    "    NOVA_GLOBAL nova_failure *failure;\n"
    "    bool failed; /* the thread must leave its function */\n"
    "    /* For work-groups whose threads wait for each other: the first phase, between two barriers, in\n"
    "     * which a thread has failed; and the phase of this thread. */\n"
    "    NOVA_LOCAL int *group;\n"
    "    int phase;\n"
    "    NOVA_GLOBAL uint8_t *heap; /* the thread's slice of the memory of threads, */\n"
    "    int64_t size, used;        /* its bytes, and the bytes that blocks have taken; */\n"
    "    int64_t free;              /* the offset of the first free block in it, or -1 */\n"
    "    const struct nova_device_tables *tables; /* nodes of recursive data */\n"
    "} nova_context;\n"
    "\n",
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
    "static int32_t quotient_on_device(nova_context *context, int32_t x, int32_t y)\n"
    "{\n"
    "    if (y == 0) {\n"
    "        nova_fail_at(context, 0, 0, 0);\n"
    "        return 0;\n"
    "    }\n"
    "    return nova_divide_i32(x, y);\n"
    "}\n"
    "\n"
    "__kernel void quotients_value_kernel(int64_t count, __global nova_failure *failure,\n"
    "                                     __global int32_t *X_data_base, int64_t X_data_offset,\n"
    "                                     __global int32_t *Y_data_base, int64_t Y_data_offset,\n"
    "                                     __global int32_t *t_base, int64_t t_offset)\n"
    "{\n"
    "    __global int32_t *X_data = X_data_base + X_data_offset;\n"
    "    __global int32_t *Y_data = Y_data_base + Y_data_offset;\n"
    "    __global int32_t *t = t_base + t_offset;\n"
    "    if (nova_has_failed(failure))\n"
    "        return;\n"
    "    nova_context state = {failure, false, 0, 0, 0, 0, 0, 0, 0};\n"
    "    nova_context *context = &state;\n"
    "    NOVA_SHARED_LOOP(i, count) {\n"
    "        int32_t q = quotient_on_device(context, X_data[i], Y_data[i]);\n"
    "        if (context->failed)\n"
    "            return;\n"
    "        t[i] = q;\n"
    "    }\n"
    "}\n"
    "\n",
};

static const char *const nova_kernel_names[1] = {"quotients_value_kernel"};
static const char *const nova_kernel_places[1] = {"quotients.nova:2:1"};
static cl_kernel nova_kernels[1];

static nova_device nova_program_device = {NOVA_EMPTY_POOL, nova_kernel_sources, 2, "-cl-std=CL1.2",
        nova_kernel_names, nova_kernel_places, nova_kernels, 1, false, NULL, NULL, NULL, NULL};

/* The parameters of a call of quotients. */
struct quotients_call {
    int64_t *result_len;
    int32_t **result;
    int64_t X_len;
    const int32_t *X;
    int64_t Y_len;
    const int32_t *Y;
};

static NOVA_THREAD_LOCAL char quotients_message[NOVA_MESSAGE_SIZE];

struct quotients_device_call {
    int64_t *result_len;
    struct _cl_mem **result;
    int64_t X_len;
    struct _cl_mem *X;
    int64_t Y_len;
    struct _cl_mem *Y;
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

static void quotients_value(nova_context *context, int64_t X_length, int32_t *X_data,
                            int64_t Y_length, int32_t *Y_data, int64_t *length_out,
                            int32_t **data_out, nova_block **data_block_out)
{
    if (X_length != Y_length)
        nova_length_error(context, "quotients.nova:2:1", X_length, Y_length);
    nova_block *t_block;
    int32_t *t = (int32_t *)nova_fresh(context,
            nova_allocate(context, &t_block, X_length, sizeof(int32_t), "quotients.nova:2:1"));
    /* quotients.nova:2:1 */
    nova_argument arguments[3] = {nova_array(context, X_data, sizeof(int32_t), false),
            nova_array(context, Y_data, sizeof(int32_t), false),
            nova_array(context, t, sizeof(int32_t), true)};
    nova_launch(context, 0, X_length, true, arguments, 3);
    if (X_length > 0) {
        nova_on_host(context, t, true);
        t[0] = -(uint32_t)t[0];
    }
    *length_out = X_length;
    *data_out = t;
    *data_block_out = t_block;
}

static void quotients_run(nova_context *context, void *argument)
{
    struct quotients_call *call = (struct quotients_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    nova_check_array(context, "X", call->X_len, call->X, sizeof(int32_t));
    nova_lend(context, call->X, call->X_len, sizeof(int32_t));
    nova_check_array(context, "Y", call->Y_len, call->Y, sizeof(int32_t));
    nova_lend(context, call->Y, call->Y_len, sizeof(int32_t));
    int64_t value_length;
    int32_t *value_data;
    nova_block *value_data_block;
    quotients_value(context, call->X_len, (int32_t *)nova_elements(call->X), call->Y_len,
            (int32_t *)nova_elements(call->Y), &value_length, &value_data, &value_data_block);
    nova_check_kernels(context);
    nova_bring_result(context, value_data);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (int32_t *)nova_put(context, *call->result, value_data, value_data_block,
            value_length, sizeof(int32_t));
    *call->result_len = value_length;
}

int quotients(int64_t *result_len, int32_t **result, int64_t X_len, const int32_t *X, int64_t Y_len,
              const int32_t *Y)
{
    struct quotients_call call = {result_len, result, X_len, X, Y_len, Y};
    nova_device_call device_call = {&nova_program_device, quotients_run, &call, true, false, NULL};
    return nova_call(nova_with_device, &device_call, quotients_message);
}

static void quotients_device_run(nova_context *context, void *argument)
{
    struct quotients_device_call *outer = (struct quotients_device_call *)argument;
    nova_check_result(context, "result_len", outer->result_len);
    nova_check_result(context, "result", outer->result);
    int32_t *result = (int32_t *)nova_room_on_device(context, *outer->result, *outer->result_len,
            sizeof(int32_t), false);
    const int32_t *X = (const int32_t *)nova_lend_on_device(context, "X", outer->X, outer->X_len,
            sizeof(int32_t), false);
    const int32_t *Y = (const int32_t *)nova_lend_on_device(context, "Y", outer->Y, outer->Y_len,
            sizeof(int32_t), false);
    struct quotients_call call = {outer->result_len, &result, outer->X_len, X, outer->Y_len, Y};
    quotients_run(context, &call);
    nova_settle_result(context, result, *outer->result_len, sizeof(int32_t));
    *outer->result = (struct _cl_mem *)nova_hand_over(context, result, *outer->result);
}

int quotients_device(int64_t *result_len, struct _cl_mem **result, int64_t X_len, struct _cl_mem *X,
                     int64_t Y_len, struct _cl_mem *Y, void *stream)
{
    struct quotients_device_call call = {result_len, result, X_len, X, Y_len, Y};
    nova_device_call device_call = {&nova_program_device, quotients_device_run, &call, true, true,
            stream};
    return nova_call(nova_with_device, &device_call, quotients_message);
}

const char *quotients_error(void)
{
    return quotients_message;
}

static void nova_report(nova_context *context, int32_t site, int64_t first, int64_t second)
{
    (void)first;
    (void)second;
    switch (site) {
    case 0:
        nova_division_error(context, "quotients.nova:2:20");
        break;
    default:
        nova_fail(context, NOVA_ERROR_DEVICE, "a kernel failed");
        break;
    }
}
