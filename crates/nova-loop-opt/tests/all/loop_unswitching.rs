//! Tests of loop unswitching: loops lose a condition that is the same in all iterations, and compute the same. Others
//! stay as they are.

use crate::programs::{after, floats, read};
use crate::values::text_of_value;
use nova_core::{ScalarValue, Value};
use nova_loop::ir::{Command, Program};
use nova_loop::walk::each_command;

/// A function of a vector and a number `w` that fills a new array `t` of 3·w + 40 floats. `body` does so for each `i`
/// of three.
fn program(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"w\" i64)] (vector f32) \"f\")
          (function \"f\" [n:i64 x:(pointer f32) xb:block w:i64] [m:i64 r:(pointer f32) rb:block]
            (declare t:(pointer f32)) (declare tb:block)
            (declare size:i64 (add i64 (mul i64 3 w) 40))
            (allocate tb t f32 size)
            (for z size sequential (store t z 0.5f))
            (for i 3 sequential {body})
            (set m size) (set r t) (set rb tb)))"
    )
}

/// True if a loop without loops inside has a conditional.
fn has_conditional(program: &Program) -> bool {
    let mut found = false;
    each_command(&program.functions[0].body, |command| {
        if let Command::For { body, .. } = command {
            let (mut loops, mut conditionals) = (false, false);
            each_command(body, |inner| {
                loops |= matches!(inner, Command::For { .. });
                conditionals |= matches!(inner, Command::If { .. });
            });
            found |= conditionals && !loops;
        }
    });
    found
}

/// Runs the pass, which must not change values. Returns true if no innermost loop has a conditional afterwards.
fn unswitches(body: &str) -> bool {
    let before = read(&program(body));
    assert!(has_conditional(&before), "{body}");
    let (rewritten, printed) = after(&before, nova_loop_opt::loop_unswitching::run);
    for w in [0, 1, 2, 7, 33] {
        let inputs = [
            floats([0.5, -1.0, 2.0].into_iter()),
            Value::Scalar(ScalarValue::I64(w)),
        ];
        let values = [&before, &rewritten].map(|program| text_of_value(program, &inputs));
        assert_eq!(values[0], values[1], "{w}: {printed}");
    }
    !has_conditional(&rewritten)
}

/// Adds to an element of `t`.
const ADD: &str =
    "(store t (add i64 (mul i64 i w) j) (add f32 (load t (add i64 (mul i64 i w) j)) 1.0f))";

#[test]
fn conditions_that_never_change_stand_before_the_loop() {
    let of_parameters = format!("(for j w sequential (if (lt i64 i 2) (do {ADD})))");
    let of_an_element = format!("(for j w sequential (if (gt f32 (load x i) 0.0f) (do {ADD})))");
    let declared = "(for j w sequential
           (declare a:f32 (load x i)) (declare k:i64 (add i64 j i)) (declare b:f32 (mul f32 a 2.0f))
           (if (gt f32 b 0.0f) (do (store t k (add f32 (load t k) a)))))"
        .to_string();
    let nested = format!(
        "(for u 2 sequential (for j w sequential (if (gt f32 (load x i) 0.0f) (do {ADD}))))"
    );
    for body in [of_parameters, of_an_element, declared, nested] {
        assert!(unswitches(&body), "{body}");
    }
}

#[test]
fn what_an_empty_loop_would_not_read_is_not_read() {
    // Where w is 0 there is no element n of x.
    let body = format!(
        "(for j w sequential
           (declare at:i64 (select (gt i64 w 0) i 1000000))
           (if (gt f32 (load x at) 0.0f) (do {ADD})))"
    );
    assert!(unswitches(&body));
    // A test of the number of iterations that stands before says nothing once the number is another one.
    let changed = format!(
        "(declare c:i64 w)
         (if (gt i64 c 0) (do
           (set c 0)
           (for j c sequential
             (declare at:i64 (select (gt i64 c 0) i 1000000))
             (if (gt f32 (load x at) 0.0f) (do {ADD})))))"
    );
    assert!(unswitches(&changed));
}

#[test]
fn conditions_that_may_change_stay() {
    let of_the_index = format!("(for j w sequential (if (lt i64 j 2) (do {ADD})))");
    let of_an_element =
        format!("(for j w sequential (if (gt f32 (load x (rem i64 j 3)) 0.0f) (do {ADD})))");
    let of_what_is_stored =
        format!("(for j w sequential (if (lt f32 (load t i) 3.0f) (do {ADD})))");
    let with_another_branch = format!(
        "(for j w sequential (if (lt i64 i 2) (do {ADD}) (do (store t (add i64 size -1) 4.0f))))"
    );
    let assigned = format!(
        "(declare c:i64 0)
         (for j w sequential (if (lt i64 c 2) (do {ADD} (set c (add i64 c 1)))))"
    );
    let followed = format!(
        "(for j w sequential (if (lt i64 i 2) (do {ADD})) (store t (add i64 size -1) 4.0f))"
    );
    for body in [
        of_the_index,
        of_an_element,
        of_what_is_stored,
        with_another_branch,
        assigned,
        followed,
    ] {
        assert!(!unswitches(&body), "{body}");
    }
}
