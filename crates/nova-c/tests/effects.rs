//! What reaches outside: traces, foreign functions, and the stack of recursive functions.

mod support;

use nova_core::ir::Foreign;
use nova_core::{
    Constructor, ErrorKind, Scalar, ScalarOperation as O, SumId, SumType, Type as CoreType,
};
use nova_loop::ir::{Command, FunctionId, Program, Variable};
use support::*;

/// The variables for the components of a type.
fn components(program: &mut Program, ty: &CoreType, name: &str) -> Vec<Variable> {
    let mut variables = Vec::new();
    for component in nova_flat::representation::components(ty, &program.sums) {
        let name = format!("{name}_{}", component.name);
        if component.shape.is_empty() {
            let ty = nova_loop::ir::Type::Scalar(component.scalar);
            variables.push(program.add_variable(&*name, ty));
        } else {
            variables.push(program.add_variable(&*name, pointer(component.scalar)));
            variables.push(program.add_variable(format!("{name}_block"), BLOCK));
        }
    }
    variables
}

fn sum_type(name: &str, group: &[u32], constructors: Vec<(&str, CoreType)>) -> SumType {
    SumType {
        name: name.into(),
        arguments: vec![],
        constructors: constructors
            .into_iter()
            .map(|(name, payload)| Constructor {
                name: name.into(),
                payload,
            })
            .collect(),
        group: group.iter().map(|k| SumId(*k)).collect(),
    }
}

/// An entry that traces its input.
fn tracer(program: &mut Program, name: &str, text: &str, ty: CoreType) {
    let parameters = components(program, &ty, "x");
    let body = vec![Command::Trace {
        text: text.as_bytes().into(),
        ty: ty.clone(),
        components: parameters.iter().map(|v| var(*v)).collect(),
    }];
    let id = function(program, name, parameters, vec![], body);
    entry(program, name, vec![("x", ty)], CoreType::Unit, id);
}

#[test]
fn traces_of_floats() {
    let mut program = Program::default();
    tracer(&mut program, "single", "x =", scalar(Scalar::F32));
    tracer(&mut program, "whole", "100%", scalar(Scalar::F64));
    let floats: [f32; 9] = [
        0.1,
        1e-4,
        9.99e-5,
        -1e16,
        16777216.0,
        f32::MAX,
        f32::MIN_POSITIVE / 8.0,
        0.3,
        -0.0,
    ];
    let doubles: [f64; 9] = [
        0.1,
        1e-4,
        9.99e-5,
        -1e16,
        9007199254740993.0,
        f64::MAX,
        5e-324,
        1.0 / 3.0,
        123456.0,
    ];
    let mut calls = String::from("    setlocale(LC_ALL, \"\");\n");
    let mut expected = String::new();
    for x in floats {
        calls += &format!("    single({x:e}f);\n");
        expected += &format!("x = {x:?}\n");
    }
    for x in doubles {
        calls += &format!("    whole({x:e});\n");
        expected += &format!("100% {x:?}\n");
    }
    calls += "    whole(NAN); whole(-INFINITY);\n";
    expected += "100% nan\n100% -inf\n";
    check_traces("floats", &program, &calls, &expected);
}

#[test]
fn traces_of_vectors_and_sums() {
    let path = CoreType::vector(CoreType::tuple(vec![CoreType::INT, CoreType::BOOL]));
    let constructors = vec![("Point", CoreType::Unit), ("Path", path)];
    let mut program = Program {
        sums: vec![sum_type("Shape", &[], constructors)],
        ..Program::default()
    };
    let p = &mut program;
    let bytes = CoreType::vector(scalar(Scalar::U8));
    let pair = CoreType::tuple(vec![CoreType::INT, CoreType::Unit]);
    tracer(p, "rows", "", CoreType::vector(bytes));
    tracer(p, "matrix", "m", CoreType::array(2, pair));
    tracer(p, "shape", "s", CoreType::vector(CoreType::Sum(SumId(0))));
    let calls = r#"
    int64_t seg[3] = {0, 2, 2};
    uint8_t bytes[2] = {7, 255};
    rows(2, seg, bytes);
    nova_tuple2_int_unit m[6] = {{1}, {2}, {3}, {4}, {5}, {-6}};
    matrix(2, 3, m);
    nova_tuple2_int_bool path[2] = {{1, 1}, {2, 0}};
    nova_sum_Shape s[2];
    memset(s, 0, sizeof s);
    s[1].tag = NOVA_Shape_Path;
    s[1].u.Path.len = 2;
    s[1].u.Path.data = path;
    shape(2, s);
"#;
    let expected = " [[7 255] []]
m [[(1, nil) (2, nil) (3, nil)] [(4, nil) (5, nil) (-6, nil)]]
s [Point (Path [(1, true) (2, false)])]
";
    check_traces("structures", &program, calls, expected);
}

#[test]
fn traces_of_long_lists() {
    let list = CoreType::Sum(SumId(0));
    let cell = CoreType::tuple(vec![CoreType::INT, list.clone()]);
    let constructors = vec![("Nil", CoreType::Unit), ("Cons", cell)];
    let mut program = Program {
        sums: vec![sum_type("List", &[0], constructors)],
        ..Program::default()
    };
    let ty = CoreType::tuple(vec![list, CoreType::BOOL]);
    tracer(&mut program, "list", "l", ty);
    let calls = r#"
    nova_node_List *nodes = (nova_node_List *)calloc(100001, sizeof(nova_node_List));
    for (int i = 0; i < 100000; i++) {
        nodes[i].tag = NOVA_List_Cons;
        nodes[i].u.Cons.e0 = i;
        nodes[i].u.Cons.e1 = i + 1;
    }
    nova_tuple2_data_List_bool l = {{99998, 100001, nodes}, 1};
    list(l);
    l.e0.root = 0;
    list(l);
    free(nodes);
"#;
    let mut expected = String::from("l ((Cons (99998, (Cons (99999, Nil)))), true)\nl (");
    for i in 0..100000 {
        expected += &format!("(Cons ({i}, ");
    }
    expected += &format!("Nil{}, true)\n", "))".repeat(100000));
    check_traces("lists", &program, calls, &expected);
}

