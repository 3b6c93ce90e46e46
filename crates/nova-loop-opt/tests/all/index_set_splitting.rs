//! Tests of index-set splitting: a function computes the same after it, for every length, and the clamps and
//! conversions that it can remove are gone.

use crate::programs::{after, read};
use crate::values::value;
use nova_core::ScalarValue;
use nova_loop::ir::Program;
use nova_loop::print::print;

/// A function from bytes to a number, with the loop `body` over `i` that changes `s`.
fn function(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector u8))] i32 \"f\")
          (function \"f\" [n:i64 x:(pointer u8) xb:block] [r:i32]
            (check (fits.i32 i64 n) overflow [n])
            (declare s:i32 0i32)
            (for i n sequential {body})
            (set r s)))"
    )
}

/// Returns the number that a program computes from this number of bytes.
fn value_of(program: &Program, length: u8) -> ScalarValue {
    value(
        program,
        (0..length).map(|k| k.wrapping_mul(37) % 11).collect(),
    )
}

/// Returns the text of the function after the pass, which must give the same values.
fn rewritten(body: &str) -> String {
    let text = function(body);
    let before = read(&text);
    let (after, printed) = after(&before, nova_loop_opt::index_set_splitting::run);
    for length in 0..8 {
        let (a, b) = (value_of(&before, length), value_of(&after, length));
        assert_eq!(a, b, "length {length}\n{printed}");
    }
    printed
}

/// Returns the loop of a text.
fn in_loop(text: &str) -> &str {
    let start = text.find("(for").expect(text);
    let end = text.rfind("(if").filter(|end| *end > start);
    &text[start..end.unwrap_or(text.len())]
}

#[test]
fn narrow_indices_become_plain() {
    let text = rewritten(
        "(declare k:i32 (convert.i32 i64 i))
         (set s (add i32 s (convert.i32 u8 (load x (convert.i64 i32 k)))))",
    );
    assert!(text.contains("(load x_1 i_"), "{text}");
    assert_eq!(text.matches("(for").count(), 1);
    assert!(!text.contains("(if"), "{text}");
}

#[test]
fn an_index_that_may_wrap_stays() {
    // A byte wraps long before the end.
    let text = rewritten(
        "(declare k:u8 (wrap.u8 i64 i))
         (set s (add i32 s (convert.i32 u8 (add u8 k 200u8))))",
    );
    assert!(text.contains("(add u8 "), "{text}");
}

#[test]
fn the_first_iteration_is_split_off() {
    let text = rewritten(
        "(declare before:u8 (load x (convert.i64 i32 (max i32 0i32 (sub i32 (convert.i32 i64 i) 1i32)))))
         (set s (sub i32 (mul i32 s 3i32) (convert.i32 u8 before)))",
    );
    assert!(text.contains("(if (ge i64 n_0 1)"), "{text}");
    assert!(!text.contains("max"), "{text}");
    // The loop runs from 0, so the previous element is at its index.
    assert!(in_loop(&text).contains("(load x_1 i_"), "{text}");
}

#[test]
fn both_ends_are_split_off() {
    let text = rewritten(
        "(declare last:i64 (sub i64 n 1))
         (declare a:u8 (load x (max i64 0 (sub i64 i 1))))
         (declare b:u8 (load x (min i64 last (add i64 i 2))))
         (if (eq i64 i last) (do (set s (mul i32 s 7i32))) (do))
         (set s (add i32 (mul i32 s 3i32) (convert.i32 u8 (sub u8 b a))))",
    );
    let inside = in_loop(&text);
    assert!(!inside.contains("max") && !inside.contains("min"), "{text}");
    assert!(!inside.contains("(eq "), "{text}");
    assert_eq!(text.matches("(for").count(), 1, "{text}");
}

