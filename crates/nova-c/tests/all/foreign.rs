//! Foreign functions: their arguments, their results, and results that are refused.

use crate::support::*;
use nova_core::ir::{Foreign, ForeignKind};
use nova_core::{Scalar, SumId, Type as CoreType};
use nova_loop::ir::{Command, Program, Variable};

/// Adds an entry that passes its inputs to a foreign function and returns its result.
fn forwarder(program: &mut Program, name: &str, parameters: Vec<CoreType>, result: CoreType) {
    program.foreigns.push(Foreign {
        kind: ForeignKind::Plain,
        name: format!("{name}_foreign").into(),
        parameters: parameters.clone(),
        result: result.clone(),
    });
    let inputs: Vec<Variable> = parameters
        .iter()
        .flat_map(|ty| components(program, ty, "x"))
        .collect();
    let results = components(program, &result, "r");
    let call = Command::Foreign {
        foreign: program.foreigns.len() as u32 - 1,
        arguments: inputs.iter().map(|v| var(*v)).collect(),
        results: results.clone(),
        place: place(5, 5),
    };
    let id = function(program, name, inputs, results, vec![call]);
    let names = ["x", "y", "z"];
    let inputs = names.into_iter().zip(parameters).collect();
    entry(program, name, inputs, result, id);
}

#[test]
fn foreign_functions() {
    let vector = CoreType::vector;
    let int = || CoreType::INT;
    let list = CoreType::Sum(SumId(0));
    let mut program = Program {
        sums: vec![
            sum_type(
                "List",
                &[0],
                vec![
                    ("Nil", CoreType::Unit),
                    ("Cons", CoreType::tuple(vec![vector(int()), list.clone()])),
                ],
            ),
            sum_type(
                "Maybe",
                &[],
                vec![("None", CoreType::Unit), ("Some", vector(int()))],
            ),
        ],
        ..Program::default()
    };
    let p = &mut program;
    let float = || scalar(Scalar::F32);
    forwarder(p, "scale", vec![vector(float()), float()], vector(float()));
    forwarder(p, "flip", vec![CoreType::BOOL], CoreType::BOOL);
    let pairs = || vector(CoreType::tuple(vec![int(), vector(int())]));
    forwarder(p, "pairs", vec![pairs()], pairs());
    forwarder(
        p,
        "rows",
        vec![vector(vector(int()))],
        vector(vector(int())),
    );
    forwarder(
        p,
        "turn",
        vec![CoreType::array(2, int())],
        CoreType::array(2, int()),
    );
    forwarder(
        p,
        "maybe",
        vec![CoreType::Sum(SumId(1))],
        CoreType::Sum(SumId(1)),
    );
    forwarder(p, "tail", vec![list.clone()], list);
    forwarder(p, "run", vec![CoreType::Unit], CoreType::Unit);
    let files = emit(&program, "foreign");
    compiles(&files, "foreign");
    let host = r#"
#include "foreign.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *copy(const void *from, size_t size)
{
    void *to = malloc(size > 0 ? size : 1);
    if (size > 0)
        memcpy(to, from, size);
    return to;
}
void scale_foreign(int64_t *result_len, float **result, int64_t a_len, const float *a, float b)
{
    *result_len = a_len;
    *result = (float *)copy(a, (size_t)a_len * sizeof(float));
    for (int64_t i = 0; i < a_len; i++)
        (*result)[i] *= b;
}
void flip_foreign(int *result, int a)
{
    *result = !a;
}
void pairs_foreign(int64_t *result_len, nova_tuple2_int_vector_int **result, int64_t a_len,
                   const nova_tuple2_int_vector_int *a)
{
    *result_len = a_len;
    *result = (nova_tuple2_int_vector_int *)copy(a, (size_t)a_len * sizeof *a);
    for (int64_t i = 0; i < a_len; i++)
        (*result)[i].e1.data = (int32_t *)copy(a[i].e1.data, (size_t)a[i].e1.len * 4);
}
void rows_foreign(int64_t *result_len, int64_t **result_seg1, int32_t **result, int64_t a_len,
                  const int64_t *a_seg1, const int32_t *a)
{
    *result_len = a_len;
    *result_seg1 = (int64_t *)copy(a_seg1, (size_t)(a_len + 1) * 8);
    *result = (int32_t *)copy(a, (size_t)a_seg1[a_len] * 4);
}
void turn_foreign(int64_t *result_dim0, int64_t *result_dim1, int32_t **result, int64_t a_dim0,
                  int64_t a_dim1, const int32_t *a)
{
    *result_dim0 = a_dim1;
    *result_dim1 = a_dim0;
    *result = (int32_t *)malloc((size_t)(a_dim0 * a_dim1) * 4);
    for (int64_t i = 0; i < a_dim0; i++)
        for (int64_t j = 0; j < a_dim1; j++)
            (*result)[j * a_dim0 + i] = a[i * a_dim1 + j];
}
void maybe_foreign(nova_sum_Maybe *result, nova_sum_Maybe a)
{
    *result = a;
    if (a.tag == NOVA_Maybe_Some)
        result->u.Some.data = (int32_t *)copy(a.u.Some.data, (size_t)a.u.Some.len * 4);
}
void tail_foreign(nova_data_List *result, nova_data_List a)
{
    result->root = a.nodes[a.root].u.Cons.e1;
    result->len = a.len;
    result->nodes = (nova_node_List *)copy(a.nodes, (size_t)a.len * sizeof *a.nodes);
    for (int64_t i = 0; i < a.len; i++)
        if (a.nodes[i].tag == NOVA_List_Cons) {
            nova_vector_int v = a.nodes[i].u.Cons.e0;
            result->nodes[i].u.Cons.e0.data = (int32_t *)copy(v.data, (size_t)v.len * 4);
        }
}
void run_foreign(void)
{
    puts("run");
}
int main(void)
{
    float x[3] = {1, 2, 3}, *y = NULL;
    int64_t n = 0;
    int code = scale(&n, &y, 3, x, 2.5f);
    printf("%d %d %g\n", code, (int)n, y[2]);
    free(y);
    int b = 0;
    code = flip(&b, 0);
    printf("%d %d\n", code, b);
    int32_t v[3] = {1, 2, 3}, *w = NULL;
    nova_tuple2_int_vector_int p[2] = {{7, {2, v}}, {8, {3, v}}}, *q = NULL;
    code = pairs(&n, &q, 2, p);
    printf("%d %d %d %d\n", code, (int)n, q[1].e0, q[1].e1.data[2]);
    free(q[0].e1.data); free(q[1].e1.data); free(q);
    int64_t seg[3] = {0, 1, 3}, *out = NULL;
    code = rows(&n, &out, &w, 2, seg, v);
    printf("%d %d %d %d\n", code, (int)n, (int)out[2], w[2]);
    free(out); free(w); w = NULL;
    int64_t d0 = 0, d1 = 0;
    code = turn(&d0, &d1, &w, 1, 3, v);
    printf("%d %d %d %d\n", code, (int)d0, (int)d1, w[2]);
    free(w);
    nova_sum_Maybe m, r;
    memset(&m, 0, sizeof m);
    m.tag = NOVA_Maybe_Some; m.u.Some.len = 3; m.u.Some.data = v;
    code = maybe(&r, m);
    printf("%d %d %d\n", code, r.tag, r.u.Some.data[1]);
    free(r.u.Some.data);
    nova_node_List nodes[3];
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < 2; i++) {
        nodes[i].tag = NOVA_List_Cons;
        nodes[i].u.Cons.e0.len = i + 1; nodes[i].u.Cons.e0.data = v;
        nodes[i].u.Cons.e1 = i + 1;
    }
    nova_data_List l = {0, 3, nodes}, t;
    code = tail(&t, l);
    printf("%d %d %d %d\n", code, (int)t.len, (int)t.root, t.nodes[0].u.Cons.e0.data[1]);
    nova_data_List_free(&t);
    code = run();
    printf("%d\n", code);
    return 0;
}
"#;
    let expected = "0 3 7.5
