//! Tests of strip-mining: loops write what they wrote before, for every length, and loops that gain
//! nothing or are not independent stay as they are.

use crate::programs::{after, floats as floats_of, read};
use crate::values::text_of_value;
use nova_core::{ScalarValue, Value};
use nova_loop::ir::Program;

/// A function from floats and a number to a vector, where `body` writes the memory `t` of the result.
fn function(result: &str, allocations: &str, body: &str, results: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"a\" f32)] (vector {result}) \"f\")
          (function \"f\" [n:i64 x:(pointer f32) xb:block a:f32] [{results}]
            {allocations}
            {body}))"
    )
}

fn floats(body: &str) -> String {
    function(
        "f32",
        "(declare t:(pointer f32)) (declare tb:block) (allocate_result tb t f32 n 1 1)",
        &format!("{body} (set m n) (set r t) (set rb tb)"),
        "m:i64 r:(pointer f32) rb:block",
    )
}

fn pairs(body: &str) -> String {
    function(
        "(tuple f32 f32)",
        "(declare t:(pointer f32)) (declare tb:block) (allocate_result tb t f32 n 1 2)
         (declare u:(pointer f32)) (declare ub:block) (allocate_result ub u f32 n 2 2)",
        &format!("{body} (set m n) (set r t) (set rb tb) (set s u) (set sb ub)"),
        "m:i64 r:(pointer f32) rb:block s:(pointer f32) sb:block",
    )
}

fn value(program: &Program, length: u16) -> String {
    let x = (0..length).map(|k| 0.5 + f32::from(k * 37 % 101));
    text_of_value(
        program,
        &[floats_of(x), Value::Scalar(ScalarValue::F32(0.75))],
    )
}

/// Returns the text after the pass, which must read back and give the same values.
fn rewritten(text: &str) -> String {
    let before = read(text);
    let (after, printed) = after(&before, nova_loop_opt::strip_mining::run);
    for length in (0..20).chain([47, 48, 127, 128, 129, 255, 256, 257, 513, 1000]) {
        let (a, b) = (value(&before, length), value(&after, length));
        assert_eq!(a, b, "length {length}\n{printed}");
    }
    printed
}

/// A chain of operations, each of which depends on the one before, from `from` to `to`.
fn dependent(from: &str, to: &str) -> String {
    let steps = (0..12).map(|k| {
        let before = if k == 0 {
            from.to_string()
        } else {
            format!("{to}{}", k - 1)
        };
        format!("(declare {to}{k}:f32 (add f32 1.0f (div f32 a (add f32 {before} 2.0f))))")
    });
    steps.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_result_is_written_by_non_temporal_stores() {
    let text = rewritten(&floats(
        "(for i n sequential (store t i (mul f32 a (load x i))))",
    ));
    for command in [
        "(plan_non_temporal ",
        "(non_temporal_store_lines [t_",
        "(store_fence)",
        "(prefetch x_",
    ] {
        assert!(text.contains(command), "{command} in {text}");
    }
    // Once for whole lines and once for the elements before and after them.
    assert_eq!(text.matches("(mul f32 ").count(), 2, "{text}");
}

#[test]
fn a_result_of_an_array_read_at_several_places_is_stored_in_strips() {
    let text = rewritten(&floats(
        "(for i n sequential
           (store t i (add f32 (load x i) (load x (div i64 i 2)))))",
    ));
    assert!(text.contains("(non_temporal_store [t_"), "{text}");
    assert_eq!(text.matches("(add f32 ").count(), 1, "{text}");
}

#[test]
fn non_temporal_stores_to_a_part_of_a_result_begin_at_its_start() {
    let text = rewritten(&floats(
        "(if (ge i64 n 1) (do (store t 0 a)))
         (for j (sub i64 n 1) sequential
           (declare i:i64 (add i64 j 1))
           (store t i (add f32 (load x i) (load x j))))",
    ));
    assert!(text.contains("(non_temporal_store [t_"), "{text}");
    // Both loads belong to one access stream.
    assert_eq!(text.matches("(prefetch ").count(), 1, "{text}");
}

#[test]
fn a_result_that_is_scattered_over_has_no_non_temporal_stores() {
    let program = |index: &str| {
        rewritten(&floats(&format!(
            "(for i n sequential (store t i a))
             (for j n sequential (declare e:f32 (load x j)) (declare k:i64 {index}) (store t k e))"
        )))
    };
    let text = program("(mul i64 0 (convert.i64 bool (lt f32 e 0.0f)))");
    assert!(!text.contains("non_temporal"), "{text}");
    let text = program("(sub i64 (sub i64 n 1) j)");
    assert!(text.contains("(non_temporal_store"), "{text}");
}

