//! Fusion of operations over the elements of rows with the loop that makes the rows.

use crate::fusion::{counts, fused};
use crate::support::{apply, read};
use nova_flat::print::print;
use nova_opt::fuse::{Rules, Workers, run_by};

/// Returns a function of `x`, whose elements are the lengths of rows, and of a number `k`. Row i
/// has `x[i]` elements, from the number k on. `t` is the total number of elements.
fn of_rows(core_result: &str, results: &str, body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"k\" i64)] {core_result} \"f\")
          (function \"f\" [n:i64 x:[n]i64 k:i64] [{results}] (do
            (let [z:[7]i64] (replicate [7] 1))
            (let [s:[n]i64 e:[n]i64 t:i64 y:[t]i64] (operation [n] [i:i64] []
              (do (let [a:i64] (index x [i])) (let [g:bool] (lt i64 a 9)) (let [] (check g index [a n]))
                (let [c:i64] (max i64 a 0)) (let [r:[c]i64] (iota c k 3)) (in c r))
              (collect 1)))
            {body})))"
    )
}

const INPUTS: &[&[&str]] = &[
    &["[]", "0"],
    &["[0 0]", "1"],
    &["[3 0 2 1]", "-4"],
    &["[1 9 3]", "2"],
];

fn exact(operator: &str) -> String {
    format!("(lambda [p:i64 q:i64] (do (let [o:i64] ({operator} i64 p q)) (in o)))")
}

/// Returns an operation that reduces `t` elements of `y` to one number `u`.
fn reduced(operator: &str, start: &str) -> String {
    format!(
        "(let [u:i64] (operation [t] [j:i64] []
          (do (let [b:i64] (index y [j])) (let [d:i64] (mul i64 b b)) (in d))
          (reduce [{start}] {})))",
        exact(operator)
    )
}

/// A scatter that stores `k` at the positions that the elements give.
const SCATTERED: &str = "(let [w:[7]i64] (operation [t] [j:i64] [] (do (let [b:i64] (index y [j])) (in b k)) (scatter [z])))
    (in 7 w)";

#[test]
fn elements_of_rows_are_reduced_row_by_row() {
    for operator in ["add", "mul", "min", "max", "and", "or", "xor"] {
        for start in ["0", "7"] {
            let body = format!("{} (in u)", reduced(operator, start));
            let program = fused(&of_rows("i64", "v:i64", &body), INPUTS);
            // The numbers of a row are not stored either.
            assert_eq!(counts(&program), (2, 0), "{operator}\n{}", print(&program));
        }
    }
}

#[test]
fn the_number_of_elements_is_a_sum_of_lengths() {
    let program = fused(&of_rows("i64", "v:i64", "(in t)"), INPUTS);
    assert_eq!(counts(&program), (1, 0), "{}", print(&program));
    let body = format!("{} (let [m:i64] (sub i64 u t)) (in m)", reduced("max", "0"));
    let program = fused(&of_rows("i64", "v:i64", &body), INPUTS);
    assert_eq!(counts(&program), (2, 0), "{}", print(&program));
}

#[test]
fn state_and_destinations_are_carried_from_row_to_row() {
    let body = "(let [u:i64] (operation [t] [j:i64] [l:i64 = k]
        (do (let [b:i64] (index y [j])) (let [m:i64] (mul i64 l 3)) (let [d:i64] (sub i64 m b)) (in d))))
      (in u)";
    let program = fused(&of_rows("i64", "v:i64", body), INPUTS);
    assert_eq!(counts(&program), (2, 0), "{}", print(&program));
    let text = of_rows("(vector i64)", "v0:i64 v:[v0]i64", SCATTERED);
    let program = fused(&text, INPUTS);
    assert_eq!(counts(&program), (2, 3), "{}", print(&program));
    let body = "(let [c2:i64 w:[7]i64 m:i64] (operation [t] [j:i64] [l:i64 = k]
        (do (let [b:i64] (index y [j])) (let [d:i64] (sub i64 b l)) (in d b d b)) (scatter [z])
          (reduce [5] (lambda [p:i64 q:i64] (do (let [o:i64] (min i64 p q)) (in o))))))
      (in c2 7 w m)";
    let text = of_rows(
        "(tuple i64 (vector i64) i64)",
        "v:i64 v0:i64 v1:[v0]i64 v2:i64",
        body,
    );
    assert_eq!(counts(&fused(&text, INPUTS)).0, 2);
}

