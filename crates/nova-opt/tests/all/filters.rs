//! Fusion with filters and scans. An operation that reads their results runs in their loop, where
//! the order of the values makes no difference.

use crate::fusion::{counts, fused, plus, values};
use nova_flat::ir::Program;
use nova_flat::print::print;

/// Fuses a function of a vector of integers `x` and a number `k`.
#[track_caller]
fn of_integers(core_result: &str, results: &str, body: &str) -> Program {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"k\" i64)] {core_result} \"f\")
          (function \"f\" [n:i64 x:[n]i64 k:i64] [{results}] (do {body})))"
    );
    fused(&text, INTEGERS)
}

const INTEGERS: &[&[&str]] = &[
    &["[]", "0"],
    &["[1]", "5"],
    &["[3 -1 4 -1 5 -9 2 6]", "2"],
    &["[-3 -1 -4]", "1"],
];

/// `m` and `y`, the elements of x that are positive.
const POSITIVE: &str = "(let [m:i64 y:[m]i64] (operation [n] [i:i64] []
    (do (let [a:i64] (index x [i])) (let [b:bool] (gt i64 a 0)) (in b a)) (filter 1)))";

fn exact(operator: &str, name: &str) -> String {
    format!(
        "(lambda [{name}p:i64 {name}q:i64] (do (let [{name}s:i64] ({operator} i64 {name}p {name}q)) (in {name}s)))"
    )
}

#[test]
fn filter_survivors_are_reduced_at_once() {
    for operator in ["add", "mul", "min", "max", "and", "or", "xor"] {
        for start in ["0", "7"] {
            let body = format!(
                "{POSITIVE} (let [u:i64] (operation [m] [j:i64] []
                  (do (let [c:i64] (index y [j])) (let [d:i64] (mul i64 c c)) (in d))
                  (reduce_comm [{start}] {}))) (in u)",
                exact(operator, "r")
            );
            let program = of_integers("i64", "r:i64", &body);
            assert_eq!(counts(&program), (1, 0), "{operator}\n{}", print(&program));
        }
    }
}

#[test]
fn a_reduction_whose_order_matters_keeps_its_own_loop() {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector f32))] f32 \"f\")
          (function \"f\" [n:i64 x:[n]f32] [r:f32] (do
            (let [m:i64 y:[m]f32] (operation [n] [i:i64] []
              (do (let [a:f32] (index x [i])) (let [b:bool] (gt f32 a 0f)) (in b a)) (filter 1)))
            (let [u:f32] (operation [m] [j:i64] [] (do (let [c:f32] (index y [j])) (in c))
              (reduce_comm [0f] {})))
            (in u))))",
        plus("r")
    );
    let program = fused(&text, &[&["[]"], &["[1.5 -2 0.1 1e10 3]"]]);
    assert_eq!(counts(&program).0, 2);
}

#[test]
fn a_filter_of_a_filter_is_one() {
    let body = format!(
        "{POSITIVE} (let [l:i64 z:[l]i64] (operation [m] [j:i64] []
          (do (let [c:i64] (index y [j])) (let [d:bool] (lt i64 c k)) (let [e:i64] (add i64 c c)) (in d e))
          (filter 1)))
        (in l z)"
    );
    let program = of_integers("(vector i64)", "r0:i64 r:[r0]i64", &body);
    assert_eq!(counts(&program), (1, 1));
}

#[test]
fn a_map_of_survivors_is_an_output_of_the_filter() {
    let body = format!(
        "{POSITIVE} (let [z:[m]i64] (operation [m] [j:i64] []
          (do (let [c:i64] (index y [j])) (let [e:i64] (add i64 c k)) (in e)) (map)))
        (in m z)"
    );
    let program = of_integers("(vector i64)", "r0:i64 r:[r0]i64", &body);
    assert_eq!(counts(&program), (1, 1));
    // Both arrays are wanted.
    let body = body.replace("(in m z)", "(in m z m y)");
    let program = of_integers(
        "(tuple (vector i64) (vector i64))",
        "r0:i64 r:[r0]i64 s0:i64 s:[s0]i64",
        &body,
    );
    assert_eq!(counts(&program), (1, 2));
}

#[test]
fn scatters_and_histograms_of_a_filter_skip_other_elements() {
    let body = format!(
        "{POSITIVE} (let [z:[9]i64] (replicate [9] k))
        (let [w:[9]i64 h:[7]i64] (operation [m] [j:i64] []
          (do (let [c:i64] (index y [j])) (let [e:i64] (add i64 c k)) (in c e e c))
          (scatter [z]) (histogram 7 [1] {})))
        (in 9 w 7 h)",
        exact("add", "r")
    );
    let program = of_integers(
        "(tuple (vector i64) (vector i64))",
        "r0:i64 r:[r0]i64 s0:i64 s:[s0]i64",
        &body,
    );
    assert_eq!(counts(&program).0, 1, "{}", print(&program));
}

#[test]
fn code_that_may_fail_runs_only_for_survivors() {
    // Divides by a survivor, which is not 0.
    let body = format!(
        "{POSITIVE} (let [z:[m]i64] (operation [m] [j:i64] []
          (do (let [c:i64] (index y [j])) (let [g:bool] (ne i64 c 5)) (let [] (check g division []))
            (let [e:i64] (div i64 100 c)) (in e)) (map)))
        (in m z)"
    );
    let program = of_integers("(vector i64)", "r0:i64 r:[r0]i64", &body);
    assert_eq!(counts(&program).0, 1);
    let given = values(&program, &[&["[-1 0 4]", "0"], &["[0 5]", "0"]]);
    assert_eq!(given[..2], ["[25]", "division"]);
}

