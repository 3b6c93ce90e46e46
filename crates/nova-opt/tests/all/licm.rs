//! Loop-invariant code motion: the statements that leave loops, and those that stay. Programs mean
//! the same afterwards. The words of the statements in order show their positions: those of a
//! loop's body follow the loop.

use crate::support::{apply, read, shape, value};
use nova_flat::ir::Program;
use nova_flat::print::print;

const INPUTS: &[[&str; 3]] = &[
    ["[]", "[]", "0"],
    ["[]", "[1 2]", "1"],
    ["[3]", "[]", "0"],
    ["[3 4]", "[5 6]", "1"],
    ["[3 4]", "[5 6]", "9"],
    ["[3 4]", "[5 6 7]", "-1"],
];

/// Runs a pass over a function of two vectors and a number, and compares the values.
#[track_caller]
fn hoisted(pass: fn(&mut Program), result: (&str, &str), body: &str) -> Program {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"y\" (vector i64)) (\"k\" i64)] {} \"f\")
          (function \"f\" [n:i64 x:[n]i64 m:i64 y:[m]i64 k:i64] [{}] (do {body})))",
        result.0, result.1
    );
    let mut program = read(&text);
    let values = |program: &Program| -> Vec<String> {
        INPUTS.iter().map(|inputs| value(program, inputs)).collect()
    };
    let expected = values(&program);
    apply(pass, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    program
}

const VECTOR: (&str, &str) = ("(vector i64)", "r0:i64 r:[r0]i64");

/// Returns the sum of y, as a statement that binds `name`.
fn sum_of_y(name: &str) -> String {
    format!(
        "(let [{name}:i64] (operation [m] [j:i64] [] (do (let [b:i64] (index y [j])) (in b))
          (reduce_comm [0] (lambda [p:i64 q:i64] (do (let [s:i64] (add i64 p q)) (in s))))))"
    )
}

#[test]
fn scalars_leave_all_loops_at_once() {
    let body = "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [e:i64] (operation [m] [j:i64] [c:i64 = 0] (do
            (let [a:i64] (mul i64 k k)) (let [b:i64] (mul i64 i a))
            (let [d:i64] (add i64 b c)) (in d))))
          (in e)) (map)))
        (in n z)";
    let program = hoisted(nova_opt::licm::run, VECTOR, body);
    assert_eq!(
        shape(&program),
        ["mul", "operation", "mul", "operation", "add"]
    );
}

#[test]
fn elements_at_an_index_of_an_enclosing_loop_leave_the_inner_loops() {
    let body = "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [e:i64] (operation [m] [j:i64] [c:i64 = 0] (do
            (let [a:i64] (index x [i])) (let [d:i64] (add i64 a c)) (in d))))
          (in e)) (map)))
        (in n z)";
    let program = hoisted(nova_opt::licm::run, VECTOR, body);
    assert_eq!(shape(&program), ["operation", "index", "operation", "add"]);
}

#[test]
fn whole_operations_leave_operations() {
    let body = format!(
        "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          {} (let [a:i64] (index x [i])) (let [d:i64] (add i64 a t)) (in d)) (map)))
        (in n z)",
        sum_of_y("t")
    );
    let program = hoisted(nova_opt::licm::run, VECTOR, &body);
    assert_eq!(
        shape(&program),
        ["operation", "index", "add", "operation", "index", "add"]
    );
    // An array that is as large as an existing one.
    let body = "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [w:[m]i64] (operation [m] [j:i64] [] (do
            (let [b:i64] (index y [j])) (let [b2:i64] (mul i64 b b)) (in b2)) (map)))
          (let [in:bool] (lt i64 i m))
          (let [a:i64] (if in (do (let [a1:i64] (index w [i])) (in a1)) (do (in 0)))) (in a)) (map)))
        (in n z)";
    let program = hoisted(nova_opt::licm::run, VECTOR, body);
    assert_eq!(
        shape(&program)[..4],
        ["operation", "index", "mul", "operation"]
    );
}

#[test]
fn joined_vectors_leave_loops_with_their_literals() {
    let body = "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [one:[1]i64] (literal i64 [k]))
          (let [l:i64] (add i64 1 m))
          (let [all:[l]i64] (concat l [one y]))
          (let [a:i64] (index all [0]))
          (let [two:[1]i64] (literal i64 [a]))
          (let [b:i64] (index two [0]))
          (in b)) (map)))
        (in n z)";
    let program = hoisted(nova_opt::licm::run, VECTOR, body);
    let text = print(&program);
    let (before, inside) = text.split_once("(operation").unwrap();
    assert!(
        before.contains("(concat") && before.contains("(literal"),
        "{text}"
    );
    assert!(
        !inside.contains("(concat") && inside.contains("(literal"),
        "{text}"
    );
}

#[test]
fn operations_stay_in_loops_that_may_have_no_iterations_and_in_branches() {
    let body = format!(
        "(let [v:i64] (while [v1:i64 = k] (do (let [c:bool] (lt i64 v1 0)) (in c))
          (do {} (let [d:i64] (mul i64 t 0)) (in d))))
        (in v)",
        sum_of_y("t")
    );
    let program = hoisted(nova_opt::licm::run, ("i64", "r:i64"), &body);
    assert_eq!(shape(&program)[..3], ["while", "lt", "operation"]);
    let body = format!(
        "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [c:bool] (lt i64 i k))
          (let [d:i64] (if c (do {} (in t)) (do (in 0)))) (in d)) (map)))
        (in n z)",
        sum_of_y("t")
    );
    let program = hoisted(nova_opt::licm::run, VECTOR, &body);
    assert_eq!(shape(&program)[..4], ["operation", "lt", "if", "operation"]);
}

