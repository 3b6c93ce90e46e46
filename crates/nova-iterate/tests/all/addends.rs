//! States that conditionals add to or leave unchanged become sums of choices, with the same value
//! to the bit.

use crate::support::{apply, read, value};
use nova_flat::print::print;

const INTEGERS: [&str; 5] = [
    "[]",
    "[1]",
    "[3 -4 5 0 7]",
    "[9223372036854775807 1 9223372036854775807]",
    "[-9223372036854775808 -9223372036854775808]",
];
const FLOATS: [&str; 6] = [
    "[]",
    "[-0.0]",
    "[0.0 -0.0]",
    "[1.0 -0.0 3.0 1e300]",
    "[inf 1.0 -inf]",
    "[nan 1.0]",
];

/// Runs the pass over a fold of `x` from `start`. An iteration computes `r` from the state `s` and
/// the element `e`. Compares the values. Returns true if the addend does not read the state any
/// more.
#[track_caller]
fn becomes_sum(scalar: &str, start: &str, iteration: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector {scalar}))] {scalar} \"f\")
          (function \"f\" [n:i64 x:[n]{scalar}] [y:{scalar}] (do
            (let [out:{scalar}] (operation [n] [k:i64] [s:{scalar} = {start}] (do
              (let [e:{scalar}] (index x [k]))
              {iteration}
              (in r))))
            (in out))))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_iterate::addends::run, &mut program);
    apply(nova_opt::simplify::run, &mut program);
    for x in if scalar == "f64" {
        &FLOATS[..]
    } else {
        &INTEGERS
    } {
        assert_eq!(
            value(&program, &[x]),
            value(&before, &[x]),
            "{x}\n{}",
            print(&program)
        );
    }
    print(&program).contains("[next_")
}

fn choice(scalar: &str, then: &str, otherwise: &str) -> String {
    let zero = if scalar == "f64" { "0.0L" } else { "0" };
    format!(
        "(let [c:bool] (gt {scalar} e {zero})) \
         (let [r:{scalar}] (if c (do {then}) (do {otherwise})))"
    )
}

const ADD: &str = "(let [a:i64] (add i64 s e)) (in a)";

#[test]
fn what_is_added_in_one_branch() {
    assert!(becomes_sum("i64", "0", &choice("i64", ADD, "(in s)")));
    assert!(becomes_sum("i64", "7", &choice("i64", "(in s)", ADD)));
    let turned = "(let [a:i64] (add i64 e s)) (in a)";
    assert!(becomes_sum("i64", "0", &choice("i64", turned, "(in s)")));
    let less = "(let [b:i64] (sub i64 s e)) (in b)";
    assert!(becomes_sum("i64", "0", &choice("i64", less, "(in s)")));
    assert!(becomes_sum("i64", "0", &choice("i64", ADD, less)));
}

#[test]
fn floats() {
    let add = "(let [a:f64] (add f64 s e)) (in a)";
    let less = "(let [b:f64] (sub f64 s e)) (in b)";
    for start in ["0.0L", "-0.0L"] {
        assert!(becomes_sum("f64", start, &choice("f64", add, "(in s)")));
        assert!(becomes_sum("f64", start, &choice("f64", "(in s)", add)));
        assert!(becomes_sum("f64", start, &choice("f64", "(in s)", less)));
        assert!(becomes_sum("f64", start, &choice("f64", less, add)));
    }
}

#[test]
fn conditionals_in_each_other() {
    let inner = "(let [d:bool] (lt i64 e -3)) \
        (let [b:i64] (if d (do (let [t:i64] (sub i64 s e)) (in t)) (do (in s)))) (in b)";
    assert!(becomes_sum("i64", "0", &choice("i64", ADD, inner)));
    assert!(becomes_sum("i64", "0", &choice("i64", inner, ADD)));
}

#[test]
fn other_states() {
    // A reset, a product, a difference, a state that is added to itself, and a state that the
    // addend reads.
    for then in [
        "(in e)",
        "(let [a:i64] (mul i64 s e)) (in a)",
        "(let [a:i64] (sub i64 e s)) (in a)",
        "(let [a:i64] (add i64 s s)) (in a)",
        "(let [m:i64] (min i64 s e)) (let [a:i64] (add i64 s m)) (in a)",
    ] {
        assert!(
            !becomes_sum("i64", "1", &choice("i64", then, "(in s)")),
            "{then}"
        );
    }
    let asked = "(let [c:bool] (gt i64 s 2)) (let [r:i64] (if c (do (in s)) (do (let [a:i64] (add i64 s e)) (in a))))";
    assert!(!becomes_sum("i64", "0", asked));
}
