//! Tests of the arrays that are built at the target of their copy, and of those that are not.

use crate::passes::{check_pass, function};
use nova_mem::short_circuit;

/// Runs the pass over a function of `x` (3 elements) and `y`, and returns the text of the result.
fn after(body: &str, result: &str) -> String {
    check_pass(&function(body, result), short_circuit::run)
}

const MAP: &str = "(let [mb:(block f32)] (allocate f32 n))
    (let [m:[n]f32 @ mb] (operation [n] [i:i64] []
      (do (let [e:f32] (index x [i])) (let [d:f32] (add f32 e 1.0f)) (in d)) (map)))";

#[test]
fn a_copy_with_gaps() {
    let body = format!(
        "{MAP}
         (let [s:i64] (mul i64 n 2))
         (let [c:(block f32)] (allocate f32 s))
         (let [z:[n]f32 @ c (lmad 1 [n 2])] (copy m))
         (let [ob:(block f32)] (allocate f32 n))
         (let [o:[n]f32 @ ob] (copy z))"
    );
    let text = after(&body, "o");
    assert!(text.contains("(lmad 1 [n_0 2])] (operation"), "{text}");
    // The size of the target is computed before the map.
    assert!(text.contains("(let [~size_"), "{text}");
}

#[test]
fn operands_of_concatenations_and_copies_of_copies() {
    let body = format!(
        "{MAP}
         (let [kb:(block f32)] (allocate f32 n))
         (let [k:[n]f32 @ kb] (copy m))
         (let [ib:(block f32)] (allocate f32 2))
         (let [l:[2]f32 @ ib] (literal f32 [5.0f 6.0f]))
         (let [s:i64] (add i64 n 2))
         (let [c:(block f32)] (allocate f32 s))
         (let [z:[s]f32 @ c] (concat s [k l]))"
    );
    let text = after(&body, "z");
    assert_eq!(text.matches("allocate").count(), 1, "{text}");
    assert!(text.contains("(lmad n_0 [2 1])] (literal"), "{text}");
}

#[test]
fn chunks_are_built_in_the_whole() {
    let body = "(let [c:(block f32)] (allocate f32 n))
         (let [y:[n]f32 @ c] (grid [2] [p:i64] []
           (do
             (let [first:i64] (mul i64 p 2))
             (let [left:i64] (sub i64 n first))
             (let [size:i64] (min i64 left 2))
             (let [pb:(block f32)] (allocate f32 size))
             (let [z:[size]f32 @ pb] (operation [size] [i:i64] []
               (do
                 (let [k:i64] (add i64 first i))
                 (let [e:f32] (index x [k]))
                 (in e))
               (map)))
             (in first z))
           (join [n])))";
    let text = after(body, "y");
    assert_eq!(text.matches("allocate").count(), 1, "{text}");
    assert!(text.contains("(lmad first_"), "{text}");
}

#[test]
fn all_cases_of_a_conditional_build_their_result_in_its_memory() {
    let map = |name: &str, number: &str| {
        format!(
            "(do (let [{name}b:(block f32)] (allocate f32 n))
               (let [{name}:[n]f32 @ {name}b] (operation [n] [i{name}:i64] []
                 (do (let [e{name}:f32] (index x [i{name}])) (let [d{name}:f32] (add f32 e{name} {number}))
                   (in d{name})) (map)))
               (let [~{name}:[n]f32 @ c] (copy {name})) (in ~{name}))"
        )
    };
    let body = format!(
        "(let [t:bool] (gt i64 n 2)) (let [c:(block f32)] (allocate f32 n))
         (let [y:[n]f32 @ c] (if t {} {}))",
        map("a", "1.0f"),
        map("z", "2.0f")
    );
    let text = after(&body, "y");
    assert_eq!(text.matches("allocate").count(), 1, "{text}");
}

#[test]
fn an_array_that_is_needed_afterwards_stays() {
    let body = format!(
        "{MAP}
         (let [c:(block f32)] (allocate f32 n))
         (let [z:[n]f32 @ c] (copy m))
         (let [g:f32] (index m [0]))
         (let [u:[n]f32 @ c] (update z [0] g))"
    );
    assert_eq!(after(&body, "u").matches("allocate").count(), 2);
}

#[test]
fn a_target_in_use_is_left_alone() {
    // w lies in the first half of the target until its last read, after the map.
    let body = format!(
        "(let [s:i64] (mul i64 n 2))
         (let [c:(block f32)] (allocate f32 s))
         (let [w:[n]f32 @ c] (copy x))
         {MAP}
         (let [g:f32] (index w [0]))
         (let [z:[n]f32 @ c] (copy m))
         (let [u:[n]f32 @ c] (update z [0] g))"
    );
    assert_eq!(after(&body, "u").matches("allocate").count(), 2);
    // In the second half it does not conflict.
    let body = body.replace("w:[n]f32 @ c]", "w:[n]f32 @ c (lmad n [n 1])]");
    assert_eq!(after(&body, "u").matches("allocate").count(), 1);
}

#[test]
fn a_size_that_a_check_may_refuse_is_not_allocated_before_it() {
    let body = format!(
        "{MAP}
         (let [t:i64] (sub i64 n 2))
         (let [ok:bool] (ge i64 t 0))
         (let [] (check ok length [t t]))
         (let [ib:(block f32)] (allocate f32 t))
         (let [l:[t]f32 @ ib] (replicate [t] 5.0f))
         (let [s:i64] (add i64 n t))
         (let [c:(block f32)] (allocate f32 s))
         (let [z:[s]f32 @ c] (concat s [m l]))"
    );
    let text = after(&body, "z");
    assert!(text.contains("[m_7:[n_0]f32 @ mb_6]"), "{text}");
    // After the check it is.
    assert!(text.contains("(lmad n_0 [t_11 1])] (replicate"), "{text}");
}
