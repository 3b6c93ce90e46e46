/* The program. */

/* What the chunks of a parallel loop in halves_value need. */
struct halves_value_chunk_data {
    int64_t X_length;
    double *X_data;
    int64_t size;
    double *t;
};

/* The parameters of a call of halves. */
struct halves_call {
    int64_t *result_len;
    double **result;
    int64_t X_len;
    const double *X;
};

static NOVA_THREAD_LOCAL char halves_message[NOVA_MESSAGE_SIZE];

static void halves_value_chunk(nova_context *context, int64_t part, void *argument)
{
    (void)context;
    const struct halves_value_chunk_data *data = (const struct halves_value_chunk_data *)argument;
    int64_t X_length = data->X_length;
    double *X_data = data->X_data;
    int64_t size = data->size;
    double *t = data->t;
    int64_t first = (uint64_t)part * size;
    int64_t length_2 = nova_minimum_i64((int64_t)((uint64_t)X_length - first), size);
    /* halves.nova:2:1 */
    NOVA_INDEPENDENT
    for (int64_t i = 0; i < length_2; i++) {
        int64_t k = (uint64_t)first + i;
        t[k] = 0.5 * X_data[k];
    }
}

static void halves_value(nova_context *context, int64_t X_length, double *X_data,
                         int64_t *length_out, double **data_2_out, nova_block **data_block_out)
{
    int64_t size = nova_maximum_i64(1024, (int64_t)((uint64_t)X_length + 255) / 256);
    int64_t count = nova_divide_i64(X_length + ((uint64_t)size - 1), size);
    double *t = (double *)nova_make_result(context, X_length, sizeof(double), true,
            "halves.nova:2:1");
    nova_block *t_block = NULL;
    /* halves.nova:2:1 */
    struct halves_value_chunk_data data_3 = {X_length, X_data, size, t};
    nova_parallel(context, count, halves_value_chunk, &data_3);
    *length_out = X_length;
    *data_2_out = t;
    *data_block_out = t_block;
}

static void halves_run(nova_context *context, void *argument)
{
    struct halves_call *call = (struct halves_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    nova_result result;
    nova_open_result(context, &result, *call->result, *call->result_len, sizeof(double));
    nova_check_array(context, "X", call->X_len, call->X, sizeof(double));
    nova_keep_apart(context, sizeof(double), call->X, call->X_len, sizeof(double));
    int64_t value_length;
    double *value_data;
    nova_block *value_data_block;
    halves_value(context, call->X_len, (double *)nova_elements(call->X), &value_length, &value_data,
            &value_data_block);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (double *)nova_give_result(context, *call->result, value_length,
            sizeof(double));
    *call->result_len = value_length;
}

int halves(int64_t *result_len, double **result, int64_t X_len, const double *X)
{
    struct halves_call call = {result_len, result, X_len, X};
    return nova_call(halves_run, &call, halves_message);
}

const char *halves_error(void)
{
    return halves_message;
}
