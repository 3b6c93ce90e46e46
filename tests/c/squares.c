/* The program. */

/* The parameters of a call of squares. */
struct squares_call {
    float *result;
    int64_t X_len;
    const float *X;
};

static NOVA_THREAD_LOCAL char squares_message[NOVA_MESSAGE_SIZE];

static float squares_value(int64_t X_length, float *X_data)
{
    float parts[64];
    parts[0] = 0.0f;
    int64_t depth = 1;
    const int64_t count = (int64_t)((uint64_t)X_length + 1023) >> 10;
    /* squares.nova:2:1 */
    float lanes[32];
    for (int64_t block = 0; block < count; block++) {
        int64_t base = (uint64_t)block * 1024;
        int64_t length = nova_minimum_i64((int64_t)((uint64_t)X_length - base), 1024);
        for (int64_t i = 0; i < 32; i++)
            lanes[i] = -0.0f;
        const int64_t count_2 = length >> 5;
        for (int64_t row = 0; row < count_2; row++)
            for (int64_t lane = 0; lane < 32; lane++) {
                int64_t i_2 = base + (uint64_t)row * 32 + lane;
                float x = X_data[i_2];
                lanes[lane] += x * x;
            }
        int64_t rest = length & 31;
        for (int64_t lane_2 = 0; lane_2 < rest; lane_2++) {
            int64_t i_3 = base + ((uint64_t)length - rest) + lane_2;
            float x_2 = X_data[i_3];
            lanes[lane_2] += x_2 * x_2;
        }
        for (int64_t i_4 = 0; i_4 < 16; i_4++)
            lanes[i_4] += lanes[(int64_t)((uint64_t)i_4 + 16)];
        for (int64_t i_5 = 0; i_5 < 8; i_5++)
            lanes[i_5] += lanes[(int64_t)((uint64_t)i_5 + 8)];
        for (int64_t i_6 = 0; i_6 < 4; i_6++)
            lanes[i_6] += lanes[(int64_t)((uint64_t)i_6 + 4)];
        for (int64_t i_7 = 0; i_7 < 2; i_7++)
            lanes[i_7] += lanes[(int64_t)((uint64_t)i_7 + 2)];
        for (int64_t i_8 = 0; i_8 < 1; i_8++)
            lanes[i_8] += lanes[i_8 + 1];
        parts[depth] = lanes[0];
        depth++;
        int64_t merges = block;
        while ((merges & 1) != 0) {
            depth -= 1;
            parts[depth - 1] += parts[depth];
            merges >>= 1;
        }
    }
    while (depth != 1) {
        depth -= 1;
        parts[depth - 1] += parts[depth];
    }
    return parts[0];
}

static void squares_run(nova_context *context, void *argument)
{
    struct squares_call *call = (struct squares_call *)argument;
    nova_check_result(context, "result", call->result);
    nova_check_array(context, "X", call->X_len, call->X, sizeof(float));
    float value = squares_value(call->X_len, (float *)nova_elements(call->X));
    *call->result = value;
}

int squares(float *result, int64_t X_len, const float *X)
{
    struct squares_call call = {result, X_len, X};
    return nova_call(squares_run, &call, squares_message);
}

const char *squares_error(void)
{
    return squares_message;
}
