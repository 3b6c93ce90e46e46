//! Rows that are measured before they are made.

use crate::fusion::values;
use crate::support::{apply, read};
use nova_flat::print::print;

/// Returns the program of a row of `x` after the pass. Its values must stay the same.
#[track_caller]
fn measured(row: &str, result: &str, results: &str, given: &str) -> String {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"k\" i64)] {result} \"f\")
          (function \"f\" [n:i64 x:[n]i64 k:i64] [{results}] (do
            (let [s:[n]i64 e:[n]i64 t:i64 y:[t]i64] (operation [n] [i:i64] []
              (do (let [a:i64] (index x [i])) {row}) (collect 1)))
            (in {given}))))"
    );
    let inputs: &[&[&str]] = &[
        &["[]", "0"],
        &["[0 0]", "1"],
        &["[3 0 2 1]", "-4"],
        &["[1 9 3]", "2"],
        &["[1 562949953421312]", "2"],
    ];
    let mut program = read(&text);
    let expected = values(&program, inputs);
    apply(nova_opt::measure::run, &mut program);
    assert_eq!(values(&program, inputs), expected, "{}", print(&program));
    print(&program)
}

const ROW: &str = "(let [g:bool] (lt i64 a 9)) (let [] (check g index [a n]))
    (let [c:i64] (max i64 a 0)) (let [r:[c]i64] (iota c k 3)) (in c r)";
const ELEMENTS: [&str; 3] = ["(vector i64)", "v0:i64 v:[v0]i64", "t y"];
const ROWS: [&str; 3] = [
    "(vector (vector i64))",
    "v0:i64 v1:[v0]i64 v2:[v0]i64 v3:i64 v:[v3]i64",
    "n s e t y",
];

#[test]
fn rows_of_cheap_lengths_are_joined() {
    let [result, results, given] = ELEMENTS;
    let text = measured(ROW, result, results, given);
    assert!(text.contains("(join [t_"), "{text}");
    assert!(!text.contains("(map)"), "{text}");
    let [result, results, given] = ROWS;
    let text = measured(ROW, result, results, given);
    assert!(text.contains("(join [t_"), "{text}");
    assert_eq!(text.matches("(map)").count(), 2, "{text}");
}

#[test]
fn lengths_that_no_array_has_are_out_of_memory() {
    let row = "(let [c:i64] (max i64 a 0)) (let [r:[c]i64] (iota c k 3)) (in c r)";
    let [result, results, given] = ELEMENTS;
    let text = measured(row, result, results, given);
    assert!(text.contains("(join [t_"), "{text}");
}

#[test]
fn lengths_that_are_told_by_making_rows_are_not() {
    let [result, results, given] = ELEMENTS;
    for row in [
        "(let [c0:i64] (rem i64 a 2)) (let [c1:i64] (max i64 c0 0)) (let [r0:[c1]i64] (iota c1 0 1))
         (let [c:i64 r:[c]i64] (operation [c1] [j:i64] []
           (do (let [o:bool] (lt i64 j k)) (in o j)) (filter 1))) (in c r)",
        "(let [c0:i64] (operation [3] [j:i64] [] (do (let [p:i64] (mul i64 j 0)) (in p))
           (reduce [0] (lambda [l:i64 m:i64] (do (let [q:i64] (add i64 l m)) (in q))))))
         (let [r:[c0]i64] (iota c0 k 3)) (in c0 r)",
    ] {
        let text = measured(row, result, results, given);
        assert!(text.contains("(collect 1)"), "{text}");
    }
}
