//! Tests of the refinement of reciprocal square roots: loops over lanes are distributed where that changes no
//! value, and left unchanged elsewhere.

use crate::programs::{after, bits, read, value_of};
use nova_core::value::Elements;
use nova_core::{ScalarValue, Value};
use nova_loop::ir::Program;
use nova_loop::print::print;
use std::sync::Arc;

/// A function from floats to a float, with a loop of `count` iterations over `i` and local arrays
/// `a` and `b`; `p` also points to `b`.
fn function(count: &str, body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32))] f32 \"f\")
          (function \"f\" [n:i64 x:(pointer f32) xb:block] [r:f32]
            (local a:(pointer f32) 32)
            (local b:(pointer f32) 32)
            (for j 32 sequential (store a j 1.0f) (store b j (convert.f32 i64 j)))
            (declare p:(pointer f32) b)
            (for i {count} sequential {body})
            (set r 0.0f)
            (for m 32 sequential (set r (add f32 (mul f32 r 1.5f) (add f32 (load a m) (load p m)))))))"
    )
}

fn value(program: &Program) -> u32 {
    bits(program, (0..64u8).map(|k| f32::from(k) - 3.0))
}

/// Returns the number of loops that the pass adds. The function must give the same value, and its text
/// must read back.
fn added(count: &str, body: &str) -> usize {
    let before = read(&function(count, body));
    let (after, text) = after(&before, nova_loop_opt::rsqrt_refinement::run);
    assert_eq!(value(&before), value(&after), "{text}");
    text.matches("(for ").count() - print(&before).matches("(for ").count()
}

#[test]
fn reciprocal_square_roots_get_a_loop() {
    assert_eq!(added("32", "(store a i (rsqrt f32 (load x i)))"), 2);
    let body = "(declare k:i64 (add i64 i 7))
        (declare u:f32 (load x k))
        (declare v:f32 (mul f32 (load x i) u))
        (declare w:f32 (mul f32 v (rsqrt f32 (add f32 u v))))
        (store a i (add f32 (load a i) (add f32 (mul f32 w (load x k)) v)))";
    assert_eq!(added("32", body), 2);
    assert_eq!(added("16", body), 2);
}

#[test]
fn every_reciprocal_square_root_gets_a_loop() {
    let body = "(declare u:f32 (rsqrt f32 (load x i)))
        (declare v:f32 (add f32 (rsqrt f32 (rsqrt f32 (add f32 u 2.0f))) u))
        (store a i v)";
    assert_eq!(added("32", body), 6);
}

#[test]
fn conditional_roots_stay() {
    let chosen = "(store a i (select (lt f32 (load x i) 5.0f) (rsqrt f32 (load x i)) 1.0f))";
    assert_eq!(added("32", chosen), 0);
    let condition = "(store a i (select (lt f32 (rsqrt f32 (load x i)) 5.0f) 2.0f 1.0f))";
    assert_eq!(added("32", condition), 2);
}

#[test]
fn other_loops_stay() {
    let root = "(store a i (rsqrt f32 (load x i)))";
    assert_eq!(added("(min i64 n 32)", root), 0, "any count");
    assert_eq!(added("8", root), 0, "too few");
    let carried = "(store a i (rsqrt f32 (load a 3)))";
    assert_eq!(added("32", carried), 0, "the argument is written");
    assert_eq!(
        added("32", "(store b i (rsqrt f32 (load x i)))"),
        0,
        "others point to it"
    );
    let elsewhere = "(store a (sub i64 31 i) (rsqrt f32 (load x i)))";
    assert_eq!(added("32", elsewhere), 0, "another iteration's element");
    let after_store = "(store a i 2.0f) (store a i (rsqrt f32 (load x i)))";
    assert_eq!(added("32", after_store), 0, "behind a store");
    assert_eq!(
        added("32", "(store a i (sqrt f32 (load x i)))"),
        0,
        "no root"
    );
}

/// Returns the text of a function from doubles after the pass, whose loop over lanes stores into `a`.
fn of_doubles(count: &str, body: &str) -> String {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector f64))] f64 \"f\")
          (function \"f\" [n:i64 x:(pointer f64) xb:block] [r:f64]
            (local a:(pointer f64) 64)
            (for j 64 sequential (store a j 1.0L))
            (for i {count} sequential {body})
            (set r 0.0L)
            (for m 64 sequential (set r (add f64 (mul f64 r 0.5L) (load a m))))))"
    );
    let before = read(&text);
    let (after, printed) = after(&before, nova_loop_opt::rsqrt_refinement::run);
    let numbers = (0..64u8).map(|k| f64::from(k) + 0.25).collect();
    let inputs = [Value::Vector(Elements::F64(Arc::new(numbers)))];
    let [old, new] = [&before, &after].map(|program| match value_of(program, &inputs) {
        Value::Scalar(ScalarValue::F64(value)) => value,
        other => panic!("{other:?}"),
    });
    assert!(
        (old - new).abs() <= 1e-12 * old.abs(),
        "{old} {new} {printed}"
    );
    printed
}

#[test]
fn quotients_by_roots_become_products() {
    let declare = "(declare d:f64 (load x i))";
    for quotient in [
        "(store a i (div f64 3.0L (sqrt f64 d)))",
        "(store a i (div f64 (load x i) (mul f64 d (sqrt f64 d))))",
        "(store a i (div f64 1.0L (mul f64 (sqrt f64 d) d)))",
        "(store a i (recip f64 (sqrt f64 d)))",
        "(declare s:f64 (sqrt f64 d)) (store a i (div f64 2.0L (mul f64 s (mul f64 s s))))",
    ] {
        for count in ["8", "32"] {
            let text = of_doubles(count, &format!("{declare} {quotient}"));
            assert!(!text.contains("(sqrt") && !text.contains("(div"), "{text}");
            assert_eq!(text.matches("(rsqrt").count(), 1, "{text}");
        }
        let text = of_doubles("64", &format!("{declare} {quotient}"));
        assert!(!text.contains("(rsqrt"), "too many vectors: {text}");
    }
}

#[test]
fn other_quotients_stay() {
    for quotient in [
        // Another factor.
        "(store a i (div f64 3.0L (mul f64 (sqrt f64 (load x i)) 5.0L)))",
        // Roots of two numbers.
        "(declare d:f64 (load x i))
         (store a i (div f64 1.0L (mul f64 (sqrt f64 d) (sqrt f64 (add f64 d 1.0L)))))",
        // The root is used elsewhere.
        "(declare d:f64 (load x i)) (declare s:f64 (sqrt f64 d))
         (store a i (add f64 (div f64 2.0L s) s))",
    ] {
        let text = of_doubles("32", quotient);
        assert!(!text.contains("(rsqrt"), "{text}");
    }
}
