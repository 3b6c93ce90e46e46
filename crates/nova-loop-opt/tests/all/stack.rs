//! Tests of the pass that places small arrays on the stack: the arrays that it selects, and that values stay
//! the same.

use crate::programs::{after, read};
use crate::values::value;

/// A function from bytes to a number that makes an array of `count` elements, fills it in a loop, runs
/// `rest`, and releases the array.
fn function(count: &str, rest: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector u8))] i64 \"f\")
          (function \"f\" [n:i64 x:(pointer u8) xb:block] [r:i64]
            (declare m:i64 {count})
            (declare p:(pointer i64))
            (declare b:block)
            (allocate b p i64 m \"f:1:1\")
            (for i m sequential (store p i (mul i64 i n)))
            (set r 0)
            {rest}
            (release b)))"
    )
}

const SUM: &str = "(for j m sequential (set r (add i64 r (load p j))))";

/// Returns the text after the pass, which must give the same values.
fn rewritten(text: &str) -> String {
    let before = read(text);
    let (after, text) = after(&before, nova_loop_opt::locals::run);
    for length in [0, 1, 7, 100] {
        let bytes = vec![1; length];
        let values = [&before, &after].map(|program| value(program, bytes.clone()));
        assert_eq!(values[0], values[1], "length {length}\n{text}");
    }
    text
}

#[track_caller]
fn is_on_stack(text: &str, count: u32) {
    let text = rewritten(text);
    assert!(text.contains(&format!("(pointer i64) {count})")), "{text}");
    assert!(
        !text.contains("allocate") && !text.contains("block_"),
        "{text}"
    );
}

#[track_caller]
fn stays(text: &str) {
    let text = rewritten(text);
    assert!(
        text.contains("(allocate") && !text.contains("local"),
        "{text}"
    );
}

#[test]
fn arrays_of_bounded_size_are_placed_on_the_stack() {
    is_on_stack(&function("9", SUM), 9);
    is_on_stack(&function("(max i64 (min i64 n 50) 0)", SUM), 50);
    is_on_stack(&function("(min i64 (max i64 n 3) 50)", SUM), 50);
    // An array that may be empty has room for one element.
    is_on_stack(&function("(min i64 (max i64 n 0) 0)", SUM), 1);
    // The counts of copies are known.
    let copied = "(local q:(pointer i64) 9) (copy q p i64 m) (set r (load q 4))";
    is_on_stack(&function("9", copied), 9);
    let padded = "(local q:(pointer f64) 64) (padded_copy q (offset p 1) f64 8 0.0L)
               (set r (select (eq f64 (load q 4) 1.0L) 1 0))";
    let text = function("9", padded).replace("p:(pointer i64)", "p:(pointer f64)");
    let text = text.replace("(allocate b p i64", "(allocate b p f64");
    let text = rewritten(&text.replace("(mul i64 i n)", "1.0L"));
    assert!(
        text.contains("(pointer f64) 9)") && !text.contains("allocate"),
        "{text}"
    );
}

#[test]
fn arrays_without_a_bound_stay() {
    stays(&function("n", SUM));
    stays(&function("(max i64 n 3)", SUM));
    // A negative size is an error.
    stays(&function("(min i64 n 50)", SUM));
    // 8192 bytes at most.
    is_on_stack(&function("1024", SUM), 1024);
    stays(&function("1025", SUM));
}

#[test]
fn arrays_with_other_references_or_names_stay() {
    // A second reference.
    let shared = format!("(retain b) {SUM} (release b)");
    stays(&function("9", &shared));
    // A second name.
    let named = "(declare q:(pointer i64) p) (set r (load q 3))";
    stays(&function("9", named));
    // Another block with the same handle.
    let again = format!("{SUM} (release b) (allocate b p i64 9 \"f:1:1\") (store p 0 n)");
    stays(&function("9", &again));
}

#[test]
fn arrays_that_are_copied_to_fixed_size_blocks_are_placed_on_the_stack() {
    let text = rewritten(
        "(program (entry \"f\" [(\"x\" (vector u8))] i64 \"f\")
          (function \"f\" [n:i64 x:(pointer u8) xb:block] [r:i64]
            (declare p:(pointer f64))
            (declare b:block)
            (allocate b p f64 9 \"f:1:1\")
            (for i 9 sequential (store p i (convert.f64 i64 i)))
            (local q:(pointer f64) 64)
            (padded_copy q p f64 9 0.5L)
            (set r (select (lt f64 (load q 4) (load q 9)) 1 2))
            (release b)))",
    );
    assert!(text.contains("(pointer f64) 9)"), "{text}");
    assert!(!text.contains("allocate"), "{text}");
}