0 1
0 2 8 3
0 2 3 3
0 3 1 3
0 1 2
0 2 0 2
run
0
";
    prints(&[("foreign", &files)], host, expected);
}

/// Memory that a foreign function allocated is freed even if its result is refused.
#[test]
fn refused_results_of_foreign_functions() {
    let vector = CoreType::vector;
    let int = || CoreType::INT;
    let list = CoreType::Sum(SumId(0));
    let mut program = Program {
        sums: vec![
            sum_type(
                "List",
                &[0],
                vec![
                    ("Nil", CoreType::Unit),
                    ("Cons", CoreType::tuple(vec![vector(int()), list.clone()])),
                ],
            ),
            sum_type(
                "Either",
                &[],
                vec![("Left", vector(int())), ("Right", vector(vector(int())))],
            ),
        ],
        ..Program::default()
    };
    let p = &mut program;
    let either = || CoreType::Sum(SumId(1));
    let rows = || vector(vector(int()));
    forwarder(p, "rows", vec![int()], rows());
    forwarder(p, "values", vec![int()], vector(either()));
    let pair = CoreType::tuple(vec![rows(), either()]);
    forwarder(p, "pair", vec![int()], pair);
    forwarder(p, "chain", vec![int()], list);
    let files = emit(&program, "refused");
    compiles(&files, "refused");
    let host = r#"
#include "refused.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int32_t *numbers(int n)
{
    int32_t *data = (int32_t *)malloc((size_t)n * 4);
    for (int i = 0; i < n; i++)
        data[i] = i;
    return data;
}
static nova_vector_int list_of(int n)
{
    nova_vector_int v = {n, numbers(n)};
    return v;
}
static nova_sum_Either left(int n)
{
    nova_sum_Either value;
    memset(&value, 0, sizeof value);
    value.u.Left = list_of(n);
    return value;
}
static nova_sum_Either right(int n)
{
    nova_sum_Either value;
    memset(&value, 0, sizeof value);
    value.tag = NOVA_Either_Right;
    value.u.Right.len = n;
    value.u.Right.data = (nova_vector_int *)malloc((size_t)n * sizeof(nova_vector_int));
    for (int i = 0; i < n; i++)
        value.u.Right.data[i] = list_of(i + 1);
    return value;
}
void rows_foreign(int64_t *result_len, int64_t **result_seg1, int32_t **result, int32_t how)
{
    *result_len = how == 1 ? -1 : 2;
    *result_seg1 = (int64_t *)calloc(3, 8);
    (*result_seg1)[1] = how == 2 ? 7 : 1;
    (*result_seg1)[2] = 2;
    *result = numbers(2);
}
void values_foreign(int64_t *result_len, nova_sum_Either **result, int32_t how)
{
    *result_len = how == 1 ? -1 : 3;
    *result = (nova_sum_Either *)malloc(3 * sizeof **result);
    (*result)[0] = left(3);
    (*result)[1] = right(2);
    (*result)[2] = left(1);
    if (how == 1)
        for (int i = 0; i < 3; i++) {
            if (i == 1) {
                free((*result)[i].u.Right.data[0].data);
                free((*result)[i].u.Right.data[1].data);
            }
            free((*result)[i].u.Left.data);
        }
    if (how == 2)
        (*result)[1].u.Right.data[1].len = -1;
    if (how == 3) {
        free((*result)[2].u.Left.data);
        (*result)[2].tag = 2;
    }
    if (how == 4) {
        free((*result)[2].u.Left.data);
        (*result)[2].u.Left.data = NULL;
    }
}
void pair_foreign(nova_tuple2_vector_vector_int_sum_Either *result, int32_t how)
{
    result->e0 = right(3).u.Right;
    result->e1 = right(2);
    if (how == 1)
        result->e1.u.Right.data[0].len = -5;
    if (how == 2) {
        for (int i = 0; i < 3; i++)
            free(result->e0.data[i].data);
        free(result->e0.data);
        result->e0.data = NULL;
    }
}
void chain_foreign(nova_data_List *result, int32_t how)
{
    result->root = how == 1 ? 9 : 0;
    result->len = 3;
    result->nodes = (nova_node_List *)calloc(3, sizeof *result->nodes);
    for (int i = 0; i < 2; i++) {
        result->nodes[i].tag = NOVA_List_Cons;
        result->nodes[i].u.Cons.e0 = list_of(i + 2);
        result->nodes[i].u.Cons.e1 = how == 2 ? 0 : i + 1;
    }
    if (how == 3)
        result->nodes[2].tag = 5;
}
int main(void)
{
    for (int how = 0; how < 3; how++) {
        int64_t n = 0, *seg = NULL;
        int32_t *data = NULL;
        int code = rows(&n, &seg, &data, how);
        printf("rows %d %s\n", code, code == 0 ? "" : rows_error());
        free(seg);
        free(data);
    }
    for (int how = 1; how < 5; how++) {
        int64_t n = 0;
        nova_sum_Either *data = NULL;
        int code = values(&n, &data, how);
        printf("values %d %s\n", code, values_error());
    }
    for (int how = 1; how < 3; how++) {
        nova_tuple2_vector_vector_int_sum_Either value;
        int code = pair(&value, how);
        printf("pair %d %s\n", code, pair_error());
    }
    for (int how = 0; how < 4; how++) {
        nova_data_List value;
        int code = chain(&value, how);
        printf("chain %d %s\n", code, code == 0 ? "" : chain_error());
        if (code == 0)
            nova_data_List_free(&value);
    }
    return 0;
}
"#;
    let expected = "rows 0 \n\
                    rows 4 result_seg1: a negative length: -1\n\
                    rows 4 result_seg1: offset 2 after 7 does not rise\n\
                    values 4 result: a negative length: -1\n\
                    values 4 result: a negative length: -1\n\
                    values 4 result: tag 2 is not one of 0 to 1\n\
                    values 4 result: a null pointer for length 1\n\
                    pair 4 result: a negative length: -5\n\
                    pair 4 result: a null pointer for length 3\n\
                    chain 0 \n\
                    chain 4 result: link 9 is out of range for 3 nodes\n\
                    chain 4 result: a node contains itself\n\
                    chain 4 result: tag 5 is not one of 0 to 1\n";
    prints(&[("refused", &files)], host, expected);
}
