//! Tests of the refinement of reciprocal square roots: loops over lanes are distributed where that changes no
//! value, and left unchanged elsewhere.

use crate::programs::{after, bits, read};
use nova_loop::ir::Program;
use nova_loop::print::print;

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