#[test]
fn conditions_of_several_parts_are_decided_at_the_ends() {
    let text = rewritten(
        "(declare last:i64 (sub i64 n 1))
         (declare end:bool (or bool (eq i64 i 0) (eq i64 i last)))
         (if end (do (set s (add i32 s 5i32))) (do (set s (mul i32 s 3i32))))
         (if (and bool (ne i64 i 0) (lt i64 i last)) (do (set s (sub i32 s 2i32))) (do))",
    );
    let inside = in_loop(&text);
    let parts = ["(or ", "(and ", "(if", "(select", "(eq "];
    assert!(!parts.iter().any(|p| inside.contains(p)), "{text}");
}

#[test]
fn a_comparison_in_the_middle_is_no_reason_to_split() {
    let text =
        rewritten("(if (lt i64 i 5) (do (set s (add i32 s 1i32))) (do (set s (mul i32 s 2i32))))");
    assert_eq!(text.matches("(for").count(), 1);
    // Both branches are cheap: one expression.
    assert!(text.contains("(select (lt i64 i_"), "{text}");
    assert!(!text.contains("(if"), "{text}");
}

#[test]
fn a_branch_may_read_what_the_loop_reads_anyway() {
    let text = rewritten(
        "(declare here:u8 (load x i))
         (declare t:i32)
         (if (eq i64 i 0)
           (do (set t 5i32))
           (do (declare before:u8 (load x (sub i64 i 1))) (set t (convert.i32 u8 before))))
         (if (gt u8 here 4u8) (do (set s (add i32 s t))) (do))",
    );
    assert!(!in_loop(&text).contains("(if"), "{text}");
}

#[test]
fn a_branch_that_reads_elsewhere_stays() {
    let text = rewritten(
        "(declare here:u8 (load x i))
         (set s (add i32 s (convert.i32 u8 here)))
         (if (lt i64 i (sub i64 n 3))
           (do (declare far:u8 (load x (add i64 i 3))) (set s (add i32 s (convert.i32 u8 far))))
           (do))",
    );
    assert!(text.contains("(if (lt i64 i_"), "{text}");
}

#[test]
fn divisions_stay_under_their_condition() {
    let text = rewritten(
        "(declare here:i32 (convert.i32 u8 (load x i)))
         (if (ne i32 here 0i32) (do (set s (add i32 s (div i32 100i32 here)))) (do))",
    );
    assert!(text.contains("(if (ne i32 "), "{text}");
}

#[test]
fn conditions_in_loops_compute_both_sides() {
    let text = rewritten(
        "(declare b:u8 (load x i))
         (declare c:bool (select (eq u8 b 3u8) true (select (gt u8 b 5u8) (lt u8 b 9u8) false)))
         (declare d:bool (select (eq u8 b 7u8) false c))
         (set s (add i32 s (select d 1i32 0i32)))",
    );
    assert!(text.contains("(or bool"), "{text}");
    assert_eq!(text.matches("(and bool").count(), 2, "{text}");
    assert_eq!(text.matches("(select").count(), 1, "{text}");
    // The other side may be undefined: an element that no iteration reads anyway.
    let text = rewritten(
        "(declare b:u8 (load x i))
         (declare c:bool (select (lt i64 i (sub i64 n 4)) (eq u8 b (load x (add i64 i 3))) false))
         (set s (add i32 s (select c 1i32 0i32)))",
    );
    assert!(!text.contains("(and bool"), "{text}");
}

/// A function with a loop of `count` iterations, whatever the length of its bytes, which must suffice.
fn of_known_length(count: u8) -> String {
    let body = "(declare before:u8 (load x (max i64 0 (sub i64 i 1))))
         (set s (sub i32 (mul i32 s 3i32) (convert.i32 u8 before)))";
    function(body).replace("(for i n sequential", &format!("(for i {count} sequential"))
}

#[test]
fn long_loops_of_a_known_length_are_split_too() {
    for (count, is_split) in [(4, false), (40, true)] {
        let text = of_known_length(count);
        let before = read(&text);
        let mut after = before.clone();
        nova_loop_opt::index_set_splitting::run(&mut after);
        let printed = print(&after);
        assert_eq!(value_of(&before, 50), value_of(&after, 50), "{printed}");
        assert_eq!(!printed.contains("max"), is_split, "{printed}");
        assert!(!printed.contains("(if"), "{printed}");
    }
}

