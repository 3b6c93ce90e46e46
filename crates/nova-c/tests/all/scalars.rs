//! Scalars and vectors of scalars: the functions most programs are made of.

use crate::support::*;
use nova_core::{ErrorKind, Scalar, ScalarOperation as O, ScalarValue, Type as CoreType};
use nova_loop::ir::{Command, Program};

/// `(reduce + 0 (map * X Y))`.
fn dot() -> Program {
    let mut program = Program::default();
    let p = &mut program;
    let (n, x, xb) = (
        p.add_variable("X_length", I64),
        p.add_variable("X", pointer(Scalar::F32)),
        p.add_variable("X_block", BLOCK),
    );
    let (m, y, yb) = (
        p.add_variable("Y_length", I64),
        p.add_variable("Y", pointer(Scalar::F32)),
        p.add_variable("Y_block", BLOCK),
    );
    let sum = p.add_variable("sum", F32);
    let i = p.add_variable("i", I64);
    let product = binary(O::Multiply, Scalar::F32, load(x, var(i)), load(y, var(i)));
    let body = vec![
        check(
            equal(var(n), var(m)),
            ErrorKind::Length,
            vec![var(n), var(m)],
        ),
        assign(sum, constant(ScalarValue::F32(0.0))),
        each(
            i,
            var(n),
            vec![assign(sum, binary(O::Add, Scalar::F32, var(sum), product))],
        ),
    ];
    let f = function(p, "dot", vec![n, x, xb, m, y, yb], vec![sum], body);
    let vector = CoreType::vector(scalar(Scalar::F32));
    entry(
        p,
        "dot",
        vec![("X", vector.clone()), ("Y", vector)],
        scalar(Scalar::F32),
        f,
    );
    program
}

/// `(map (* 2) X)`.
fn double() -> Program {
    let mut program = Program::default();
    let p = &mut program;
    let (n, x, xb) = (
        p.add_variable("X_length", I64),
        p.add_variable("X", pointer(Scalar::I32)),
        p.add_variable("X_block", BLOCK),
    );
    let (m, y, yb) = (
        p.add_variable("length", I64),
        p.add_variable("data", pointer(Scalar::I32)),
        p.add_variable("data_block", BLOCK),
    );
    let i = p.add_variable("i", I64);
    let two = constant(ScalarValue::I32(2));
    let body = vec![
        assign(m, var(n)),
        allocate(yb, y, Scalar::I32, var(n)),
        each(
            i,
            var(n),
            vec![store(
                y,
                var(i),
                binary(O::Multiply, Scalar::I32, two, load(x, var(i))),
            )],
        ),
    ];
    let f = function(p, "double", vec![n, x, xb], vec![m, y, yb], body);
    let vector = CoreType::vector(CoreType::INT);
    entry(p, "double", vec![("X", vector.clone())], vector, f);
    program
}

#[test]
fn dot_product() {
    let files = emit(&dot(), "dot");
    compiles(&files, "dot");
    let host = r#"
#include "dot.h"
#include <stdio.h>
int main(void)
{
    float x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, result = -1;
    int code = dot(&result, 3, x, 3, y);
    printf("%d %g %s.\n", code, result, dot_error());
    code = dot(&result, 3, x, 2, y);
    printf("%d %g %s.\n", code, result, dot_error());
    code = dot(&result, -3, x, 2, y);
    printf("%d %s.\n", code, dot_error());
    code = dot(&result, 3, NULL, 3, y);
    printf("%d %s.\n", code, dot_error());
    code = dot(NULL, 3, x, 3, y);
    printf("%d %s.\n", code, dot_error());
    code = dot(&result, 0, NULL, 0, NULL);
    printf("%d %g\n", code, result);
    return 0;
}
"#;
    let expected = "0 32 .
1 32 test.nova:1:7: lengths differ: 3 and 2.
4 X: a negative length: -3.
4 X: a null pointer for length 3.
4 result: a null pointer.
0 0
";
    prints(&[("dot", &files)], host, expected);
}

#[test]
fn results_are_given_or_put() {
    let files = emit(&double(), "twice");
    compiles(&files, "twice");
    let host = r#"
#include "twice.h"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int32_t x[3] = {1, -2, 2147483647};
    int64_t len = 0;
    int32_t *data = NULL;
    int code = double_(&len, &data, 3, x);
    printf("%d %d: %d %d %d\n", code, (int)len, data[0], data[1], data[2]);
    free(data);
    int32_t buffer[4] = {7, 7, 7, 7};
    data = buffer;
    len = 4;
    code = double_(&len, &data, 3, x);
    printf("%d %d: %d %d %d %d\n", code, (int)len, buffer[0], buffer[1], buffer[2], buffer[3]);
    data = x;
    len = 3;
    code = double_(&len, &data, 3, x);
    printf("%d %d: %d %d %d\n", code, (int)len, x[0], x[1], x[2]);
    data = buffer;
    len = 2;
    code = double_(&len, &data, 3, x);
    printf("%d %d: %s\n", code, (int)len, double_error());
    data = NULL;
    code = double_(&len, &data, 0, NULL);
    printf("%d %d\n", code, (int)len);
    free(data);
    return 0;
}
"#
    .replace("double_error", "double__error");
    let expected = "0 3: 2 -4 -2
0 3: 2 -4 -2 7
0 3: 2 -4 -2
3 3: result: a buffer of 2 elements for a result of 3
0 0
";
    prints(&[("twice", &files)], &host, expected);
}

#[test]
fn unread_variables_go() {
    let mut program = Program::default();
    let p = &mut program;
    let (a, b, r) = (
        p.add_variable("a", I64),
        p.add_variable("b", I64),
        p.add_variable("r", I64),
    );
    let (dead, also) = (p.add_variable("dead", I64), p.add_variable("also", I64));
    let body = vec![
        declare(dead, plus(var(a), int(1))),
        unset(also),
        assign(also, var(dead)),
        assign(also, plus(var(also), int(2))),
        Command::Comment("the result".into()),
        assign(r, plus(var(a), int(3))),
    ];
    let f = function(p, "f", vec![a, b], vec![r], body);
    let int64 = scalar(Scalar::I64);
    entry(
        p,
        "f",
        vec![("a", int64.clone()), ("b", int64.clone())],
        int64,
        f,
    );
    compiles(&emit(&program, "unread"), "unread");
}