#[test]
fn positions_among_survivors_are_not_positions_in_the_loop() {
    let uses = [
        // The index itself.
        "(let [e:i64] (add i64 c j))",
        // Another array.
        "(let [o:bool] (lt i64 j n)) (let [f:i64] (if o (do (let [f1:i64] (index x [j])) (in f1)) (do (in 0))))
         (let [e:i64] (sub i64 c f))",
        // The number of survivors.
        "(let [e:i64] (sub i64 c m))",
    ];
    for use_of_index in uses {
        let body = format!(
            "{POSITIVE} (let [z:[m]i64] (operation [m] [j:i64] []
              (do (let [c:i64] (index y [j])) {use_of_index} (in e)) (map)))
            (in m z)"
        );
        let program = of_integers("(vector i64)", "r0:i64 r:[r0]i64", &body);
        assert_eq!(counts(&program).0, 2, "{use_of_index}");
    }
}

#[test]
fn running_results_are_read_where_they_arise() {
    for word in ["scan", "exscan"] {
        for operator in ["add", "max"] {
            let scan = format!(
                "(let [y:[n]i64] (operation [n] [i:i64] [] (do (let [a:i64] (index x [i])) (in a))
                  ({word} [k] {})))",
                exact(operator, "t")
            );
            let reduce = format!(
                "(let [u:i64] (operation [n] [j:i64] []
                  (do (let [c:i64] (index y [j])) (let [d:i64] (mul i64 c 3)) (in d))
                  (reduce_comm [0] {})))",
                exact("xor", "r")
            );
            let program = of_integers("i64", "r:i64", &format!("{scan} {reduce} (in u)"));
            assert_eq!(counts(&program), (1, 0), "{}", print(&program));
            // The results are also stored where other code needs them.
            let body = format!("{scan} {reduce} (in u n y)");
            let program = of_integers("(tuple i64 (vector i64))", "r:i64 s0:i64 s:[s0]i64", &body);
            assert_eq!(counts(&program), (1, 1));
        }
    }
}

#[test]
fn filters_and_scans_of_the_same_array_share_a_loop() {
    let body = format!(
        "{POSITIVE} (let [z:[n]i64] (operation [n] [l:i64] [] (do (let [c:i64] (index x [l])) (in c))
          (scan [k] {})))
        (let [u:i64] (operation [n] [o:i64] [] (do (let [d:i64] (index x [o])) (in d)) (reduce_comm [0] {})))
        (in u m y n z)",
        exact("add", "t"),
        exact("max", "w")
    );
    let program = of_integers(
        "(tuple i64 (vector i64) (vector i64))",
        "r:i64 s0:i64 s:[s0]i64 t0:i64 t1:[t0]i64",
        &body,
    );
    assert_eq!(counts(&program), (1, 2));
}

#[test]
fn what_may_not_end_is_not_merged_with_what_may_fail() {
    let endless = "(let [z:[n]i64] (operation [n] [l:i64] []
        (do (let [c:i64] (index y [l]))
          (let [d:i64] (while [e:i64 = c] (do (let [g:bool] (gt i64 e 0)) (in g))
            (do (let [h:i64] (sub i64 e 1)) (in h))))
          (in d)) (map)))";
    let failing = "(let [y:[n]i64] (operation [n] [i:i64] []
        (do (let [a:i64] (index x [i])) (let [b:bool] (ne i64 a 7)) (let [] (check b division [])) (in a)) (map)))";
    let body = format!("{failing} {endless} (in n z)");
    let program = of_integers("(vector i64)", "r0:i64 r:[r0]i64", &body);
    assert_eq!(counts(&program).0, 2);
    // An operation that cannot fail is merged.
    let body = format!(
        "{} {endless} (in n z)",
        failing.replace("(let [] (check b division []))", "")
    );
    let program = of_integers("(vector i64)", "r0:i64 r:[r0]i64", &body);
    assert_eq!(counts(&program).0, 1);
}

#[test]
fn what_begins_with_a_result_of_the_loop_comes_after_it() {
    let sum = exact("add", "r");
    let producer = format!(
        "(let [w:i64 m:i64 y:[m]i64] (operation [n] [i:i64] []
          (do (let [a:i64] (index x [i])) (let [b:bool] (gt i64 a 0)) (in a b a))
          (reduce_comm [k] {sum}) (filter 1)))"
    );
    let consumers = [
        format!(
            "(let [u:i64] (operation [m] [j:i64] [] (do (let [c:i64] (index y [j])) (in c))
              (reduce_comm [w] {})))",
            exact("mul", "q")
        ),
        "(let [u:i64] (operation [m] [j:i64] [v:i64 = w]
          (do (let [c:i64] (index y [j])) (let [d:i64] (mul i64 v 3)) (let [e:i64] (add i64 d c))
            (in e))))"
            .to_owned(),
        "(let [z:[m]i64] (operation [m] [j:i64] []
          (do (let [c:i64] (index y [j])) (let [d:i64] (add i64 c w)) (in d)) (map)))
         (let [u:i64] (atom w))"
            .to_owned(),
    ];
    for consumer in consumers {
        let used = if consumer.contains("z:[m]") {
            "m z"
        } else {
            "m y"
        };
        let body = format!("{producer} {consumer} (in u {used})");
        let program = of_integers("(tuple i64 (vector i64))", "r:i64 s0:i64 s:[s0]i64", &body);
        assert_eq!(counts(&program).0, 2, "{}", print(&program));
    }
}
