//! Marks of profiles: which statements get them, and the numbers that they pass.

use crate::support::{apply, read, value_with};
use nova_core::interpret::Options;
use nova_flat::print::print;
use std::cell::RefCell;

/// Returns the lines that the marks of a program of one function write when it runs with these inputs. Its
/// value must stay the same.
#[track_caller]
fn marked(text: &str, inputs: &[&str]) -> Vec<String> {
    let mut program = read(text);
    let silent = Options {
        trace: &|_| {},
        ..Options::default()
    };
    let expected = value_with(&program, inputs, &silent);
    apply(nova_opt::profile::run, &mut program);
    // The text of a program with marks reads back.
    let text = print(&program);
    let program = read(&text);
    assert_eq!(print(&program), text);
    let lines = RefCell::new(Vec::new());
    let options = Options {
        trace: &|line| lines.borrow_mut().push(line.replace('\n', "|")),
        ..Options::default()
    };
    let found = value_with(&program, inputs, &options);
    assert_eq!(found, expected, "{}", print(&program));
    lines.into_inner()
}

/// Returns a program of a vector `x` and a number `k`, with these statements and this result.
fn of_vector(statements: &str, result: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"k\" i64)] f32 \"f\")
          (function \"f\" [n:i64 x:[n]f32 k:i64] [r:f32] (do {statements} (in {result})))
          (function \"g\" [m:i64] [s:f32] (do
            (let [z:[m]f32] (replicate [m] 1f))
            (let [t:f32] (operation [m] [q:i64] [] (do (let [w:f32] (index z [q])) (in w))
              (reduce_comm [0f] (lambda [a:f32 b:f32] (do (let [p:f32] (add f32 a b)) (in p))))))
            (in t))))"
    )
}

const MAP: &str = "(let [y:[n]f32] (operation [n] [i:i64] []
    (do (let [e:f32] (index x [i])) (let [d:f32] (mul f32 e e)) (in d)) (map)))";

#[test]
fn operations_pass_their_iterations_and_bytes() {
    let filter = "(let [l:i64 v:[l]f32] (operation [n] [i2:i64] []
        (do (let [e2:f32] (index y [i2])) (let [g:bool] (gt f32 e2 4f)) (in g e2)) (filter 1)))";
    let lines = marked(
        &of_vector(&format!("{MAP} {filter}"), "0f"),
        &["[1 2 3]", "0"],
    );
    let expected = [
        "0|map| (nil)",
        "0 ((3, 12, 12))",
        "1|filter| (nil)",
        "1 ((3, 12, 4))",
    ];
    assert_eq!(lines, expected);
    let lines = marked(&of_vector(MAP, "0f"), &["[]", "0"]);
    assert_eq!(lines, ["0|map| (nil)", "0 ((0, 0, 0))"]);
}

#[test]
fn loops_have_marks_around_those_of_what_is_inside() {
    let inside = MAP.replace("y:", "y1:");
    let text = format!(
        "(let [v:i64] (while [v1:i64 = k] (do (let [c:bool] (lt i64 v1 9)) (in c))
          (do {inside} (let [d1:i64] (add i64 v1 3)) (in d1))))"
    );
    let lines = marked(&of_vector(&text, "0f"), &["[1 2]", "2"]);
    let map = ["1|map| (nil)", "1 ((2, 8, 8))"];
    let expected = [
        &["0|loop| (nil)"][..],
        &map,
        &map,
        &map,
        &["0 ((3, -1, -1))"],
    ]
    .concat();
    assert_eq!(lines, expected);
}

#[test]
fn what_operations_call_has_no_marks() {
    let inside = "(let [y:[n]f32] (operation [n] [i:i64] []
        (do (let [e:f32] (call \"g\" [k])) (in e)) (map)))";
    let lines = marked(&of_vector(inside, "0f"), &["[1 2]", "2"]);
    assert_eq!(lines, ["0|map| (nil)", "0 ((2, 0, 8))"]);
    let outside = "(let [e:f32] (call \"g\" [k]))";
    let lines = marked(&of_vector(outside, "e"), &["[1 2]", "2"]);
    let expected = [
        "0|replicate| (nil)",
        "0 ((2, 0, 8))",
        "1|reduce| (nil)",
        "1 ((2, 8, 0))",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn scalar_loops_and_small_operations_inside_of_loops_have_none() {
    let small = "(let [y1:[4]f32] (replicate [4] 0f))";
    let scalar = "(let [u:i64] (while [u1:i64 = 0] (do (let [c1:bool] (lt i64 u1 2)) (in c1))
        (do (let [u2:i64] (add i64 u1 1)) (in u2))))";
    let text = format!(
        "(let [v:i64] (while [v1:i64 = k] (do (let [c:bool] (lt i64 v1 9)) (in c))
          (do {small} {scalar} (let [d1:i64] (add i64 v1 u)) (in d1))))"
    );
    let lines = marked(&of_vector(&text, "0f"), &["[1 2]", "1"]);
    assert_eq!(lines, ["0|loop| (nil)", "0 ((4, -1, -1))"]);
}
