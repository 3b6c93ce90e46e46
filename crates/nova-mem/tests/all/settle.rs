//! Tests of the states of loops that stay in one block, and of those that do not.

use crate::passes::{check_pass, function};
use nova_flat::ir::Program;
use nova_mem::{reuse, settle, short_circuit};

/// A vector that only this function holds.
const OWN: &str =
    "(let [mb:(block f32)] (allocate f32 n)) (let [m:[n]f32 @ mb] (replicate [n] 2.0f))";

/// An iteration that changes an element of the state.
const ITERATION: &str = "(do (let [ub:(block f32)] (allocate f32 n))
    (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u))";

/// Returns a loop over a state that starts with an array.
fn iterations(start: &str, iteration: &str) -> String {
    format!("(let [s:[n]f32 @ sb] (operation [3] [k:i64] [v:[n]f32 @ vb = {start}] {iteration}))")
}

/// Runs the passes over a body. Returns the numbers of sole holders, copies, allocations and memories
/// for the caller that remain.
#[track_caller]
fn left(body: &str, result: &str) -> [usize; 4] {
    let pass = |program: &mut Program| {
        reuse::run(program, reuse::Counting::Everywhere);
        settle::run(program);
        short_circuit::run(program);
    };
    let text = check_pass(&function(&format!("{OWN} {body}"), result), pass);
    let words = ["(unique ", "(copy ", "(allocate ", "(allocate_result "];
    words.map(|word| text.matches(word).count())
}

#[test]
fn states_with_one_holder_stay_in_one_block() {
    assert_eq!(left(&iterations("m", ITERATION), "s"), [0, 0, 0, 1]);
    // With two loops, the second goes on where the first ends.
    let twice = iterations("m", ITERATION)
        + &iterations("s", ITERATION)
            .replace("[s:", "[t:")
            .replace("sb]", "tb]")
            .replace("[k:", "[l:")
            .replace("[k]", "[l]")
            .replace("v:", "w:")
            .replace("vb", "wb")
            .replace("update v", "update w")
            .replace("ub", "yb")
            .replace("u:", "y:")
            .replace("(in u)", "(in y)");
    assert_eq!(left(&twice, "t"), [0, 0, 0, 1]);
}

#[test]
fn an_array_of_the_caller_is_copied_once() {
    assert_eq!(left(&iterations("x", ITERATION), "s"), [0, 1, 1, 1]);
    // An array that is needed after the loop is copied, too.
    let later = iterations("m", ITERATION)
        + "(let [g:f32] (index m [0])) (let [wb:(block f32)] (allocate f32 n))
           (let [w:[n]f32 @ wb] (update s [1] g))";
    assert_eq!(left(&later, "w")[..2], [0, 1]);
}

#[test]
fn branches_that_hand_the_state_on_settle() {
    let iteration = "(do (let [c:bool] (lt i64 k 2))
        (let [y:[n]f32 @ yb] (if c
          (do (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u))
          (do (in v)))) (in y))";
    assert_eq!(left(&iterations("m", iteration), "s")[..2], [0, 0]);
    // A branch that passes on another array does not settle.
    let other = iteration.replace("(do (in v))", "(do (in x))");
    let [soles, ..] = left(&iterations("m", &other), "s");
    assert_eq!(soles, 1);
}

#[test]
fn nested_loops_settle_together() {
    let iteration = "(do (let [t:[n]f32 @ tb] (operation [2] [l:i64] [w:[n]f32 @ wb = v]
          (do (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update w [l] 5.0f)) (in u))))
        (in t))";
    assert_eq!(left(&iterations("m", iteration), "s"), [0, 0, 0, 1]);
    // A result is copied for the caller in any case.
    assert_eq!(left(&iterations("x", iteration), "s"), [0, 1, 1, 1]);
    // Otherwise it is not copied for an inner loop that may have no iterations.
    let element = iterations("x", iteration)
        + "(let [g:f32] (index s [0])) (let [zb:(block f32)] (allocate f32 n))
           (let [z:[n]f32 @ zb] (replicate [n] g))";
    assert_eq!(left(&element, "z")[0], 1);
}

#[test]
fn states_that_swap_stay_counted() {
    let swapped = "(let [ob:(block f32)] (allocate f32 n)) (let [o:[n]f32 @ ob] (replicate [n] 3.0f))
        (let [s:[n]f32 @ sb t:[n]f32 @ tb] (operation [3] [k:i64] [v:[n]f32 @ vb = m w:[n]f32 @ wb = o]
          (do (let [ub:(block f32)] (allocate f32 n))
              (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in w u))))
        (let [g:f32] (index t [0])) (let [zb:(block f32)] (allocate f32 n))
        (let [z:[n]f32 @ zb] (update s [1] g))";
    assert!(left(swapped, "z")[0] >= 1);
}

#[test]
fn an_array_that_starts_two_states_is_copied() {
    let both = "(let [s:[n]f32 @ sb t:[n]f32 @ tb] (operation [3] [k:i64] [v:[n]f32 @ vb = m w:[n]f32 @ wb = m]
          (do (let [ub:(block f32)] (allocate f32 n))
              (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u w))))
        (let [g:f32] (index t [0])) (let [zb:(block f32)] (allocate f32 n))
        (let [z:[n]f32 @ zb] (update s [1] g))";
    let [soles, ..] = left(both, "z");
    assert!(soles >= 1);
}
