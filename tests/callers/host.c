/* Calls entries with arrays that it keeps on the device, in a stream of its own: with buffers for
 * results and without, with too small ones, with wrong arguments, with a kernel that fails, from
 * several threads. */
#include "lent.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, int line, int code)
{
    fprintf(stderr, "line %d: %s (%d)\n", line, what, code);
    exit(1);
}
#define EXPECT(condition) \
    do \
        if (!(condition)) \
            fail(#condition, __LINE__, 0); \
    while (0)
#define SUCCEED(call) \
    do { \
        int code_of_call = (int)(call); \
        if (code_of_call != 0) \
            fail(#call, __LINE__, code_of_call); \
    } while (0)

#ifdef __CUDACC__
#include <cuda_runtime.h>
typedef cudaStream_t stream_type;
#define MEMORY(type) type *
static stream_type open_stream(void)
{
    cudaStream_t stream;
    SUCCEED(cudaStreamCreate(&stream));
    return stream;
}
static void close_stream(stream_type stream)
{
    SUCCEED(cudaStreamDestroy(stream));
}
static void *place(const void *data, size_t bytes)
{
    void *memory;
    SUCCEED(cudaMalloc(&memory, bytes > 0 ? bytes : 1));
    SUCCEED(cudaMemcpy(memory, data, bytes, cudaMemcpyHostToDevice));
    return memory;
}
static void fetch(void *data, const void *memory, size_t bytes)
{
    SUCCEED(cudaMemcpy(data, memory, bytes, cudaMemcpyDeviceToHost));
}
static void release(void *memory)
{
    SUCCEED(cudaFree(memory));
}
#else
#include <CL/cl.h>
typedef cl_command_queue stream_type;
#define MEMORY(type) cl_mem
static cl_device_id device;
static cl_context owner;
static cl_command_queue copies;
static void open_device(cl_context *opened)
{
    cl_platform_id platform;
    cl_int code;
    SUCCEED(clGetPlatformIDs(1, &platform, NULL));
    SUCCEED(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    *opened = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    SUCCEED(code);
}
static stream_type open_stream(void)
{
    cl_int code;
    if (owner == NULL) {
        open_device(&owner);
        copies = clCreateCommandQueue(owner, device, 0, &code);
        SUCCEED(code);
    }
    cl_command_queue queue = clCreateCommandQueue(owner, device, 0, &code);
    SUCCEED(code);
    return queue;
}
static void close_stream(stream_type stream)
{
    SUCCEED(clReleaseCommandQueue(stream));
}
static cl_mem place(const void *data, size_t bytes)
{
    cl_int code;
    cl_mem memory = clCreateBuffer(owner, CL_MEM_READ_WRITE, bytes > 0 ? bytes : 1, NULL, &code);
    SUCCEED(code);
    if (bytes > 0)
        SUCCEED(clEnqueueWriteBuffer(copies, memory, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
    return memory;
}
static void fetch(void *data, cl_mem memory, size_t bytes)
{
    SUCCEED(clEnqueueReadBuffer(copies, memory, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
}
static void release(cl_mem memory)
{
    SUCCEED(clReleaseMemObject(memory));
}
#endif

enum { N = 5000 };

/* A buffer of the caller's: filled, kept where it was after an error, and none at all. */
static void buffers(stream_type stream)
{
    float X[N], found[N];
    for (int i = 0; i < N; i++)
        X[i] = (float)i;
    MEMORY(float) x = (MEMORY(float))place(X, sizeof X);
    MEMORY(float) buffer = (MEMORY(float))place(X, sizeof X);
    MEMORY(float) result = buffer;
    int64_t length = N;
    SUCCEED(scaled_device(&length, &result, 3, N, x, stream));
    EXPECT(result == buffer && length == N);
    fetch(found, buffer, sizeof found);
    for (int i = 0; i < N; i++)
        EXPECT(found[i] == 3 * X[i]);
    /* Larger than the result. */
    SUCCEED(scaled_device(&length, &result, 5, 10, x, stream));
    EXPECT(result == buffer && length == 10);
    fetch(found, buffer, sizeof found);
    for (int i = 0; i < N; i++)
        EXPECT(found[i] == (i < 10 ? 5 : 3) * X[i]);
    /* Too small. */
    EXPECT(scaled_device(&length, &result, 7, N, x, stream) == 3 && length == N);
    EXPECT(result == buffer && strstr(scaled_error(), "10 elements for a result of 5000") != NULL);
    fetch(found, buffer, sizeof found);
    EXPECT(found[9] == 45 && found[10] == 30);
    /* None, and the argument itself. */
    result = NULL;
    SUCCEED(scaled_device(&length, &result, 2, N, x, stream));
    fetch(found, result, sizeof found);
    for (int i = 0; i < N; i++)
        EXPECT(found[i] == 2 * X[i]);
    release(result);
    result = x;
    length = N;
    SUCCEED(scaled_device(&length, &result, 2, N, x, stream));
    fetch(found, x, sizeof found);
    for (int i = 0; i < N; i++)
        EXPECT(found[i] == 2 * X[i]);
    /* Nothing. */
    result = NULL;
    SUCCEED(scaled_device(&length, &result, 2, 0, NULL, stream));
    EXPECT(length == 0);
    release(result);
    release(x);
    release(buffer);
}

/* The host's function and the device's give the same, in one program and in either order. */
static void other_forms(stream_type stream)
{
    static double X[N];
    static int32_t I[N], found[N];
    double sum, expected;
    for (int i = 0; i < N; i++) {
        X[i] = 0.1 * i;
        I[i] = 7 * i % 31;
    }
    MEMORY(double) x = (MEMORY(double))place(X, sizeof X);
    SUCCEED(total(&expected, N, X));
    SUCCEED(total_device(&sum, N, x, stream));
    EXPECT(sum == expected);
    release(x);

    MEMORY(int32_t) numbers = (MEMORY(int32_t))place(I, sizeof I);
    MEMORY(int32_t) kept = NULL;
    int32_t *on_host = NULL;
    int64_t length, host_length;
    SUCCEED(even_device(&length, &kept, N, numbers, stream));
    SUCCEED(even(&host_length, &on_host, N, I));
    EXPECT(length == host_length && length > N / 3);
    fetch(found, kept, (size_t)length * sizeof(int32_t));
    EXPECT(memcmp(found, on_host, (size_t)length * sizeof(int32_t)) == 0);
    release(kept);
    free(on_host);

    /* A result that reads elsewhere than it writes, into its argument and beside it. */
    for (int beside = 0; beside < 2; beside++) {
        MEMORY(int32_t) given = (MEMORY(int32_t))place(I, sizeof I);
        MEMORY(int32_t) taken = beside ? (MEMORY(int32_t))place(I, sizeof I) : given;
        MEMORY(int32_t) reversed = taken;
        length = N;
        SUCCEED(mirrored_device(&length, &reversed, N, given, stream));
        EXPECT(reversed == taken && length == N);
        fetch(found, taken, sizeof found);
        for (int i = 0; i < N; i++)
            EXPECT(found[i] == I[N - 1 - i] + 1);
        release(given);
        if (beside)
            release(taken);
    }

    /* A grid, into a buffer whose capacity is a product. */
    MEMORY(int32_t) buffer = (MEMORY(int32_t))place(I, sizeof I);
    MEMORY(int32_t) grid = buffer;
    int64_t rows = 50, columns = 100;
    SUCCEED(turned_device(&rows, &columns, &grid, 100, 50, numbers, stream));
    EXPECT(rows == 50 && columns == 100 && grid == buffer);
    fetch(found, grid, sizeof found);
    for (int i = 0; i < 50; i++)
        for (int k = 0; k < 100; k++)
            EXPECT(found[100 * i + k] == I[50 * k + i] + 1);
    rows = 49;
    EXPECT(turned_device(&rows, &columns, &grid, 100, 50, numbers, stream) == 3);
    EXPECT(rows == 50 && columns == 100);
    release(buffer);

    /* Structures. */
    nova_tuple2_int_float pairs[3] = {{1, 0.5f}, {2, 1.5f}, {3, 2.5f}};
    nova_tuple2_float_int turned_pairs[3];
    MEMORY(nova_tuple2_int_float) p = (MEMORY(nova_tuple2_int_float))place(pairs, sizeof pairs);
    MEMORY(nova_tuple2_float_int) q = (MEMORY(nova_tuple2_float_int))place(pairs, sizeof pairs);
    MEMORY(nova_tuple2_float_int) swaps = q;
    length = 3;
    SUCCEED(swapped_device(&length, &swaps, 3, p, stream));
    EXPECT(swaps == q);
    fetch(turned_pairs, q, sizeof turned_pairs);
    for (int i = 0; i < 3; i++)
        EXPECT(turned_pairs[i].e0 == pairs[i].e1 && turned_pairs[i].e1 == pairs[i].e0 + 1);
    swaps = NULL;
    SUCCEED(swapped_device(&length, &swaps, 3, p, stream));
    fetch(turned_pairs, swaps, sizeof turned_pairs);
    EXPECT(length == 3 && turned_pairs[2].e1 == 4);
    release(swaps);
    /* What is behind a result stays as it was. */
    swaps = q;
    SUCCEED(swapped_device(&length, &swaps, 1, p, stream));
    EXPECT(length == 1);
    length = 3;
    SUCCEED(swapped_device(&length, &swaps, 2, p, stream));
    fetch(turned_pairs, q, sizeof turned_pairs);
    EXPECT(length == 2 && turned_pairs[1].e1 == 3 && turned_pairs[2].e1 == 4);
    release(p);
    release(q);
    release(numbers);
}

/* Rows of any length; offsets are on the device, too. */
static void rows_of_rows(stream_type stream)
{
    float data[6] = {1, 2, 3, 4, 5, 6}, found[6];
    int64_t offsets[4] = {0, 2, 2, 6}, bad[4] = {0, 3, 2, 6}, found_offsets[4], length;
    MEMORY(float) x = (MEMORY(float))place(data, sizeof data);
    MEMORY(int64_t) starts = (MEMORY(int64_t))place(offsets, sizeof offsets);
    MEMORY(int64_t) wrong = (MEMORY(int64_t))place(bad, sizeof bad);
    MEMORY(float) result = NULL;
    MEMORY(int64_t) result_starts = NULL;
    SUCCEED(doubled_device(&length, &result_starts, &result, 3, starts, x, stream));
    fetch(found, result, sizeof found);
    fetch(found_offsets, result_starts, sizeof found_offsets);
    EXPECT(length == 3 && memcmp(found_offsets, offsets, sizeof offsets) == 0);
    for (int i = 0; i < 6; i++)
        EXPECT(found[i] == 2 * data[i]);
    release(result);
    release(result_starts);
    result = NULL;
    result_starts = NULL;
    EXPECT(doubled_device(&length, &result_starts, &result, 3, wrong, x, stream) == 4);
    EXPECT(strstr(doubled_error(), "does not rise") != NULL);
    EXPECT(result == NULL && result_starts == NULL && length == 3);
    /* A buffer, whose size nobody knows. */
    result = x;
    EXPECT(doubled_device(&length, &result_starts, &result, 3, starts, x, stream) == 4);
    EXPECT(result == x && result_starts == NULL);
    /* No rows. */
    result = NULL;
    SUCCEED(doubled_device(&length, &result_starts, &result, 0, NULL, NULL, stream));
    EXPECT(length == 0);
    release(result);
    release(result_starts);
    release(x);
    release(starts);
    release(wrong);
}

/* Wrong arguments, and a kernel that fails: nothing is written, and the next call works. */
static void failures(stream_type stream)
{
    static int32_t I[N], found[N];
    for (int i = 0; i < N; i++)
        I[i] = i;
    MEMORY(int32_t) numbers = (MEMORY(int32_t))place(I, sizeof I);
    MEMORY(int32_t) buffer = (MEMORY(int32_t))place(I, sizeof I);
    MEMORY(int32_t) result = buffer;
    int64_t length = N;
    EXPECT(divided_device(&length, &result, N, numbers, 0, stream) == 1);
    EXPECT(strstr(divided_error(), "lent.nova:") != NULL);
    EXPECT(result == buffer && length == N);
    fetch(found, buffer, sizeof found);
    EXPECT(memcmp(found, I, sizeof I) == 0);
    SUCCEED(divided_device(&length, &result, N, numbers, 2, stream));
    fetch(found, buffer, sizeof found);
    EXPECT(found[N - 1] == (N - 1) / 2);
    EXPECT(divided_device(&length, &result, -1, numbers, 2, stream) == 4);
    EXPECT(divided_device(&length, &result, N, NULL, 2, stream) == 4);
    EXPECT(divided_device(NULL, &result, N, numbers, 2, stream) == 4);
    EXPECT(divided_device(&length, NULL, N, numbers, 2, stream) == 4);
#ifndef __CUDACC__
    EXPECT(divided_device(&length, &result, N, numbers, 2, NULL) == 4);
    cl_int code;
    cl_command_queue without_order = clCreateCommandQueue(
        owner, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code == CL_SUCCESS) {
        EXPECT(divided_device(&length, &result, N, numbers, 2, without_order) == 4);
        SUCCEED(clReleaseCommandQueue(without_order));
    }
#endif
    SUCCEED(divided_device(&length, &result, N, numbers, 1, stream));
    release(numbers);
    release(buffer);
}

static void *many_calls(void *argument)
{
    stream_type stream = *(stream_type *)argument;
    for (int k = 0; k < 10; k++)
        buffers(stream);
    return NULL;
}

int main(void)
{
    stream_type stream = open_stream();
    buffers(stream);
    other_forms(stream);
    rows_of_rows(stream);
    failures(stream);
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    stream_type streams[THREADS];
    for (int k = 0; k < THREADS; k++) {
        streams[k] = open_stream();
        EXPECT(pthread_create(&threads[k], NULL, many_calls, &streams[k]) == 0);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        close_stream(streams[k]);
    }
    close_stream(stream);
#ifndef __CUDACC__
    /* Another context, in which the program is compiled anew. */
    cl_context before = owner;
    cl_command_queue copies_before = copies;
    owner = NULL;
    stream = open_stream();
    EXPECT(owner != before);
    buffers(stream);
    close_stream(stream);
    SUCCEED(clReleaseCommandQueue(copies));
    SUCCEED(clReleaseCommandQueue(copies_before));
    SUCCEED(clReleaseContext(owner));
    SUCCEED(clReleaseContext(before));
#endif
    printf("all right\n");
    return 0;
}