#[test]
fn rows_are_written_by_non_temporal_stores_one_by_one() {
    let text = rewritten(&floats(
        "(declare rows:i64 (div i64 n 128))
         (for i rows sequential
           (declare k:i32 (convert.i32 i64 i))
           (for j 128 sequential
             (declare at:i64 (add i64 (mul i64 (convert.i64 i32 k) 128) j))
             (store t at (mul f32 a (load x at)))))
         (for l (sub i64 n (mul i64 rows 128)) sequential
           (declare last:i64 (add i64 (mul i64 rows 128) l))
           (store t last (load x last)))",
    ));
    assert_eq!(text.matches("(plan_non_temporal ").count(), 2, "{text}");
    assert_eq!(text.matches("(store_fence)").count(), 2, "{text}");
    assert!(
        text.contains("(if (ge i64 128 1)") || text.contains("(if true"),
        "{text}"
    );
}

#[test]
fn rows_that_fill_no_strip_have_no_non_temporal_stores() {
    let text = rewritten(&floats(
        "(for i (div i64 n 8) sequential
           (for j 8 sequential
             (declare at:i64 (add i64 (mul i64 i 8) j))
             (store t at (mul f32 a (load x at)))))
         (if (gt i64 n (mul i64 (div i64 n 8) 8)) (do (for l (sub i64 n (mul i64 (div i64 n 8) 8)) vector
           (declare last:i64 (add i64 (mul i64 (div i64 n 8) 8) l))
           (store t last (load x last)))))",
    ));
    assert!(!text.contains("(plan_non_temporal "), "{text}");
}

#[test]
fn non_temporal_stores_write_whole_structures() {
    let text = rewritten(&pairs(
        "(for i n sequential
           (store u (mul i64 i 2) (mul f32 a (load x i)))
           (store t (mul i64 i 2) (load x i)))",
    ));
    assert!(text.contains("(non_temporal_store_lines [t_"), "{text}");
    assert_eq!(text.matches("(store chunk_").count(), 2, "{text}");
}

#[test]
fn structures_without_all_fields_stay() {
    let text = rewritten(&pairs(
        "(for i n sequential (store t (mul i64 i 2) (load x i)))
         (for k n sequential (store u (mul i64 k 2) (load x k)))",
    ));
    assert!(!text.contains("(plan_non_temporal "), "{text}");
}

#[test]
fn a_result_that_is_read_stays() {
    let text = rewritten(&floats(
        "(for i n sequential (store t i (load x i)))
         (for k n sequential (store t k (mul f32 a (load t k))))",
    ));
    assert!(!text.contains("(plan_non_temporal "), "{text}");
}

#[test]
fn a_result_that_another_pointer_leads_to_stays() {
    let text = rewritten(&floats(
        "(declare u:(pointer f32) t)
         (for i n sequential (store t i (load x i)))
         (if (ge i64 n 2) (do (store u 0 (load u 1))))",
    ));
    assert!(!text.contains("(plan_non_temporal "), "{text}");
}

#[test]
fn elements_that_are_not_neighbours_stay() {
    let text = rewritten(&floats(
        "(for i n sequential (store t (sub i64 (sub i64 n 1) i) (load x i)))",
    ));
    assert!(!text.contains("(plan_non_temporal "), "{text}");
}

#[test]
fn a_loop_with_a_long_chain_of_dependences_is_distributed() {
    let body = format!(
        "(for i n sequential (declare v:f32 (load x i)) {} {} (store t i (add f32 v (mul f32 c11 b3))))",
        dependent("v", "b"),
        dependent("b11", "c"),
    );
    let text = rewritten(&floats(&body));
    assert!(!text.contains("(plan_non_temporal "), "{text}");
    // In the middle: the two values of the first half that the second one needs are stored.
    assert_eq!(text.matches("(local ").count(), 2, "{text}");
    assert_eq!(text.matches("(for ").count(), 3, "{text}");
    // The element is read again.
    assert_eq!(text.matches("(load x_").count(), 2, "{text}");
}

#[test]
fn parallel_chains_of_dependences_stay() {
    let body = format!(
        "(for i n sequential (declare v:f32 (load x i)) (declare w:f32 (load x i)) {} {}
           (store t i (add f32 c11 b11)))",
        dependent("v", "b"),
        dependent("w", "c"),
    );
    let wide = rewritten(&floats(&body));
    // If one chain were shortened, the other one would be as long as before.
    assert!(!wide.contains("(local "), "{wide}");
    let body = "(for i n sequential (declare v:f32 (load x i))
         (store t i (sqrt f32 (sqrt f32 (sqrt f32 v)))))";
    let short = rewritten(&floats(body));
    // Once for whole lines and once for the elements before and after them.
    assert_eq!(short.matches("(for k").count(), 2, "{short}");
}

