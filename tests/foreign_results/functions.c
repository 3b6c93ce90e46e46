/* The foreign functions of results.nova: they allocate what they return by malloc. */
#include "results.h"

#include <stdlib.h>

static void *room(int64_t count, size_t size)
{
    size_t bytes = (size_t)count * size;
    return malloc(bytes > 0 ? bytes : 1);
}

static nova_vector_int numbers(int32_t k)
{
    nova_vector_int v = {k, NULL};
    v.data = (int32_t *)room(k, sizeof *v.data);
    for (int32_t i = 0; i < k; i++)
        v.data[i] = i * k + 1;
    return v;
}

static nova_vector_vector_int triangle(int32_t k)
{
    nova_vector_vector_int rows = {k, NULL};
    rows.data = (nova_vector_int *)room(k, sizeof *rows.data);
    for (int32_t i = 0; i < k; i++) {
        rows.data[i].len = i;
        rows.data[i].data = (int32_t *)room(i, sizeof(int32_t));
        for (int32_t j = 0; j < i; j++)
            rows.data[i].data[j] = i + j;
    }
    return rows;
}

static nova_sum_Maybe_vector_int some_or_none(int32_t k)
{
    nova_sum_Maybe_vector_int m;
    m.tag = k % 2 == 0 ? NOVA_Maybe_vector_int_None : NOVA_Maybe_vector_int_Some;
    if (m.tag == NOVA_Maybe_vector_int_Some)
        m.u.Some = numbers(k);
    return m;
}

/* The list k, k - 1, ..., 1; its nodes from the last to the first. */
static nova_data_List_int listed(int32_t k)
{
    nova_data_List_int l = {k, (int64_t)k + 1, NULL};
    l.nodes = (nova_node_List_int *)room(l.len, sizeof *l.nodes);
    l.nodes[0].tag = NOVA_List_int_Nil;
    for (int32_t i = 1; i <= k; i++) {
        l.nodes[i].tag = NOVA_List_int_Cons;
        l.nodes[i].u.Cons.e0 = i;
        l.nodes[i].u.Cons.e1 = i - 1;
    }
    return l;
}

void f_number(int32_t *result, int32_t k)
{
    *result = k + 3;
}

void f_truth(int *result, int32_t k)
{
    *result = k % 2;
}

void f_pair(nova_tuple2_int_float *result, int32_t k)
{
    result->e0 = k;
    result->e1 = 2.0f * (float)k;
}

void f_text(int64_t *result_len, uint8_t **result, int32_t k)
{
    *result_len = k;
    *result = (uint8_t *)room(k, 1);
    for (int32_t i = 0; i < k; i++)
        (*result)[i] = 97;
}

void f_vector(int64_t *result_len, int32_t **result, int32_t k)
{
    nova_vector_int v = numbers(k);
    *result_len = v.len;
    *result = v.data;
}

void f_pairs(int64_t *result_len, nova_tuple2_int_float **result, int32_t k)
{
    *result_len = k;
    *result = (nova_tuple2_int_float *)room(k, sizeof **result);
    for (int32_t i = 0; i < k; i++) {
        (*result)[i].e0 = i;
        (*result)[i].e1 = 2.0f * (float)i;
    }
}

void f_both(nova_tuple2_vector_int_vector_float *result, int32_t k)
{
    result->e0 = numbers(k);
    result->e1.len = k + 1;
    result->e1.data = (float *)room(k + 1, sizeof(float));
    for (int32_t i = 0; i <= k; i++)
        result->e1.data[i] = 0.5f * (float)(i + k);
}

void f_counted(nova_tuple2_int_vector_int *result, int32_t k)
{
    result->e0 = k;
    result->e1 = numbers(k);
}

/* The rows of a triangle behind each other. */
void f_rows(int64_t *result_len, int64_t **result_seg1, int32_t **result, int32_t k)
{
    *result_len = k;
    *result_seg1 = (int64_t *)room((int64_t)k + 1, sizeof(int64_t));
    *result = (int32_t *)room((int64_t)k * k, sizeof(int32_t));
    int64_t at = 0;
    for (int32_t i = 0; i < k; i++) {
        (*result_seg1)[i] = at;
        for (int32_t j = 0; j < i; j++)
            (*result)[at++] = i + j;
    }
    (*result_seg1)[k] = at;
}