#[test]
fn a_huge_array_is_not_made_for_no_iterations() {
    let body = "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [w:[k]i64] (operation [k] [j:i64] [] (do (let [b:i64] (mul i64 j j)) (in b)) (map)))
          (let [a:i64] (operation [k] [l:i64] [c:i64 = 0] (do
            (let [e:i64] (index w [l])) (let [d:i64] (sub i64 e c)) (in d)))) (in a)) (map)))
        (in n z)";
    let body = format!("(let [c0:bool] (ge i64 k 0)) (let [] (check c0 negative [k])) {body}");
    let program = hoisted(nova_opt::licm::run, VECTOR, &body);
    assert_eq!(shape(&program)[2..4], ["operation", "operation"]);
}

/// Returns `z = x + y[k]`, where y\[k\] is checked in each iteration, after other code.
fn checked(before: &str) -> String {
    format!(
        "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          {before}
          (let [c1:u64] (wrap.u64 i64 k)) (let [c2:u64] (wrap.u64 i64 m)) (let [c:bool] (lt u64 c1 c2))
          (let [] (check c index [k m])) (let [a:i64] (index x [i])) (let [b:i64] (index y [k]))
          (let [d:i64] (add i64 a b)) (in d)) (map)))
        (in n z)"
    )
}

#[test]
fn checks_that_do_not_vary_are_made_once_unless_there_are_no_iterations() {
    let program = hoisted(nova_opt::licm::run_checks, VECTOR, &checked(""));
    let expected = [
        "wrap.u64",
        "wrap.u64",
        "lt",
        "eq",
        "if",
        "check",
        "if",
        "index",
        "operation",
        "index",
        "add",
    ];
    assert_eq!(shape(&program), expected);
    assert_eq!(value(&program, &["[]", "[]", "7"]), "[]");
    assert_eq!(value(&program, &["[1]", "[]", "7"]), "index");
}

#[test]
fn checks_stay_after_side_effects() {
    let before = "(let [] (trace \"i\" i64 [i]))";
    let program = hoisted(nova_opt::licm::run_checks, VECTOR, &checked(before));
    let words = shape(&program);
    let place = |word: &str| words.iter().rposition(|w| w == word);
    assert!(place("check") > place("operation"), "{words:?}");
}

#[test]
fn checks_pass_others_but_what_they_make_defined_stays() {
    // In the first iteration either check may refuse, and both do so with the same error.
    let before =
        "(let [e:i64] (index x [i])) (let [g:bool] (ne i64 e 3)) (let [] (check g index [e 3]))";
    let program = hoisted(nova_opt::licm::run_checks, VECTOR, &checked(before));
    let words = shape(&program);
    let places = |word: &str| -> Vec<usize> {
        let places = words.iter().enumerate();
        places.filter(|(_, w)| *w == word).map(|(k, _)| k).collect()
    };
    let operation = places("operation")[0];
    assert_eq!(
        places("check").iter().filter(|k| **k < operation).count(),
        1
    );
    assert!(places("index").iter().all(|k| *k > operation), "{words:?}");
}

#[test]
fn checks_leave_nested_loops_where_all_have_iterations() {
    let body = "(let [z:[n]i64] (operation [n] [i:i64] [] (do
          (let [e:i64] (operation [m] [j:i64] [c0:i64 = 0] (do
            (let [c:bool] (lt i64 k 5)) (let [] (check c index [k 5]))
            (let [d:i64] (add i64 c0 1)) (in d))))
          (in e)) (map)))
        (in n z)";
    let program = hoisted(nova_opt::licm::run_checks, VECTOR, body);
    let words = shape(&program);
    let expected = [
        "lt",
        "eq",
        "eq",
        "if",
        "if",
        "check",
        "operation",
        "operation",
        "add",
    ];
    assert_eq!(words, expected, "{}", print(&program));
    for (x, y, expected) in [
        ("[1]", "[]", "[0]"),
        ("[]", "[1]", "[]"),
        ("[1]", "[1]", "index"),
    ] {
        assert_eq!(value(&program, &[x, y, "9"]), expected);
    }
}

#[test]
fn conversions_leave_loops_after_the_check_that_they_fit() {
    let loop_of = |check: &str| {
        format!(
            "(let [f:bool] (fits.i32 i64 m)) {check}
             (let [z:[n]i64] (operation [n] [i:i64] [] (do
               (let [c:bool] (fits.i32 i64 m))
               (let [] (check c overflow [m]))
               (let [a:i32] (convert.i32 i64 m)) (let [b:i64] (convert.i64 i32 a))
               (in b)) (map)))
             (in n z)"
        )
    };
    let outside = hoisted(
        nova_opt::licm::run,
        VECTOR,
        &loop_of("(let [] (check f overflow [m]))"),
    );
    assert_eq!(
        shape(&outside),
        [
            "fits.i32",
            "check",
            "fits.i32",
            "convert.i32",
            "convert.i64",
            "operation",
            "check"
        ]
    );
    // A check that only a branch reaches, or the loop itself, establishes nothing outside.
    for check in [
        "",
        "(let [] (if f (do (let [] (check f overflow [m])) (in)) (do (in))))",
    ] {
        let inside = hoisted(nova_opt::licm::run, VECTOR, &loop_of(check));
        let words = shape(&inside);
        let (operation, convert) = (
            words.iter().position(|word| word == "operation"),
            words.iter().position(|word| word == "convert.i32"),
        );
        assert!(operation < convert, "{words:?}");
    }
}
