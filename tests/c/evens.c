/* The program. */

/* The parameters of a call of evens. */
struct evens_call {
    int64_t *result_len;
    int32_t **result;
    int64_t X_len;
    const int32_t *X;
};

static NOVA_THREAD_LOCAL char evens_message[NOVA_MESSAGE_SIZE];

static void evens_value(nova_context *context, int64_t X_length, int32_t *X_data,
                        int64_t *length_out, int32_t **data_out, nova_block **data_block_out)
{
    nova_block *kept_block;
    int32_t *kept = (int32_t *)nova_allocate(context, &kept_block, X_length, sizeof(int32_t),
            "evens.nova:2:1");
    int64_t count = 0;
    /* evens.nova:2:1 */
    for (int64_t i = 0; i < X_length; i++) {
        int32_t x = X_data[i];
        if (0 == x % 2) {
            kept[count] = x;
            count++;
        }
    }
    int64_t length = count;
    *length_out = length;
    *data_out = kept;
    *data_block_out = kept_block;
}

static void evens_run(nova_context *context, void *argument)
{
    struct evens_call *call = (struct evens_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    nova_check_array(context, "X", call->X_len, call->X, sizeof(int32_t));
    int64_t value_length;
    int32_t *value_data;
    nova_block *value_data_block;
    evens_value(context, call->X_len, (int32_t *)nova_elements(call->X), &value_length, &value_data,
            &value_data_block);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (int32_t *)nova_put(context, *call->result, value_data, value_data_block,
            value_length, sizeof(int32_t));
    *call->result_len = value_length;
}

int evens(int64_t *result_len, int32_t **result, int64_t X_len, const int32_t *X)
{
    struct evens_call call = {result_len, result, X_len, X};
    return nova_call(evens_run, &call, evens_message);
}

const char *evens_error(void)
{
    return evens_message;
}
