//! Large programs: what takes more than linear time or a bounded stack does not end here.

use crate::common::{check, core, fails};
use std::fmt::Write;

/// A source written by a closure.
fn source(write: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    write(&mut text);
    text
}

/// `head`, `open` and `close` repeated around `inner`.
fn nested(head: &str, open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{head}{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn one_function_of_20_000_dependent_lets() {
    let text = source(|text| {
        text.push_str("((x0 : int))\n(let\n");
        for k in 1..=20_000 {
            let _ = writeln!(text, "  (x{k} (+ x{} {}))", k - 1, k % 7);
        }
        text.push_str("in x20000)");
    });
    core(&text);
}

#[test]
fn lets_nested_10_000_deep_in_bodies() {
    let text = source(|text| {
        text.push_str("((x0 : int)) ");
        for k in 1..=10_000 {
            let _ = write!(text, "(let (x{k} (+ x{} 1)) in ", k - 1);
        }
        text.push_str("x10000");
        text.push_str(&")".repeat(10_000));
    });
    core(&text);
}

#[test]
fn lets_nested_10_000_deep_in_values() {
    let text = nested("((y : int)) ", "(let (x ", "y", ") in (+ x 1))", 10_000);
    core(&text);
}

#[test]
fn functions_nested_10_000_deep_in_values() {
    let text = nested(
        "((y : int)) (",
        "(let (f (lambda (v) (+ v y)))\n (g ",
        "(lambda (w) w)",
        ") in (lambda (x) (f (g x))))",
        2_000,
    ) + " 1)";
    core(&text);
}

#[test]
fn generalised_functions_that_use_each_other() {
    let text = source(|text| {
        text.push_str("((x : int) (z : float))\n(let (f0 (lambda (v) (+ v 1)))\n");
        for k in 1..=10_000 {
            let _ = writeln!(text, "  (f{k} (lambda (v) (f{} (+ v {}))))", k - 1, k % 5);
        }
        text.push_str("in ((f10000 x), (f10000 z)))");
    });
    let program = core(&text);
    assert!(program.arena.len() < 400_000);
}

#[test]
fn definitions_that_use_each_other() {
    let text = source(|text| {
        text.push_str("((x : int))\n(define (f0 (lambda (v) (+ v 1)))\n");
        for k in 1..=10_000 {
            let _ = writeln!(text, "  (f{k} (lambda (v) (f{} (f{} v))))", k - 1, k / 2);
        }
        text.push_str(") (f10000 x)");
    });
    core(&text);
}

#[test]
fn definitions_in_one_recursive_group() {
    let text = source(|text| {
        text.push_str("((x : int))\n(define\n");
        for k in 0..5_000 {
            let next = (k + 1) % 5_000;
            let _ = writeln!(
                text,
                "  (f{k} (lambda (v) (if (< v 0) v (f{next} (- v 1)))))"
            );
        }
        text.push_str(") (f0 x)");
    });
    core(&text);
}

#[test]
fn expressions_of_100_000_nodes_in_depth_and_breadth() {
    core(&nested("((x : float)) ", "(+ 1 ", "x", ")", 50_000));
    core(&nested(
        "((x : float)) ",
        "(if (< x 1) 2 ",
        "x",
        ")",
        25_000,
    ));
    core(&nested(
        "((x : int)) ",
        "((lambda (y) (+ y 1)) ",
        "x",
        ")",
        15_000,
    ));
    let elements = "(+ x 1) ".repeat(30_000);
    core(&format!("((x : int)) [{elements}]"));
}

#[test]
fn deep_types() {
    let ty = nested("", "vector (", "int", ")", 5_000);
    core(&format!("((x : {ty})) (let (f (lambda (y) y)) in (f x))"));
    let text = nested("((x : int)) ", "(x, ", "x", ")", 5_000);
    core(&text);
    let lambda = nested("((x : int)) (let (f ", "(lambda (y) ", "y", ")", 2_000) + ") in x)";
    core(&lambda);
}

#[test]
fn curried_applications_nested_deep() {
    let types = "int -> ".repeat(3_000);
    let text = nested(
        &format!("((x : int)) (define (g (mu (f : {types} int) (lambda (a) (f a))))) "),
        "(",
        "g",
        " x)",
        3_000,
    );
    let outcome = check(&text);
    assert_eq!(outcome.errors(), [0u16; 0], "{}", outcome.messages());
}

#[test]
fn many_waiting_projections() {
    let text = source(|text| {
        text.push_str("((X : vector (int, int))) (map (lambda (p) (let\n");
        for k in 0..10_000 {
            let _ = writeln!(text, "  (x{k} (+ p.0 p.1))");
        }
        text.push_str("in x9999)) X)");
    });
    core(&text);
    // The parameter of an outer function is read in many inner functions.
    let text = source(|text| {
        text.push_str("((X : vector (int, int))) (map (lambda (p) (let\n");
        for k in 0..3_000 {
            let _ = writeln!(text, "  (f{k} (lambda (y) (+ y p.{})))", k % 2);
        }
        text.push_str("in (f2999 1))) X)");
    });
    core(&text);
}

#[test]
fn many_errors() {
    let text = source(|text| {
        text.push_str("((x : int)) [");
        for k in 0..5_000 {
            let _ = writeln!(text, "(+ x (unknown{k} true))");
        }
        text.push(']');
    });
    assert_eq!(check(&text).errors().len(), 5_000);
}

#[test]
fn types_that_double_are_shared_or_refused() {
    // Every binding's type is twice the size of the one before.
    let text = source(|text| {
        text.push_str("((x0 : int)) (let\n");
        for k in 1..=12 {
            let _ = writeln!(text, "  (x{k} (x{0}, x{0}))", k - 1);
        }
        text.push_str("in (length [x12]))");
    });
    core(&text);
    let text = source(|text| {
        text.push_str("() (let (f0 (lambda (x) (x, x)))\n");
        for k in 1..=6 {
            let _ = writeln!(text, "  (f{k} (lambda (x) (f{0} (f{0} x))))", k - 1);
        }
        text.push_str("in (length [(f6 1)]))");
    });
    fails(&text, &[302]);
}
