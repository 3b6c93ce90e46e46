/* Calls entries with buffers of its own: large enough, too small, none, and one that is also the
 * argument; prints where the results are and what is left in a buffer after an error. */
#include "results.h"
#include <stdio.h>
#include <stdlib.h>

static void print_ints(const char *name, int code, int64_t length, const int32_t *data)
{
    printf("%s %d:", name, code);
    for (int64_t i = 0; i < length; i++)
        printf(" %d", (int)data[i]);
    printf("\n");
}

static void print_pairs(const char *name, int64_t length, const nova_tuple2_float_float *data)
{
    printf("%s:", name);
    for (int64_t i = 0; i < length; i++)
        printf(" (%g, %g)", data[i].e0, data[i].e1);
    printf("\n");
}

static void in_the_buffer(void)
{
    float X[3] = {1, 2, 3}, buffer[4] = {-1, -1, -1, -1};
    float *result = buffer;
    int64_t length = 4;
    int code = scaled(&length, &result, 2, 3, X);
    printf("scaled %d %d: %g %g %g, %g\n", code, result == buffer, buffer[0], buffer[1], buffer[2],
           buffer[3]);
    length = 2;
    code = scaled(&length, &result, 5, 3, X);
    printf("too small %d, %d: %g %s\n", code, (int)length, buffer[0], scaled_error());
    result = NULL;
    code = scaled(&length, &result, 2, 3, X);
    printf("allocated %d %d: %g\n", code, (int)length, result[2]);
    free(result);
    result = NULL;
    code = scaled(&length, &result, 2, 0, NULL);
    printf("nothing %d %d %d\n", code, (int)length, result != NULL);
    free(result);
}

static void structures(void)
{
    nova_tuple2_uint8_double pairs[2] = {{1, 0.5}, {2, 1.5}};
    nova_tuple2_double_tuple2_uint8_uint8 buffer[2], *result = buffer;
    int64_t length = 2;
    int code = swapped(&length, &result, 2, pairs);
    printf("swapped %d %d: %g %d %d, %g %d %d\n", code, result == buffer, buffer[0].e0,
           buffer[0].e1.e0, buffer[0].e1.e1, buffer[1].e0, buffer[1].e1.e0, buffer[1].e1.e1);
    int32_t X[2] = {7, 8};
    nova_tuple2_int_int *zipped = NULL;
    code = both(&length, &zipped, 2, X);
    printf("both %d: (%d, %d) (%d, %d)\n", code, zipped[0].e0, zipped[0].e1, zipped[1].e0,
           zipped[1].e1);
    free(zipped);
    nova_tuple2_int_int grid[6] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}};
    nova_tuple2_int_int turned_grid[6], *to = turned_grid;
    int64_t rows = 2, columns = 3;
    code = turned(&rows, &columns, &to, 2, 3, grid);
    printf("turned %d %dx%d: (%d, %d) (%d, %d)\n", code, (int)rows, (int)columns, to[1].e0,
           to[1].e1, to[4].e0, to[4].e1);
    int64_t offsets[3] = {0, 1, 3};
    nova_tuple2_int_double entries[3] = {{1, 0.5}, {2, 1.5}, {3, 2.5}};
    nova_tuple2_int_double ends[2], *end = ends;
    length = 2;
    code = last(&length, &end, 2, offsets, entries);
    printf("last %d: (%d, %g) (%d, %g)\n", code, ends[0].e0, ends[0].e1, ends[1].e0, ends[1].e1);
}

static void the_buffer_is_the_argument(void)
{
    int32_t X[5] = {1, 2, 3, 4, 5}, *result = X;
    int64_t length = 5;
    int code = mirrored(&length, &result, 5, X);
    print_ints("mirrored", code, length, X);
    int32_t Y[6] = {1, 2, 3, 4, 5, 6};
    result = Y + 1;
    length = 5;
    code = mirrored(&length, &result, 5, Y);
    print_ints("shifted", code, 6, Y);
    nova_tuple2_float_float pairs[3] = {{1, 2}, {3, 4}, {5, 6}}, *to = pairs;
    length = 3;
    exchanged(&length, &to, 3, pairs);
    print_pairs("exchanged", length, pairs);
}

static void after_an_error(void)
{
    int32_t X[3] = {10, 20, 30}, I[3] = {2, 0, 3}, buffer[3] = {-1, -2, -3}, *result = buffer;
    int64_t length = 3;
    int code = picked(&length, &result, 3, X, 3, I);
    print_ints("failed", code, length, buffer);
    I[2] = 1;
    code = picked(&length, &result, 3, X, 3, I);
    print_ints("picked", code, length, buffer);
    length = 2;
    code = even(&length, &result, 3, X);
    printf("even %d %d\n", code, (int)length);
    length = -1;
    code = mirrored(&length, &result, 3, X);
    printf("negative %d %d\n", code, (int)length);
}

int main(void)
{
    in_the_buffer();
    structures();
    the_buffer_is_the_argument();
    after_an_error();
    return 0;
}