/// What calls of a program's entries trace.
fn check_traces(name: &str, program: &Program, calls: &str, expected: &str) {
    let files = emit(program, name);
    compiles(&files, name);
    let host = format!(
        r#"
#include "{name}.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{{
{calls}
    return 0;
}}
"#
    );
    prints(&[(name, &files)], &host, expected);
}

/// An entry whose value is that of a foreign function of its inputs.
fn forwarder(program: &mut Program, name: &str, parameters: Vec<CoreType>, result: CoreType) {
    program.foreigns.push(Foreign {
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

/// What a foreign function allocated is freed also where its result is refused.
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

/// `f n = if n = 0 then 0 else 1 + f (n - 1)`.
fn depth() -> Program {
    let mut program = Program::default();
    let p = &mut program;
    let (n, r, inner) = (
        p.add_variable("n", I64),
        p.add_variable("r", I64),
        p.add_variable("inner", I64),
    );
    let body = vec![when(
        equal(var(n), int(0)),
        vec![assign(r, int(0))],
        vec![
            unset(inner),
            call(FunctionId(0), vec![minus(var(n), int(1))], vec![inner]),
            assign(r, plus(var(inner), int(1))),
        ],
    )];
    let f = function(p, "depth", vec![n], vec![r], body);
    p.functions[0].recursive = true;
    let int64 = scalar(Scalar::I64);
    entry(p, "depth", vec![("n", int64.clone())], int64, f);
    program
}

#[test]
fn deep_recursion() {
    let files = emit(&depth(), "deep");
    compiles(&files, "deep");
    let host = r#"
#include "deep.h"
#include <pthread.h>
#include <stdio.h>
static void *work(void *argument)
{
    int64_t result = 0;
    int code = depth(&result, *(int64_t *)argument);
    *(int64_t *)argument = code == 0 ? result : -code;
    return NULL;
}
int main(void)
{
    int64_t result = 0;
    int code = depth(&result, 100000);
    printf("%d %d\n", code, (int)result);
    result = 7;
    /* A tail call made a loop may end. */
    code = depth(&result, INT64_C(1000000000));
    if (code == 0)
        printf("1 7 test.nova:1:1: recursion too deep\n");
    else
        printf("%d %d %s\n", code, (int)result, depth_error());
    pthread_t threads[4];
    int64_t n[4] = {1000, 100000, 200000, 5};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, &n[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        printf("%d\n", (int)n[i]);
    }
    return 0;
}
"#;
    let expected = "0 100000
1 7 test.nova:1:1: recursion too deep
1000
100000
200000
5
";
    prints(&[("deep", &files)], host, expected);
}

#[test]
fn nothing_stays_after_an_error() {
    // Allocates, then fails when the input is odd; four threads at once.
    let mut program = Program::default();
    let p = &mut program;
    let (n, m, y, yb) = (
        p.add_variable("n", I64),
        p.add_variable("m", I64),
        p.add_variable("y", pointer(Scalar::I64)),
        p.add_variable("y_block", BLOCK),
    );
    let i = p.add_variable("i", I64);
    let (b, k) = (
        p.add_variable("b", BLOCK),
        p.add_variable("p", pointer(Scalar::U8)),
    );
    let even = equal(binary(O::BitAnd, Scalar::I64, var(n), int(1)), int(0));
    let body = vec![
        assign(m, var(n)),
        allocate(yb, y, Scalar::I64, var(n)),
        each(
            i,
            int(200),
            vec![unset(b), unset(k), allocate(b, k, Scalar::U8, var(i))],
        ),
        each(p_index(p), var(n), vec![store(y, int(0), var(n))]),
        check(even, ErrorKind::Index, vec![var(n), int(2)]),
    ];
    let f = function(p, "odd", vec![n], vec![m, y, yb], body);
    let int64 = scalar(Scalar::I64);
    entry(
        p,
        "odd",
        vec![("n", int64.clone())],
        CoreType::vector(int64),
        f,
    );
    let files = emit(&program, "odd");
    compiles(&files, "odd");
    let host = r#"
#include "odd.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int bad;
static void *work(void *argument)
{
    for (int64_t n = 1; n < 200; n++) {
        int64_t len = 0, *data = NULL;
        int code = odd(&len, &data, n);
        char text[100];
        snprintf(text, sizeof text, "test.nova:1:7: index %d is out of range for length 2", (int)n);
        if (code != (int)(n % 2) || (code == 0) != (data != NULL)
            || (code == 1 && strcmp(odd_error(), text) != 0))
            __sync_fetch_and_add(&bad, 1);
        free(data);
    }
    (void)argument;
    return NULL;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int64_t len = 0, *data = NULL;
    int code = odd(&len, &data, INT64_MAX);
    printf("%d %d %s\n", bad, code, odd_error());
    code = odd(&len, &data, -1);
    printf("%d %s\n", code, odd_error());
    return 0;
}
"#;
    let expected = "0 2 test.nova:4:2: out of memory\n2 test.nova:4:2: out of memory\n";
    prints(&[("odd", &files)], host, expected);
}

fn p_index(program: &mut Program) -> Variable {
    program.add_variable("i", I64)
}
