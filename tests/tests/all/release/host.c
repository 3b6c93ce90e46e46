/* Calls each entry and frees its result by one call; the sanitizer looks for what is left. */
#include "results.h"
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call, error)                              \
    do {                                                \
        if ((call) != 0) {                              \
            fprintf(stderr, "%s: %s\n", #call, error()); \
            exit(1);                                    \
        }                                               \
    } while (0)

/* A result of one parameter. */
#define ONE(entry, type)                      \
    do {                                      \
        type result;                          \
        CHECK(entry(&result, n), entry##_error); \
        entry##_free_result(result);          \
    } while (0)

/* A vector of structures. */
#define MANY(entry, type)                             \
    do {                                              \
        int64_t len = 0;                              \
        type *data = NULL;                            \
        CHECK(entry(&len, &data, n), entry##_error);  \
        entry##_free_result(len, data);               \
    } while (0)

static void rows_of(int32_t n)
{
    int64_t len = 0, *seg1 = NULL, *seg2 = NULL;
    int32_t *data = NULL;
    CHECK(rows(&len, &seg1, &data, n), rows_error);
    rows_free_result(len, seg1, data);
    seg1 = NULL;
    data = NULL;
    CHECK(deep(&len, &seg1, &seg2, &data, n), deep_error);
    deep_free_result(len, seg1, seg2, data);
    nova_tuple2_int_vector_int *pairs = NULL;
    seg1 = NULL;
    CHECK(ragged_rows(&len, &seg1, &pairs, n), ragged_rows_error);
    ragged_rows_free_result(len, seg1, pairs);
    /* One by one goes as well. */
    seg1 = NULL;
    data = NULL;
    CHECK(rows(&len, &seg1, &data, n), rows_error);
    free(seg1);
    free(data);
}

int main(void)
{
    for (int32_t n = 0; n < 6; n++) {
        rows_of(n);
        MANY(ragged, nova_tuple2_int_vector_int);
        ONE(inside, nova_tuple2_vector_int_tuple2_int_vector_vector_int);
        ONE(maybe, nova_sum_Maybe_vector_vector_int);
        MANY(maybes, nova_sum_Maybe_vector_int);
        ONE(list, nova_data_List_vector_int);
        MANY(lists, nova_data_List_vector_int);
        ONE(tree, nova_data_Tree);
        ONE(both, nova_tuple2_data_List_vector_int_data_Tree);
    }
    /* What was never written is nothing. */
    rows_free_result(0, NULL, NULL);
    ragged_rows_free_result(0, NULL, NULL);
    printf("done\n");
    return 0;
}