#[test]
fn numbers_that_come_from_narrow_ones_are_in_their_range() {
    // The number of iterations may not be known to fit, but what it is computed from.
    let counts = |count: &str| {
        let body = "(declare before:u8 (load x (convert.i64 i32 (max i32 0i32 (sub i32 (convert.i32 i64 i) 1i32)))))
             (set s (sub i32 (mul i32 s 3i32) (convert.i32 u8 before)))";
        let text = function(body).replace("(check (fits.i32 i64 n) overflow [n])", "");
        let declared = format!("(declare c:i64 {count}) (for i c sequential");
        let before = read(&text.replace("(for i n sequential", &declared));
        let (after, printed) = after(&before, nova_loop_opt::index_set_splitting::run);
        for length in 0..8 {
            assert_eq!(value_of(&before, length), value_of(&after, length));
        }
        printed
    };
    for (count, is_split) in [
        ("n", false),
        ("(add i64 n 0)", false),
        ("(max i64 (convert.i64 i32 (wrap.i32 i64 n)) 0)", true),
        ("(min i64 n 40)", true),
    ] {
        let text = counts(count);
        assert_eq!(!text.contains("max i32"), is_split, "{count}: {text}");
    }
}

/// The last of `m` iterations is special, where `m` is a number that could be negative.
const TO_M: &str = "(declare last:i32 (sub i32 m 1i32))
     (for k (convert.i64 i32 m) sequential
       (declare t:i32 (select (eq i32 (convert.i32 i64 k) last) 0i32 (add i32 (convert.i32 i64 k) 1i32)))
       (set s (add i32 (mul i32 s 3i32) t)))";

/// True if the special iteration of [`TO_M`] is split off.
fn is_split(text: &str) -> bool {
    !text.contains("(eq i32 (convert.i32 i64 k")
}

#[test]
fn conditions_say_what_numbers_are_where_they_hold() {
    let m = "(declare m:i32 (sub i32 (rem i32 (mul i32 (convert.i32 i64 i) 5i32) 4i32) 1i32))";
    let alone = rewritten(&format!("{m} (if (ne i32 m -1i32) (do {TO_M}) (do))"));
    assert!(!is_split(&alone), "-1 is not the least\n{alone}");
    let conditions = [
        "(if (gt i32 m 0i32) (do TO_M) (do))",
        "(if (le i32 m 0i32) (do) (do TO_M))",
        "(if (not bool (lt i32 m 1i32)) (do TO_M) (do))",
        "(if (select (gt i32 m 0i32) (lt i32 s 9i32) false) (do TO_M) (do))",
        "(if (select (lt i32 m 1i32) true (ge i32 s 9i32)) (do) (do TO_M))",
        "(if (ge i32 m 0i32) (do (if (ne i32 m 0i32) (do TO_M) (do))) (do))",
        "(if (select (gt i32 m 0i32) true false) (do TO_M) (do))",
        "(if (eq i32 m 2i32) (do TO_M) (do))",
    ];
    for condition in conditions {
        let text = rewritten(&format!("{m} {}", condition.replace("TO_M", TO_M)));
        assert!(is_split(&text), "{condition}\n{text}");
    }
}

#[test]
fn checks_say_what_numbers_are_after_them() {
    let m = "(declare m:i32 (rem i32 (mul i32 (convert.i32 i64 i) 5i32) 4i32))";
    let before = rewritten(&format!("{m} {TO_M} (check (ge i32 m 0i32) negative [m])"));
    assert!(!is_split(&before), "{before}");
    let after = rewritten(&format!("{m} (check (ge i32 m 0i32) negative [m]) {TO_M}"));
    assert!(is_split(&after), "{after}");
}
