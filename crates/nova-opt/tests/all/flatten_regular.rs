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

/// Runs the pass over a map with this body, of two vectors and a number, and compares the values.
#[track_caller]
fn flattened(body: &str) -> Program {
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
    apply(nova_opt::flatten_regular::run, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    program
}

/// Returns a map of a length that gives `a + j`.
fn inner(length: &str) -> String {
    format!(
        "(let [v:[{length}]i64] (operation [{length}] [j:i64] [] (do
          (let [b:i64] (add i64 a j)) (in b)) (map)))
        (in {length} v)"
    )
}

#[test]
fn rows_of_the_length_of_another_vector() {
    let program = flattened(&format!("(let [a:i64] (index x [i])) {}", inner("m")));
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
    // A row's length is never negative, because a check says so. Without rows, nothing checks it.
    let program = flattened(&format!(
        "(let [c:bool] (ge i64 k 0)) (let [] (check c negative [k]))
         (let [a:i64] (index x [i])) {}",
        inner("k")
    ));
    // While the check prevents the flattening, rows stay rows, but are joined at their final place.
    assert!(print(&program).contains("(join"), "{}", print(&program));
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
    apply(nova_opt::flatten_regular::run, &mut changed);
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
    let program = flattened(&format!(
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
    // The sum of y is computed once for each row, which is made at its final place.
    let program = flattened(&format!(
        "(let [a:i64] (operation [m] [q:i64] [] (do (let [w:i64] (index y [q])) (in w))
          (reduce_comm [0] (lambda [g:i64 h:i64] (do (let [z:i64] (add i64 g h)) (in z))))))
         {}",
        inner("m")
    ));
    assert_eq!(
        shape(&program)[10..],
        [
            "operation",
            "mul",
            "operation",
            "index",
            "add",
            "operation",
            "add"
        ],
        "{}",
        print(&program)
    );
    assert!(print(&program).contains("(join"), "{}", print(&program));
}

/// Returns rows of numbers that `what` makes, of this length.
fn rows_by(what: &str, length: &str) -> String {
    format!("(let [a:i64] (index x [i])) {what} (in {length} v)")
}

#[test]
fn rows_of_one_length_are_joined_whatever_makes_them() {
    let running = "(let [v:[m]i64] (operation [m] [j:i64] [] (do
        (let [b:i64] (index y [j])) (in b))
        (scan [a] (lambda [g:i64 h:i64] (do (let [z:i64] (add i64 g h)) (in z))))))";
    let concatenated = "(let [l:[2]i64] (literal i64 [a i])) (let [c:i64] (add i64 2 m))
        (let [v:[c]i64] (concat c [l y]))";
    let rows = [
        (running, "m"),
        (concatenated, "c"),
        ("(let [v:[3]i64] (literal i64 [a i a]))", "3"),
        ("(let [v:[m]i64] (copy y))", "m"),
        ("(let [v:[m]i64] (replicate [m] a))", "m"),
        (
            "(let [v:[m]i64] (operation [3] [j:i64] [w:[m]i64 = y] (do
                (let [u:[m]i64] (operation [m] [q:i64] [] (do
                    (let [p:i64] (index w [q])) (let [f:i64] (add i64 p a)) (in f)) (map)))
                (in u))))",
            "m",
        ),
        ("(let [v:[0]i64] (literal i64 []))", "0"),
    ];
    for (what, length) in rows {
        let program = flattened(&rows_by(what, length));
        let text = print(&program);
        assert!(
            text.contains("(join") && !text.contains("(collect"),
            "{text}"
        );
    }
}

#[test]
fn rows_of_rows_are_joined_from_the_inside() {
    let program = flattened(&rows_by(
        "(let [ss:[m]i64 es:[m]i64 v_total:i64 v:[v_total]i64] (operation [m] [j:i64] [] (do
            (let [w:[2]i64] (literal i64 [a j])) (in 2 w)) (collect 1)))",
        "v_total",
    ));
    let text = print(&program);
    assert_eq!(
        (
            text.matches("(join").count(),
            text.matches("(collect").count()
        ),
        (2, 0),
        "{text}"
    );
}

#[test]
fn more_rows_than_memory_has_are_an_error_before_any_is_made() {
    for (rows, length) in [
        ("k", "4611686018427387904"),
        ("4611686018427387904", "k"),
        ("k", "k"),
    ] {
        let mut program = read(&format!(
            "(program (entry \"f\" [(\"k\" i64)] i64 \"f\")
              (function \"f\" [k:i64] [r:i64] (do
                (let [starts:[{rows}]i64 ends:[{rows}]i64 total:i64 data:[total]i64]
                  (operation [{rows}] [i:i64] [] (do
                    (let [v:[{length}]i64] (replicate [{length}] i))
                    (in {length} v)) (collect 1)))
                (in total))))"
        ));
        apply(nova_opt::flatten_regular::run, &mut program);
        let given = value(&program, &["4611686018427387904"]);
        assert!(given.contains("memory"), "{given}");
        // As many starts are too many, too.
        let none = if rows == "k" { "0" } else { "memory" };
        assert_eq!(value(&program, &["0"]), none);
    }
}