#[test]
fn states_may_have_the_sizes_of_others() {
    let body = "(let [m:i64 w:[m]i64] (operation [t] [j:i64] [l:i64 = 7 v:[l]i64 = z]
        (do (let [b:i64] (index y [j])) (let [d:i64] (add i64 l 1)) (let [p:[1]i64] (replicate [1] b))
          (let [q:[d]i64] (concat d [v p])) (in d q))))
      (in m w)";
    let text = of_rows("(vector i64)", "v0:i64 v1:[v0]i64", body);
    let program = fused(&text, INPUTS);
    assert!(
        !print(&program).contains("(collect 1)"),
        "{}",
        print(&program)
    );
}

#[test]
fn rows_that_others_need_are_stored() {
    for (rest, result) in [
        // The elements themselves.
        ("(in u t y)", "(tuple i64 (vector i64))"),
        // The starts of the rows.
        ("(in u n s)", "(tuple i64 (vector i64))"),
    ] {
        let body = format!("{} {rest}", reduced("add", "0"));
        let text = of_rows(result, "v:i64 v0:i64 v1:[v0]i64", &body);
        let program = fused(&text, INPUTS);
        assert!(
            print(&program).contains("(collect 1)"),
            "{}",
            print(&program)
        );
    }
}

#[test]
fn places_among_all_elements_are_not_places_in_a_row() {
    for use_of_place in [
        "(let [d:i64] (add i64 b j))",
        "(let [d:i64] (add i64 b t))",
        "(let [h:i64] (sub i64 t 1)) (let [m:i64] (sub i64 h j)) (let [d:i64] (index y [m]))",
    ] {
        let body = format!(
            "(let [u:i64] (operation [t] [j:i64] []
              (do (let [b:i64] (index y [j])) {use_of_place} (in d)) (reduce [0] {}))) (in u)",
            exact("add")
        );
        let program = fused(&of_rows("i64", "v:i64", &body), INPUTS);
        assert!(
            print(&program).contains("(collect 1)"),
            "{}",
            print(&program)
        );
    }
}

#[test]
fn what_runs_in_order_is_worth_it_where_no_work_of_threads_is_lost() {
    let text = of_rows("(vector i64)", "v0:i64 v:[v0]i64", SCATTERED);
    let costly = text.replace(
        "(let [c:i64] (max i64 a 0))",
        "(let [c0:i64] (rem i64 a 4)) (let [c:i64] (max i64 c0 0))",
    );
    let collects = |text: &str, workers| {
        let mut program = read(text);
        let strict = true;
        apply(
            |program| run_by(program, Rules { strict, workers }),
            &mut program,
        );
        print(&program).contains("(collect 1)")
    };
    assert!(!collects(&costly, Workers::One));
    assert!(collects(&costly, Workers::Threads));
    assert!(collects(&text, Workers::Device));
    // Threads share reductions as they share rows.
    let sum = of_rows("i64", "v:i64", &format!("{} (in u)", reduced("add", "0")));
    for workers in [Workers::One, Workers::Threads, Workers::Device] {
        assert!(!collects(&sum, workers));
    }
}

#[test]
fn what_begins_with_a_result_of_the_loop_comes_after_it() {
    for consumer in [
        format!(
            "(let [u:i64] (operation [t] [j:i64] [] (do (let [b:i64] (index y [j])) (in b))
              (reduce [w] {})))",
            exact("mul")
        ),
        "(let [u:i64] (operation [t] [j:i64] [v:i64 = w]
          (do (let [b:i64] (index y [j])) (let [d:i64] (mul i64 v 3)) (let [l:i64] (add i64 d b))
            (in l))))"
            .to_owned(),
    ] {
        let text = format!("{} (in u)", consumer);
        let text = of_rows("i64", "u1:i64", &text)
            .replace("[s:[n]i64 e:", "[w:i64 s:[n]i64 e:")
            .replace(
                "(in c r))",
                "(in a c r)) (reduce [k] (lambda [wp:i64 wq:i64]
                (do (let [wo:i64] (add i64 wp wq)) (in wo))))",
            );
        let program = fused(&text, INPUTS);
        let printed = print(&program);
        assert!(printed.contains("(collect 1)"), "{printed}");
    }
}
