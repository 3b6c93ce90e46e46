/* The program. */

/* What the chunks of a parallel loop in turned_value need. */
struct turned_value_chunk_data {
    int64_t X_length;
    float *X_e0;
    int64_t size;
    float *t;
};

/* The parameters of a call of turned. */
struct turned_call {
    int64_t *result_len;
    nova_tuple2_float_float **result;
    int64_t X_len;
    const nova_tuple2_float_float *X;
};

static NOVA_THREAD_LOCAL char turned_message[NOVA_MESSAGE_SIZE];

static void turned_value_chunk(nova_context *context, int64_t part, void *argument)
{
    (void)context;
    const struct turned_value_chunk_data *data = (const struct turned_value_chunk_data *)argument;
    int64_t X_length = data->X_length;
    float *X_e0 = data->X_e0;
    int64_t size = data->size;
    float *t = data->t;
    float *X_e1 = X_e0 + 1;
    float *t_2 = t + 1;
    int64_t first = (uint64_t)part * size;
    int64_t length_2 = nova_minimum_i64((int64_t)((uint64_t)X_length - first), size);
    /* turned.nova:2:1 */
    NOVA_INDEPENDENT
    for (int64_t i = 0; i < length_2; i++) {
        int64_t k = 2 * ((uint64_t)first + i);
        t[k] = X_e1[k];
        t_2[k] = X_e0[k];
    }
}

static void turned_value(nova_context *context, int64_t X_length, float *X_e0, int64_t *length_out,
                         float **e0_out, nova_block **e0_block_out, float **e1_out,
                         nova_block **e1_block_out)
{
    int64_t size = nova_maximum_i64(1024, (int64_t)((uint64_t)X_length + 255) / 256);
    int64_t count = nova_divide_i64(X_length + ((uint64_t)size - 1), size);
    nova_tuple2_float_float *result = (nova_tuple2_float_float *)nova_make_result(context, X_length,
            sizeof(nova_tuple2_float_float), true, "turned.nova:2:1");
    float *t = (float *)result;
    nova_block *t_block = NULL;
    float *t_2 = (float *)result + 1;
    nova_block *t_block_2 = NULL;
    /* turned.nova:2:1 */
    struct turned_value_chunk_data data_2 = {X_length, X_e0, size, t};
    nova_parallel(context, count, turned_value_chunk, &data_2);
    *length_out = X_length;
    *e0_out = t;
    *e0_block_out = t_block;
    *e1_out = t_2;
    *e1_block_out = t_block_2;
}

static void turned_run(nova_context *context, void *argument)
{
    struct turned_call *call = (struct turned_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    NOVA_CHECK_SIZE(nova_tuple2_float_float, 8);
    nova_result result;
    nova_open_result(context, &result, *call->result, *call->result_len,
            sizeof(nova_tuple2_float_float));
    nova_check_array(context, "X", call->X_len, call->X, sizeof(nova_tuple2_float_float));
    NOVA_CHECK_SIZE(nova_tuple2_float_float, 8);
    nova_keep_apart(context, sizeof(nova_tuple2_float_float), call->X, call->X_len,
            sizeof(nova_tuple2_float_float));
    int64_t value_length;
    float *value_data_e0;
    nova_block *value_data_e0_block;
    float *value_data_e1;
    nova_block *value_data_e1_block;
    turned_value(context, call->X_len, (float *)nova_elements(call->X), &value_length,
            &value_data_e0, &value_data_e0_block, &value_data_e1, &value_data_e1_block);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (nova_tuple2_float_float *)nova_give_result(context, *call->result,
            value_length, sizeof(nova_tuple2_float_float));
    *call->result_len = value_length;
}

int turned(int64_t *result_len, nova_tuple2_float_float **result, int64_t X_len,
           const nova_tuple2_float_float *X)
{
    struct turned_call call = {result_len, result, X_len, X};
    return nova_call(turned_run, &call, turned_message);
}

const char *turned_error(void)
{
    return turned_message;
}
