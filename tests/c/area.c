/* The program. */

/* The parameters of a call of area. */
struct area_call {
    int64_t *result_len;
    float **result;
    int64_t S_len;
    const nova_sum_Shape *S;
};

static NOVA_THREAD_LOCAL char area_message[NOVA_MESSAGE_SIZE];

static void area_value(nova_context *context, int64_t S_length, uint8_t *S_data_tag,
                       float *S_data_Circle, float *S_data_Box_e1, int64_t *length_out,
                       float **data_out, nova_block **data_block_out)
{
    nova_block *t_block;
    float *t = (float *)nova_allocate(context, &t_block, S_length, sizeof(float), "area.nova:3:1");
    /* area.nova:3:1 */
    for (int64_t i = 0; i < S_length; i++) {
        float s_Circle = S_data_Circle[i];
        float s_Box_e1 = S_data_Box_e1[i];
        float t_2;
        switch ((int32_t)S_data_tag[i]) {
        case 0:
            t_2 = 0.0f;
            break;
        case 1:
            t_2 = 3.14f * (s_Circle * s_Circle);
            break;
        default:
            t_2 = s_Circle * s_Box_e1;
            break;
        }
        t[i] = t_2;
    }
    *length_out = S_length;
    *data_out = t;
    *data_block_out = t_block;
}

static void area_run(nova_context *context, void *argument)
{
    struct area_call *call = (struct area_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    nova_check_array(context, "S", call->S_len, call->S, sizeof(nova_sum_Shape));
    nova_block *S_tag_block;
    uint8_t *S_tag = (uint8_t *)nova_allocate(context, &S_tag_block, call->S_len, sizeof(uint8_t),
            NULL);
    nova_block *S_Circle_block;
    float *S_Circle = (float *)nova_allocate(context, &S_Circle_block, call->S_len, sizeof(float),
            NULL);
    nova_block *S_Box_e1_block;
    float *S_Box_e1 = (float *)nova_allocate(context, &S_Box_e1_block, call->S_len, sizeof(float),
            NULL);
    for (int64_t i = 0; i < call->S_len; i++) {
        nova_check_tag(context, "S", call->S[i].tag, 3);
        S_tag[i] = (uint8_t)call->S[i].tag;
        S_Circle[i] = 0.0f;
        S_Box_e1[i] = 0.0f;
        switch (call->S[i].tag) {
        case 0:
            break;
        case 1:
            S_Circle[i] = call->S[i].u.Circle;
            break;
        default:
            S_Circle[i] = call->S[i].u.Box.e0;
            S_Box_e1[i] = call->S[i].u.Box.e1;
            break;
        }
    }
    int64_t value_length;
    float *value_data;
    nova_block *value_data_block;
    area_value(context, call->S_len, S_tag, S_Circle, S_Box_e1, &value_length, &value_data,
            &value_data_block);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (float *)nova_put(context, *call->result, value_data, value_data_block,
            value_length, sizeof(float));
    *call->result_len = value_length;
}

int area(int64_t *result_len, float **result, int64_t S_len, const nova_sum_Shape *S)
{
    struct area_call call = {result_len, result, S_len, S};
    return nova_call(area_run, &call, area_message);
}

const char *area_error(void)
{
    return area_message;
}