void f_deep(int64_t *result_len, int64_t **result_seg1, int64_t **result_seg2, int32_t **result,
            int32_t k)
{
    *result_len = k;
    *result_seg1 = (int64_t *)room((int64_t)k + 1, sizeof(int64_t));
    *result_seg2 = (int64_t *)room((int64_t)k * k + 1, sizeof(int64_t));
    *result = (int32_t *)room((int64_t)k * k * k, sizeof(int32_t));
    int64_t row = 0, at = 0;
    for (int32_t i = 0; i < k; i++) {
        (*result_seg1)[i] = row;
        for (int32_t j = 0; j < i; j++) {
            (*result_seg2)[row++] = at;
            for (int32_t l = 0; l < j; l++)
                (*result)[at++] = j + l;
        }
    }
    (*result_seg1)[k] = row;
    (*result_seg2)[row] = at;
}

void f_named(int64_t *result_len, nova_tuple2_int_vector_int **result, int32_t k)
{
    *result_len = k;
    *result = (nova_tuple2_int_vector_int *)room(k, sizeof **result);
    for (int32_t i = 0; i < k; i++) {
        (*result)[i].e0 = i;
        (*result)[i].e1 = numbers(i);
    }
}

void f_matrix(int64_t *result_dim0, int64_t *result_dim1, int32_t **result, int32_t k)
{
    *result_dim0 = k;
    *result_dim1 = 3;
    *result = (int32_t *)room((int64_t)k * 3, sizeof(int32_t));
    for (int32_t i = 0; i < k; i++)
        for (int32_t j = 0; j < 3; j++)
            (*result)[3 * i + j] = 10 * i + j;
}

void f_boxed(nova_tuple2_tuple2_int_vector_int_vector_vector_int *result, int32_t k)
{
    f_counted(&result->e0, k);
    result->e1 = triangle(k);
}

void f_maybe(nova_sum_Maybe_vector_int *result, int32_t k)
{
    *result = some_or_none(k);
}

void f_maybes(int64_t *result_len, nova_sum_Maybe_vector_int **result, int32_t k)
{
    *result_len = k;
    *result = (nova_sum_Maybe_vector_int *)room(k, sizeof **result);
    for (int32_t i = 0; i < k; i++)
        (*result)[i] = some_or_none(i);
}

void f_list(nova_data_List_int *result, int32_t k)
{
    *result = listed(k);
}

void f_lists(nova_data_List_vector_int *result, int32_t k)
{
    result->root = k;
    result->len = (int64_t)k + 1;
    result->nodes = (nova_node_List_vector_int *)room(result->len, sizeof *result->nodes);
    result->nodes[0].tag = NOVA_List_vector_int_Nil;
    for (int32_t i = 1; i <= k; i++) {
        result->nodes[i].tag = NOVA_List_vector_int_Cons;
        result->nodes[i].u.Cons.e0 = numbers(i);
        result->nodes[i].u.Cons.e1 = i - 1;
    }
}

/* Node 2 i is the tree of height i, node 2 i - 1 its right leaf. */
void f_tree(nova_data_Tree *result, int32_t k)
{
    result->root = 2 * (int64_t)k;
    result->len = 2 * (int64_t)k + 1;
    result->nodes = (nova_node_Tree *)room(result->len, sizeof *result->nodes);
    result->nodes[0].tag = NOVA_Tree_Leaf;
    result->nodes[0].u.Leaf.len = 3;
    result->nodes[0].u.Leaf.data = (int32_t *)room(3, sizeof(int32_t));
    for (int32_t i = 0; i < 3; i++)
        result->nodes[0].u.Leaf.data[i] = i + 1;
    for (int32_t i = 1; i <= k; i++) {
        result->nodes[2 * i - 1].tag = NOVA_Tree_Leaf;
        result->nodes[2 * i - 1].u.Leaf = numbers(i);
        result->nodes[2 * i].tag = NOVA_Tree_Node;
        result->nodes[2 * i].u.Node.e0 = 2 * (i - 1);
        result->nodes[2 * i].u.Node.e1 = 2 * i - 1;
    }
}

void f_shape(nova_sum_Shape *result, int32_t k)
{
    result->tag = k % 4;
    switch (k % 4) {
    case NOVA_Shape_Line:
        result->u.Line.e0 = k;
        result->u.Line.e1 = (float)k;
        break;
    case NOVA_Shape_Path:
        result->u.Path.len = k;
        result->u.Path.data = (nova_tuple2_float_float *)room(k, sizeof(nova_tuple2_float_float));
        for (int32_t i = 0; i < k; i++) {
            result->u.Path.data[i].e0 = (float)i;
            result->u.Path.data[i].e1 = (float)k;
        }
        break;
    case NOVA_Shape_Group:
        result->u.Group = triangle(k);
        break;
    }
}

void f_mixed(nova_tuple2_data_List_int_vector_int *result, int32_t k)
{
    result->e0 = listed(k);
    result->e1 = numbers(k);
}
