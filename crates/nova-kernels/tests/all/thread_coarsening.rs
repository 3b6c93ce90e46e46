//! Tests of thread coarsening: kernels give the same with any number of elements, and stay as they are where
//! a thread with several elements would not load and store vectors.

use crate::programs::{after, bits, read};
use nova_loop::ir::Program;
use nova_loop::print::print;

/// The number of elements of the input.
const ELEMENTS: i64 = 40;

/// A function from floats to a float, with a kernel of `count` iterations over `i`. It may read `x`, write the
/// arrays `y` and `z` of its own, and read and write `w`, which is one of its own or the input.
fn function(count: &str, body: &str) -> String {
    format!(
        "(program nodes_by_threads (entry \"f\" [(\"x\" (vector f32))] f32 \"f\")
          (function \"f\" [n:i64 x:(pointer f32) xb:block] [r:f32]
            (declare y:(pointer f32)) (declare yb:block) (allocate yb y f32 n)
            (declare z:(pointer i32)) (declare zb:block) (allocate zb z i32 n)
            (declare w:(pointer f32))
            (if (gt i64 n 3) (do (set w y)) (do (set w x)))
            (for j n sequential (store y j 1.0f) (store z j 7i32))
            (for i {count} grid {body})
            (set r 0.0f)
            (for m n sequential
              (set r (add f32 (mul f32 r 1.5f) (add f32 (load y m) (convert.f32 i32 (load z m))))))
            (release yb) (release zb)))"
    )
}

fn value(program: &Program) -> u32 {
    bits(program, (0..ELEMENTS).map(|k| k as f32 - 3.0))
}

/// True if the pass changes a kernel with this body. The function must give the same value for each number of
/// iterations, and its text must read back.
fn is_coarsened(body: &str) -> bool {
    let mut changed = 0;
    let counts = ["n", "(sub i64 n 2)", "13", "12", "9", "8"];
    for count in counts {
        let before = read(&function(count, body));
        let (after, text) = after(&before, nova_kernels::thread_coarsening::run);
        assert_eq!(value(&before), value(&after), "{count}: {text}");
        changed += usize::from(text != print(&before));
    }
    assert!(changed == 0 || changed == counts.len(), "{body}");
    changed > 0
}

#[test]
fn maps_take_four_elements() {
    for body in [
        "(store y i (mul f32 (load x i) 2.0f))",
        "(store y i (add f32 (load x i) (load x 0)))",
        "(store y i (load y i))",
        "(declare v:f32 (load x i)) (store y i (mul f32 v v))",
        "(declare v:f32 (load x i)) (declare t:f32 (add f32 v 1.0f))
         (store y i (mul f32 v t)) (store z i (convert.i32 f32 t))",
    ] {
        assert!(is_coarsened(body), "{body}");
    }
}

#[test]
fn other_kernels_stay_as_they_are() {
    for body in [
        // Nothing is loaded.
        "(store y i 1.0f)",
        // Neighbours are read or written from the last to the first.
        "(store y i (load x (sub i64 39 i)))",
        "(store y (sub i64 39 i) (load x i))",
        // The array that is written may be the one that is read, at another index.
        "(store y i (load w (sub i64 39 i)))",
        // Elements at positions in an array, and neighbours at clamped indices.
        "(declare p:i64 (convert.i64 i32 (load z i))) (store y i (load x p))",
        "(store y i (add f32 (load x i) (load x (max i64 (sub i64 i 1) 0))))",
        // Loops and conditionals.
        "(if (gt i64 i 3) (do (store y i (load x i))))",
        "(for k 2 sequential (store y i (load x i)))",
        // What is loaded depends on a condition.
        "(store y i (select (gt i64 i 3) (load x i) 0.0f))",
    ] {
        assert!(!is_coarsened(body), "{body}");
    }
}

#[test]
fn few_and_costly_iterations_have_a_thread_each() {
    let text = function("7", "(store y i (load x i))");
    let before = read(&text);
    let (_, text) = after(&before, nova_kernels::thread_coarsening::run);
    assert_eq!(print(&before), text);
    let long = "(add f32 (sin f32 (load x i)) (cos f32 (load x i)))";
    assert!(!is_coarsened(&format!("(store y i {long})")));
}

#[test]
fn more_kernels_in_a_loop_of_the_host() {
    let text = function("n", "(store y i (load x i))").replace(
        "(set r 0.0f)",
        "(for h 3 sequential (for g n grid (store y g (add f32 (load y g) (load x g))))) (set r 0.0f)",
    );
    let before = read(&text);
    let (after, text) = after(&before, nova_kernels::thread_coarsening::run);
    assert_eq!(value(&before), value(&after));
    assert_eq!(text.matches(" grid").count(), 2);
    assert!(text.matches("first").count() > 2);
}
