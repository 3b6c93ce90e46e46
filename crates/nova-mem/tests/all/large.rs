//! Long programs and deeply nested programs pass through every step of Mem.

use nova_core::interpret::Options;
use nova_core::{ScalarValue, Value};
use nova_diag::SourceMap;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::print::print;
use nova_mem::{erase, introduce, verify};

fn value_at_every_step(text: &str) -> i64 {
    let mut sources = SourceMap::new();
    let file = sources.add("large", text);
    let program = parse(text, file).unwrap();
    nova_flat::verify::verify(&program).unwrap();
    let mem: Program = introduce(&program);
    verify(&mem).unwrap();
    assert_eq!(print(&erase(&mem)), print(&program));
    let input = [Value::Scalar(ScalarValue::I64(1))];
    let options = Options::default();
    let flat = nova_flat::interpret::evaluate(&program, 0, &input, &options).unwrap();
    let heap = nova_mem::interpret::evaluate(&mem, 0, &input, &options).unwrap();
    assert!(flat.same(&heap));
    match flat {
        Value::Scalar(ScalarValue::I64(value)) => value,
        other => panic!("{other:?}"),
    }
}

fn program(body: &str, result: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"n\" i64)] i64 \"f\")
           (function \"f\" [n:i64] [r:i64] (do {body} (in {result}))))"
    )
}

#[test]
fn a_hundred_thousand_statements() {
    let mut body = String::from("(let [a0:[1]i64] (replicate [1] n))");
    for k in 0..25_000 {
        let next = k + 1;
        body.push_str(&format!(
            "(let [x{k}:i64] (index a{k} [0])) (let [y{k}:i64] (add i64 x{k} n))
             (let [v{k}:[1]i64] (slice a{k} [0 1 1]))
             (let [a{next}:[1]i64] (update v{k} [0] y{k}))"
        ));
    }
    body.push_str("(let [e:i64] (index a25000 [0]))");
    assert_eq!(value_at_every_step(&program(&body, "e")), 25_001);
}

#[test]
fn ten_thousand_nested_conditionals() {
    let depth = 10_000;
    let mut body = String::from("(let [c:bool] (lt i64 n 5)) (let [a0:[1]i64] (replicate [1] n)) ");
    for k in 0..depth {
        let next = k + 1;
        body.push_str(&format!(
            "(let [s{k}:i64 t{k}:[s{k}]i64] (if c (do (let [a{next}:[1]i64] (update a{k} [0] {k})) "
        ));
    }
    for k in (0..depth).rev() {
        let inner = match k + 1 == depth {
            true => format!("1 a{depth}"),
            false => format!("s{next} t{next}", next = k + 1),
        };
        body.push_str(&format!("(in {inner})) (do (in 1 a{k})))) "));
    }
    body.push_str("(let [e:i64] (index t0 [0]))");
    assert_eq!(value_at_every_step(&program(&body, "e")), depth - 1);
}
