/* The program. */

/* The parameters of a call of dot. */
struct dot_call {
    float *result;
    int64_t X_len;
    const float *X;
    int64_t Y_len;
    const float *Y;
};

static NOVA_THREAD_LOCAL char dot_message[NOVA_MESSAGE_SIZE];

NOVA_NEVER_RETURNS static void nova_length_error(nova_context *context, const char *place,
                                                 int64_t first, int64_t second)
{
    nova_fail(context, 1, "%s: lengths differ: %lld and %lld", place, (long long)first,
            (long long)second);
}

static float dot_value(nova_context *context, int64_t X_length, float *X_data, int64_t Y_length,
                       float *Y_data)
{
    if (X_length != Y_length)
        nova_length_error(context, "dot.nova:2:13", X_length, Y_length);
    nova_block *t_block;
    float *t_2 = (float *)nova_allocate(context, &t_block, X_length, sizeof(float),
            "dot.nova:2:13");
    /* dot.nova:2:13 */
    for (int64_t i = 0; i < X_length; i++)
        t_2[i] = X_data[i] * Y_data[i];
    float t_3 = 0.0f;
    /* dot.nova:2:1 */
    for (int64_t i_2 = 0; i_2 < X_length; i_2++)
        t_3 += t_2[i_2];
    nova_release(context, t_block);
    return t_3;
}

static void dot_run(nova_context *context, void *argument)
{
    struct dot_call *call = (struct dot_call *)argument;
    nova_check_result(context, "result", call->result);
    nova_check_array(context, "X", call->X_len, call->X, sizeof(float));
    nova_check_array(context, "Y", call->Y_len, call->Y, sizeof(float));
    float value = dot_value(context, call->X_len, (float *)nova_elements(call->X), call->Y_len,
            (float *)nova_elements(call->Y));
    *call->result = value;
}

int dot(float *result, int64_t X_len, const float *X, int64_t Y_len, const float *Y)
{
    struct dot_call call = {result, X_len, X, Y_len, Y};
    return nova_call(dot_run, &call, dot_message);
}

const char *dot_error(void)
{
    return dot_message;
}
