/* The program. */

/* The parameters of a call of rows. */
struct rows_call {
    int64_t *result_len;
    double **result;
    int64_t M_len;
    const int64_t *M_seg1;
    const double *M;
};

static NOVA_THREAD_LOCAL char rows_message[NOVA_MESSAGE_SIZE];

static void rows_value(nova_context *context, int64_t M_length, int64_t *M_data_starts,
                       int64_t *M_data_ends, double *M_data_data, int64_t *length_out,
                       double **data_out, nova_block **data_block_out)
{
    nova_block *t_block;
    double *t = (double *)nova_allocate(context, &t_block, M_length, sizeof(double),
            "rows.nova:2:1");
    /* rows.nova:2:1 */
    for (int64_t i = 0; i < M_length; i++) {
        int64_t t_2 = M_data_starts[i];
        int64_t row_length = (uint64_t)M_data_ends[i] - t_2;
        double t_3 = 0.0;
        /* rows.nova:2:20 */
        for (int64_t i_2 = 0; i_2 < row_length; i_2++)
            t_3 = nova_maximum_f64(t_3, M_data_data[(int64_t)((uint64_t)t_2 + i_2)]);
        t[i] = t_3;
    }
    *length_out = M_length;
    *data_out = t;
    *data_block_out = t_block;
}

static void rows_run(nova_context *context, void *argument)
{
    struct rows_call *call = (struct rows_call *)argument;
    nova_check_result(context, "result_len", call->result_len);
    nova_check_result(context, "result", call->result);
    int64_t M_seg1_total = nova_check_segments(context, "M_seg1", call->M_len, call->M_seg1);
    int64_t *M_seg1 = (int64_t *)nova_elements(call->M_seg1);
    nova_check_array(context, "M", M_seg1_total, call->M, sizeof(double));
    int64_t value_length;
    double *value_data;
    nova_block *value_data_block;
    rows_value(context, call->M_len, M_seg1, M_seg1 + 1, (double *)nova_elements(call->M),
            &value_length, &value_data, &value_data_block);
    if (*call->result != NULL && *call->result_len < value_length) {
        int64_t capacity = *call->result_len;
        *call->result_len = value_length;
        nova_fail_buffer(context, "result", capacity, value_length);
    }
    *call->result = (double *)nova_put(context, *call->result, value_data, value_data_block,
            value_length, sizeof(double));
    *call->result_len = value_length;
}

int rows(int64_t *result_len, double **result, int64_t M_len, const int64_t *M_seg1,
         const double *M)
{
    struct rows_call call = {result_len, result, M_len, M_seg1, M};
    return nova_call(rows_run, &call, rows_message);
}

const char *rows_error(void)
{
    return rows_message;
}
