//! Errors: the stack of recursive functions, and that nothing stays allocated after an error.

use crate::support::*;
use nova_core::{ErrorKind, Scalar, ScalarOperation as O, Type as CoreType};
use nova_loop::ir::{FunctionId, Program, Variable};

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
