//! Maps of maps whose rows all have one length become operations of two dimensions; others stay.

use crate::support::{apply, read, shape, value};
use nova_flat::ir::Program;
use nova_flat::print::print;

const INPUTS: &[[&str; 3]] = &[
    ["[]", "[]", "0"],
    ["[]", "[1 2]", "-3"],
    ["[3]", "[]", "2"],
    ["[3 4]", "[5 6 7]", "3"],
    ["[3 4 -1]", "[5]", "0"],
];

/// Runs the pass over a map whose body is given, of two vectors and a number; compares the values.
#[track_caller]
fn regular(body: &str) -> Program {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"y\" (vector i64)) (\"k\" i64)]
            (vector (vector i64)) \"f\")
          (function \"f\" [n:i64 x:[n]i64 m:i64 y:[m]i64 k:i64]
            [r:i64 s:[r]i64 e:[r]i64 t:i64 d:[t]i64] (do
              (let [starts:[n]i64 ends:[n]i64 total:i64 data:[total]i64]
                (operation [n] [i:i64] [] (do {body}) (collect 1)))
              (in n starts ends total data))))"
    );
    let mut program = read(&text);
    let values = |program: &Program| -> Vec<String> {
        INPUTS.iter().map(|inputs| value(program, inputs)).collect()
    };
    let expected = values(&program);
    apply(nova_opt::regular::run, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    program
}

/// A map of a length that gives `a + j`.
fn inner(length: &str) -> String {
    format!(
        "(let [v:[{length}]i64] (operation [{length}] [j:i64] [] (do
          (let [b:i64] (add i64 a j)) (in b)) (map)))
        (in {length} v)"
    )
}

#[test]
fn rows_of_the_length_of_another_vector() {
    let program = regular(&format!("(let [a:i64] (index x [i])) {}", inner("m")));
    assert_eq!(
        shape(&program),
        [
            "operation",
            "index",
            "add",
            "mul",
            "operation",
            "mul",
            "add",
            "reshape"
        ]
    );
}

#[test]
fn rows_of_a_number_that_may_be_negative() {
    // A row's length is never negative, since a check says so; without rows nobody checks.
    let program = regular(&format!(
        "(let [c:bool] (ge i64 k 0)) (let [] (check c negative [k]))
         (let [a:i64] (index x [i])) {}",
        inner("k")
    ));
    // Not while the check is in the way.
    assert_eq!(shape(&program)[0], "operation");
    let guarded = read(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"k\" i64)] (vector (vector i64)) \"f\")
          (function \"f\" [n:i64 x:[n]i64 k:i64] [r:i64 s:[r]i64 e:[r]i64 t:i64 d:[t]i64] (do
            (let [none:bool] (eq i64 n 0))
            (let [fine:bool] (ge i64 k 0))
            (let [c:bool] (if none (do (in true)) (do (in fine))))
            (let [] (check c negative [k]))
            (let [starts:[n]i64 ends:[n]i64 total:i64 data:[total]i64]
              (operation [n] [i:i64] [] (do
                (let [v:[k]i64] (operation [k] [j:i64] [] (do
                  (let [b:i64] (add i64 i j)) (in b)) (map)))
                (in k v)) (collect 1)))
            (in n starts ends total data))))",
    );
    let mut changed = read(&print(&guarded));
    apply(nova_opt::regular::run, &mut changed);
    assert!(
        shape(&changed).contains(&"max".to_string()),
        "{}",
        print(&changed)
    );
    for inputs in [
        ["[]", "-5"],
        ["[]", "3"],
        ["[1 2]", "3"],
        ["[1 2]", "0"],
        ["[1]", "-1"],
    ] {
        assert_eq!(
            value(&changed, &inputs),
            value(&guarded, &inputs),
            "{inputs:?}"
        );
    }
}

#[test]
fn rows_of_their_own_lengths_stay() {
    let program = regular(&format!(
        "(let [a:i64] (index x [i])) (let [l:i64] (max i64 a 0)) {}",
        inner("l")
    ));
    assert_eq!(
        shape(&program),
        ["operation", "index", "max", "operation", "add"]
    );
}

#[test]
fn what_costs_more_than_memory_is_not_repeated() {
    // The sum of y, computed for each row.
    let program = regular(&format!(
        "(let [a:i64] (operation [m] [q:i64] [] (do (let [w:i64] (index y [q])) (in w))
          (reduce_comm [0] (lambda [g:i64 h:i64] (do (let [z:i64] (add i64 g h)) (in z))))))
         {}",
        inner("m")
    ));
    assert_eq!(
        shape(&program),
        ["operation", "operation", "index", "add", "operation", "add"]
    );
}
