//! The output of traces.

use crate::support::*;
use nova_core::{Scalar, SumId, Type as CoreType};
use nova_flat::ir as flat;
use nova_flat::marks::Mark;
use nova_loop::ir::{Command, Program};

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

/// Marks of profiles are no traces: C calls the runtime, which takes times only if it is asked to.
#[test]
fn marks_call_the_runtime() {
    let mut program = Program::default();
    let marks = [
        Mark::begin(3, "map", "a \"b\".nova:1:2"),
        Mark::end(3, [5, 20, -1].map(flat::Atom::index)),
    ];
    let body = marks.map(|mark| match mark {
        flat::Expression::Trace {
            text,
            ty,
            components,
        } => Command::Trace {
            text,
            ty,
            components: components
                .iter()
                .map(|c| int(c.as_i64().expect("a constant")))
                .collect(),
        },
        _others => panic!("a mark is a trace"),
    });
    let id = function(&mut program, "marked", vec![], vec![], body.to_vec());
    entry(&mut program, "marked", vec![], CoreType::Unit, id);
    let files = emit(&program, "marked");
    for line in [
        r#"nova_begin_loop(3, "map", "a \"b\".nova:1:2");"#,
        "nova_end_loop(3, 5, 20, -1);",
    ] {
        assert!(files.source.contains(line), "{line}\n{}", files.source);
    }
    compiles(&files, "marked");
}

/// Checks the traces of calls of a program's entries.
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