#[test]
fn a_loop_that_carries_a_value_stays() {
    let body = format!(
        "(declare s:f32 a)
         (for i n sequential (declare v:f32 (add f32 s (load x i))) {} (set s b11) (store t i s))",
        dependent("v", "b"),
    );
    let text = rewritten(&floats(&body));
    assert!(
        !text.contains("(local ") && !text.contains("(plan_non_temporal "),
        "{text}"
    );
}

/// Returns a loop whose state `s` gets a value of `step`, where `w` is the last of many operations on an
/// element.
fn carried(work: &str, step: &str) -> String {
    floats(&format!(
        "(declare s:f32 a) (for i n sequential (declare v:f32 (load x i)) {work} {step})"
    ))
}

#[test]
fn what_depends_on_no_earlier_iteration_is_computed_in_a_loop_of_its_own() {
    let many = dependent("v", "w");
    for (step, arrays) in [
        // A linear recurrence, with all its steps as a result.
        ("(set s (add f32 (mul f32 s 0.5f) w11)) (store t i s)", 1),
        // What is read before it is passed on, and two values of the first loop.
        (
            "(declare u:f32 (div f32 w11 (add f32 s w10))) (store t i (sub f32 u s)) (set s u)",
            2,
        ),
        // Parts of expressions are computed before, and elements are read again.
        (
            "(set s (div f32 (sub f32 (mul f32 w11 v) 1.0f) (add f32 (mul f32 s v) (mul f32 w10 w9)))) (store t i s)",
            2,
        ),
    ] {
        let text = rewritten(&carried(&many, step));
        assert!(text.contains(" independent"), "{text}");
        assert_eq!(text.matches("(local ").count(), arrays, "{text}");
        assert_eq!(text.matches("(for ").count(), 3, "{text}");
    }
}

#[test]
fn loops_of_which_c_compilers_make_vectors_or_never_would_stay() {
    let many = dependent("v", "w");
    let exact = "(declare k:i32 (convert.i32 bool (lt f32 w11 1.0f)))
        (declare q:i32 (div i32 k 3i32)) (declare z:f32 (convert.f32 i32 q))";
    for (work, step) in [
        // A sum, alone and where the next value has a name.
        (many.as_str(), "(set s (add f32 s w11)) (store t i v)"),
        (
            &many,
            "(declare u:f32 (add f32 s w11)) (set s u) (store t i v)",
        ),
        // Little work.
        (
            "(declare w11:f32 (div f32 v 3.0f))",
            "(set s (add f32 (mul f32 s 0.5f) w11)) (store t i s)",
        ),
        // Divisions of integers have no vector instructions.
        (
            &format!("{many} {exact}"),
            "(set s (add f32 (mul f32 s 0.5f) z)) (store t i s)",
        ),
    ] {
        let text = rewritten(&carried(work, step));
        assert!(!text.contains("(local "), "{text}");
    }
}

#[test]
fn filters_skip_strips_without_survivors() {
    let filter = |place: &str, limit: &str| {
        floats(&format!(
            "(for e n sequential (store t e 0.0f)) (declare c:i64 0)
             (for i n sequential (declare v:f32 (load x i)) {}
               (store t {place} v) (set c (add i64 c (convert.i64 bool (lt f32 w11 {limit})))))",
            dependent("v", "w")
        ))
    };
    for limit in ["-1.0f", "0.5f", "1.0e30f"] {
        let text = rewritten(&filter("c", limit));
        assert!(text.contains("(declare any"), "{text}");
        // Elements that have places of their own remain.
        let text = rewritten(&filter("(sub i64 i c)", limit));
        assert!(!text.contains("(declare any"), "{text}");
    }
}

/// Returns a loop that passes on `s` and `j`, and gives them as the last elements.
fn selected(body: &str) -> String {
    floats(&format!(
        "(declare s:f32 a) (declare j:f32 0.0f)
         (for i n sequential (declare v:f32 (load x i)) {body})
         (for e n sequential (store t e (select (eq i64 (and i64 e 1) 0) s j)))"
    ))
}

