/* Work-groups as generated kernels have them: two arrays in the shared memory that a launch asks for,
 * loops that the threads of a block share, and threads that fail before others wait for them. Their
 * block ends together, and so does what is launched later. */
#include "threads.h"

enum { THREADS = 64, SITE = 7 };

/* Turns each row around and adds each number to its neighbour; none must be negative. */
static __global__ void turn(int64_t count, nova_failure *failure, int64_t row, const int *x,
                            int *result, int64_t bytes_offset, int64_t doubles_offset)
{
    NOVA_DYNAMIC_SHARED(unsigned char, shared);
    int8_t *bytes = (int8_t *)(shared + bytes_offset);
    double *doubles = (double *)(shared + doubles_offset);
    NOVA_SHARED(int, failed_in, 1);
    nova_context state = {failure, false, failed_in, 0, 0, 0, 0, 0, 0};
    nova_context *context = &state;
    if (nova_group_begins_failed(context))
        return;
    NOVA_GROUP_LOOP(i, count) {
        __syncthreads();
        if (nova_group_has_failed(context))
            return;
        NOVA_LOCAL_LOOP(k, row) {
            if (x[i * row + k] < 0) {
                nova_fail_at(context, SITE, i, k);
                goto behind;
            }
            bytes[k] = (int8_t)x[i * row + k];
        }
    behind:
        context->failed = false;
        __syncthreads();
        if (nova_group_has_failed(context))
            return;
        NOVA_LOCAL_LOOP(k, row)
            doubles[k] = bytes[row - 1 - k];
        __syncthreads();
        if (nova_group_has_failed(context))
            return;
        NOVA_LOCAL_LOOP(k, row)
            result[i * row + k] = (int)(doubles[k] + doubles[(k + 1) % row]);
    }
}

/* Launches the kernel for rows, a few of which each block does. */
static void launch(int rows, int row, const int *x, int *result, nova_failure *failure)
{
    int64_t count = rows, length = row, bytes_offset = 0, doubles_offset = (row + 15) / 16 * 16;
    void *arguments[] = {&count,  &failure,      &length,        (void *)&x,
                         &result, &bytes_offset, &doubles_offset};
    DO(nova_put_kernel(NOVA_KERNEL(turn, ""), dim3(1 + rows / 3), dim3(THREADS),
                       (size_t)(doubles_offset + 8 * row), 0, arguments));
}

static void check(int rows, int row, int bad)
{
    size_t length = (size_t)rows * row;
    std::vector<int> x = numbers(length);
    if (bad >= 0)
        x[bad] = -5;
    int *device_x = to_device(x), *result = on_device<int>(length);
    nova_failure *failure = no_failure();
    DO(cudaMemset(result, 0xff, length * sizeof(int)));
    launch(rows, row, device_x, result, failure);
    nova_failure seen = to_host(failure, 1)[0];
    std::vector<int> made = to_host(result, length);
    CHECK(seen.taken == (bad >= 0));
    if (bad >= 0)
        CHECK(seen.site == SITE && seen.first == bad / row && seen.second == bad % row);
    for (size_t at = 0; at < length; at++) {
        size_t begin = at / row * row, k = at % row;
        int sum = x[begin + row - 1 - k] + x[begin + row - 1 - (k + 1) % row];
        bool fails = bad >= 0 && begin == (size_t)bad / row * row;
        CHECK(made[at] == (fails ? -1 : sum) || (bad >= 0 && made[at] == -1));
    }
    if (bad >= 0) {
        DO(cudaMemset(result, 0xff, length * sizeof(int)));
        launch(rows, row, device_x, result, failure);
        for (int each : to_host(result, length))
            CHECK(each == -1);
    }
    DO(cudaFree(device_x));
    DO(cudaFree(result));
    DO(cudaFree(failure));
}

int main()
{
#ifdef NOVA_CUDA_EMULATION
    /* No thread ends while others of its block wait. */
    CHECK(nova_emulation_set("STRICT", "1") == 0);
#endif
    for (int row : {1, 63, 64, 150}) {
        check(1, row, -1);
        check(10, row, -1);
        for (int bad : {0, row - 1, 4 * row, 9 * row + row / 2})
            check(10, row, bad);
    }
    /* More shared memory than kernels may have unasked. */
    check(2, 7000, -1);
    return 0;
}
