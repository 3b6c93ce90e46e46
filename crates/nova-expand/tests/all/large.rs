//! Tests with large or deep programs, which must take neither much stack nor quadratic work.

use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::{ScalarValue, Value};
use nova_diag::SourceMap;
use std::fmt::Write;

/// Returns the value of a program `f` from one `i64` to one, through text and verifier.
fn run(flat: &str, input: i64) -> Result<i64, Failure> {
    let mut sources = SourceMap::new();
    let file = sources.add("large", flat);
    let program = nova_flat::parse::parse(flat, file).unwrap();
    let program = nova_expand::translate(&nova_mem::introduce(&program), false).unwrap();
    nova_loop::verify(&program).unwrap();
    let text = nova_loop::print::print(&program);
    let file = sources.add("loop", &*text);
    let again = nova_loop::parse::parse(&text, file).unwrap();
    assert!(nova_loop::print::print(&again) == text);
    let inputs = [Value::Scalar(ScalarValue::I64(input))];
    match nova_loop::interpret::evaluate(&again, 0, &inputs, &Options::default())? {
        Value::Scalar(ScalarValue::I64(value)) => Ok(value),
        other => panic!("{other:?}"),
    }
}

/// A program with this body, whose result is `r`.
fn program(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" i64)] i64 \"f\")
           (function \"f\" [x:i64] [result:i64] (do {body} (in r))))"
    )
}

#[test]
fn many_statements() {
    let mut body = String::from("(let [v0:i64] (add i64 x 1))");
    for k in 1..100_000 {
        let (last, step) = (k - 1, if k % 3 == 0 { "v0" } else { "1" });
        write!(body, "(let [v{k}:i64] (add i64 v{last} {step}))").unwrap();
    }
    body.push_str("(let [r:i64] (atom v99999))");
    assert_eq!(run(&program(&body), 0), Ok(1 + 99_999));
}

#[test]
fn deep_conditionals() {
    let depth = 10_000;
    let mut body = String::from("(let [r:i64] ");
    for k in 0..depth {
        write!(
            body,
            "(atom x)) (let [c{k}:bool] (eq i64 x {k})) (let [y{k}:i64]
               (if c{k} (do (in {k})) (do (let [r{k}:i64] "
        )
        .unwrap();
    }
    body = body.replacen("(let [r:i64] (atom x)) ", "", 1);
    body.push_str("(neg i64 x))");
    for k in (0..depth).rev() {
        write!(
            body,
            "(in {})))) ",
            if k + 1 == depth {
                format!("r{k}")
            } else {
                format!("y{}", k + 1)
            }
        )
        .unwrap();
    }
    body.push_str("(let [r:i64] (atom y0))");
    assert_eq!(run(&program(&body), 9_999), Ok(9_999));
    assert_eq!(run(&program(&body), 10_000), Ok(-10_000));
}

#[test]
fn many_arrays() {
    let count = 5_000;
    let mut body = String::from("(let [a0:[x]i64] (iota x 0 1))");
    for k in 1..count {
        let last = k - 1;
        write!(
            body,
            "(let [a{k}:[x]i64] (operation [x] [i{k}:i64] []
               (do (let [e{k}:i64] (index a{last} [i{k}])) (let [f{k}:i64] (add i64 e{k} 1)) (in f{k})) (map)))
             (let [c{k}:bool] (lt i64 x {k}))
             (let [] (check c{k} index [x {k}]))"
        )
        .unwrap();
        if k % 2 == 0 {
            let at = body.rfind("(let [] (check").unwrap();
            body.truncate(at);
        } else {
            let at = body.rfind("(let [c").unwrap();
            body.truncate(at);
        }
    }
    write!(body, "(let [r:i64] (index a{} [1]))", count - 1).unwrap();
    assert_eq!(run(&program(&body), 3), Ok(count));
}

#[test]
fn deep_loops() {
    let depth = 1_000;
    let mut body = String::new();
    for k in 0..depth {
        write!(body, "(let [s{k}:i64] (operation [1] [i{k}:i64] [] (do ").unwrap();
    }
    body.push_str("(let [z:i64] (add i64 x 1))");
    for k in (0..depth).rev() {
        let value = if k + 1 == depth {
            "z".to_string()
        } else {
            format!("s{}", k + 1)
        };
        write!(
            body,
            "(in {value})) (reduce [0] (lambda [a{k}:i64 b{k}:i64]
               (do (let [d{k}:i64] (add i64 a{k} b{k})) (in d{k}))))))"
        )
        .unwrap();
    }
    body.push_str("(let [r:i64] (atom s0))");
    assert_eq!(run(&program(&body), 41), Ok(42));
}

#[test]
fn tail_calls_in_constant_space() {
    let text = "(program (entry \"f\" [(\"x\" i64)] i64 \"g\")
        (function \"g\" [n:i64] [s:i64]
          (do (let [a:[2]i64] (literal i64 [0 1])) (let [r:i64] (call \"f\" [n 2 a])) (in r)))
        (function \"f\" [n1:i64 k:i64 b:[k]i64] [t:i64]
          (do
            (let [c:bool] (eq i64 n1 0))
            (let [u:i64]
              (if c
                (do (let [v:i64] (index b [0])) (in v))
                (do
                  (let [m:i64] (sub i64 n1 1))
                  (let [w:[k]i64] (operation [k] [i:i64] []
                    (do (let [e:i64] (index b [i])) (let [h:i64] (add i64 e 1)) (in h)) (map)))
                  (let [y:i64] (tail \"f\" [m k w]))
                  (in y))))
            (in u))))";
    assert_eq!(run(text, 200_000), Ok(200_000));
}

#[test]
fn many_rows() {
    let body = "(let [s:[x]i64 e:[x]i64 t:i64 d:[t]i64]
        (operation [x] [i:i64] []
          (do (let [a:[1]i64] (literal i64 [i])) (in 1 a))
          (collect 1)))
      (let [last:i64] (sub i64 x 1))
      (let [r:i64] (index d [last]))";
    assert_eq!(run(&program(body), 200_000), Ok(199_999));
}