#[test]
fn folds_that_select_skip_strips() {
    let better = "(or (lt f32 s v) (and (eq f32 s v) (lt f32 j 3.0f)))";
    let better = better
        .replace("(or (lt f32 s v)", "(select (lt f32 s v) true")
        .replace(
            "(and (eq f32 s v) (lt f32 j 3.0f))",
            "(select (eq f32 s v) (lt f32 j 3.0f) false)",
        );
    let number = "(convert.f32 i64 i)";
    for body in [
        // Assigned where they are better.
        format!("(if {better} (do (set s v) (set j {number})))"),
        // Chosen in both cases, and assigned after it.
        format!(
            "(declare p:f32) (declare q:f32)
             (if {better} (do (set p v) (set q {number})) (do (set p s) (set q j)))
             (set s p) (set j q)"
        ),
        // A condition that conditionals compute.
        format!(
            "(declare b:bool)
             (if (lt f32 s v) (do (set b true)) (do
               (declare c:bool)
               (if (eq f32 s v) (do (set c (lt f32 j 3.0f))) (do (set c false)))
               (set b c)))
             (if b (do (set s v) (set j {number})))"
        ),
        // The least and the greatest element.
        "(if (lt f32 v s) (do (set s v))) (if (lt f32 j v) (do (set j v)))".to_string(),
    ] {
        let text = rewritten(&selected(&body));
        assert!(text.contains("(declare any"), "{text}");
    }
}

#[test]
fn folds_whose_replacements_need_not_become_rare_stay() {
    for body in [
        // The condition does not depend on what is passed on.
        "(if (lt f32 v 50.0f) (do (set s v)))",
        // What replaces depends on it.
        "(if (lt f32 s v) (do (set s (add f32 s 1.0f))))",
        // Something changes in any case.
        "(if (lt f32 s v) (do (set s v))) (set j (add f32 j 1.0f))",
        "(if (lt f32 s v) (do (set s v)) (do (set s 1.0f)))",
        // A conditional that computes a condition, and another number.
        "(declare b:bool) (declare y:f32 0.0f)
         (if (lt f32 s v) (do (set b true) (set y s)) (do (set b false)))
         (if b (do (set s v))) (set j y)",
        // An element that may only be read where a condition holds.
        "(if (select (lt f32 s v) (lt f32 j (load x (sub i64 n 1))) false) (do (set s v)))",
    ] {
        let text = rewritten(&selected(body));
        assert!(!text.contains("(declare any"), "{text}");
    }
}

#[test]
fn sines_of_bounded_angles_are_computed_where_a_strip_has_no_others() {
    for body in [
        "(store t i (sin f32 (load x i)))",
        // Two functions of one angle, some of which are beyond the bound.
        "(declare v:f32 (mul f32 1000.0f (load x i)))
         (store t i (add f32 (sin f32 v) (mul f32 a (cos f32 v))))",
        // Sums.
        "(declare v:f32 (load x i)) (set s (add f32 s (sin f32 v))) (store t i a)",
        // An element of the result, before it is written.
        "(store t i (load x i)) (declare v:f32 (load x i)) (store t i (cos f32 v))",
    ] {
        let text = rewritten(&floats(&format!(
            "(declare s:f32 a) (for i n sequential {body})"
        )));
        assert!(text.contains("_bounded f32 (load angles"), "{text}");
        assert_eq!(text.matches("(local angles").count(), 1, "{text}");
    }
    // As many iterations as a strip has: no loop over strips.
    let text = rewritten(&floats(
        "(for i n sequential (store t i a))
         (if (le i64 32 n) (do (for l 32 sequential (store t l (sin f32 (load x l))))))",
    ));
    assert!(text.contains("(pointer f32) 32)"), "{text}");
}

#[test]
fn angles_that_an_iteration_passes_on_stay() {
    for body in [
        // The next angle depends on this sine.
        "(set s (sin f32 (add f32 s (load x i)))) (store t i s)",
        // An element that another iteration writes.
        "(store t i (add f32 a (sin f32 (load t (max i64 0 (sub i64 i 1))))))",
        "(store t i (load x i)) (store t i (sin f32 (load t i)))",
        // Some elements only, and a loop with another exit.
        "(store t i (select (lt f32 (load x i) 9.0f) (sin f32 (load x i)) a))",
        "(store t i (sin f32 (load x i))) (check (lt i64 i 2000) index [i 2000] \"f.nova:1:1\")",
        // Doubles.
        "(store t i (convert.f32 f64 (sin f64 (convert.f64 f32 (load x i)))))",
    ] {
        let text = rewritten(&floats(&format!(
            "(declare s:f32 a) (for j n sequential (store t j a)) (for i n sequential {body})"
        )));
        assert!(!text.contains("_bounded"), "{text}");
    }
}
