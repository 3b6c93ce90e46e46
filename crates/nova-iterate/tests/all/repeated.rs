//! Loops that take several steps at once, and loops that repeat gathers.

use crate::support::{apply, read, value};
use nova_flat::ir::{Expression, Program};
use nova_flat::print::print;
use nova_flat::visit::each_statement;
use nova_iterate::{gather_tables, temporal_blocking};
use nova_plan::Plan;

/// Returns a program of a vector `x` with these statements, which make the vector `y` of as many elements.
fn program(body: &str) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"x\" (vector i64))] (vector i64) \"f\")
          (function \"f\" [n:i64 x:[n]i64] [m:i64 r:[m]i64] (do {body} (in n y))))"
    ))
}

fn blocking(program: &mut Program) {
    temporal_blocking::run(program, &Plan::default());
}

fn tables(program: &mut Program) {
    gather_tables::run(program, &Plan::default());
}

/// Applies a pass, and compares the values for vectors of several lengths. Returns the number of operations and of
/// conditionals.
#[track_caller]
pub(crate) fn after(pass: fn(&mut Program), body: &str) -> (usize, usize) {
    let mut program = program(body);
    let values = |program: &Program| {
        let vector = |n: i64| {
            (0..n)
                .map(|k| ((k * 37) % 19 % 4).to_string())
                .collect::<Vec<_>>()
        };
        let lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9];
        lengths.map(|n| value(program, &[&format!("[{}]", vector(n).join(" "))]))
    };
    let expected = values(&program);
    apply(pass, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    let mut found = (0, 0);
    each_statement(
        &program.functions[0].body,
        &mut |statement| match statement.expression {
            Expression::Operation(_) => found.0 += 1,
            Expression::If { .. } => found.1 += 1,
            _ => {}
        },
    );
    found
}

/// A matrix, steps that compute its elements from `read` as well, and the sums of its rows.
fn steps(read: &str) -> String {
    format!(
        "(let [start:[n][3]i64] (operation [n 3] [a:i64 b:i64] [] (do
           (let [s:i64] (index x [a])) (let [t:i64] (mul i64 s b)) (in t)) (map)))
         (let [last:[n][3]i64] (operation [n] [k:i64] [D:[n][3]i64 = start] (do
           (let [next:[n][3]i64] (operation [n 3] [i:i64 j:i64] [] (do
             (let [own:i64] (index D [i j])) {read}
             (let [twice:i64] (mul i64 own 2)) (let [u:i64] (sub i64 twice other)) (in u)) (map)))
           (in next))))
         (let [y:[n]i64] (operation [n] [p:i64] [] (do
           (let [c:i64] (index last [p 1])) (let [d:i64] (index last [p 2]))
           (let [e:i64] (mul i64 c d)) (in e)) (map)))"
    )
}

#[test]
fn steps_that_read_a_row_are_taken_four_at_a_time() {
    let row = "(let [other:i64] (index D [k j]))";
    // A slice for each of four steps, the pass over the matrix, and the loop; a slice, a pass and a loop for the
    // steps that are left; the first matrix and the sums.
    assert_eq!(after(blocking, &steps(row)), (6 + 3 + 2, 0));
}

#[test]
fn rows_that_only_some_elements_read_exist_in_every_step() {
    let guarded = |index: &str| {
        format!(
            "(let [odd:i64] (and i64 i 1)) (let [is:bool] (eq i64 odd 1))
             (let [other:i64] (if is (do (let [v:i64] (index D [{index} j])) (in v)) (do (in 5))))"
        )
    };
    assert_eq!(after(blocking, &steps(&guarded("k"))).0, 11);
    // Nothing says that there is a second row.
    assert_eq!(after(blocking, &steps(&guarded("1"))).0, 4);
}

#[test]
fn other_elements_than_slices_are_left() {
    let mirrored = "(let [up:i64] (sub i64 n i)) (let [at:i64] (sub i64 up 1))
        (let [other:i64] (index D [at j]))";
    assert_eq!(after(blocking, &steps(mirrored)).0, 4);
}

/// Steps that change a vector after their own element, where the part ends `before` elements before the end.
fn trailing(before: &str) -> String {
    format!(
        "(let [y:[n]i64] (operation [n] [k:i64] [z:[n]i64 = x] (do
           (let [start:i64] (add i64 k 1)) (let [rest:i64] (sub i64 n start))
           (let [some:i64] (sub i64 rest {before})) (let [extent:i64] (max i64 some 0))
           (let [left:i64] {left}) (let [pivot:i64] (index z [k]))
           (let [next:[n]i64] (operation [left] [i:i64] [] (do
             (let [at:i64] (add i64 start i)) (let [own:i64] (index z [at]))
             (let [p:i64] (mul i64 pivot 3)) (let [u:i64] (sub i64 own p)) (in u))
             (scatter_block [start] [z])))
           (in next))))",
        left = match before {
            "0" => "(atom some)",
            _ => "(atom extent)",
        }
    )
}

#[test]
fn steps_of_a_trailing_part_are_taken_four_at_a_time() {
    // The loop, a strip whose elements not all steps change, and the part that all change; a loop and a part for the
    // steps that are left.
    assert_eq!(after(blocking, &trailing("0")), (3 + 2, 3));
    assert_eq!(after(blocking, &trailing("1")), (2, 0));
}

/// A loop whose iterations read a matrix at an element of `x` and at those of `x` that `position` gives.
fn gathers(rows: &str, position: &str) -> String {
    format!(
        "(let [m0:[{rows}][4]i64] (operation [{rows} 4] [a:i64 b:i64] [] (do
           (let [s:i64] (mul i64 a 7)) (let [t:i64] (sub i64 s b)) (in t)) (map)))
         (let [zeros:[n]i64] (replicate [n] 0))
         (let [y:[n]i64] (operation [n] [k:i64] [z:[n]i64 = zeros] (do
           (let [next:[n]i64] (operation [n] [j:i64] [] (do
             (let [own:i64] (index z [j])) {position} (let [column:i64] (index x [at]))
             (let [row:i64] (index x [k]))
             (let [fits:bool] (lt i64 row {rows})) (let [] (check fits index [row {rows}]))
             (let [other:i64] (index m0 [row column]))
             (let [twice:i64] (mul i64 own 2)) (let [u:i64] (add i64 twice other)) (in u)) (map)))
           (in next))))"
    )
}

#[test]
fn gathers_that_iterations_repeat_are_a_table() {
    let forwards = "(let [at:i64] (atom j))";
    let backwards = "(let [up:i64] (sub i64 n j)) (let [at:i64] (sub i64 up 1))";
    for position in [forwards, backwards] {
        // The matrix; the check of the vector, the table and the loop with its operation; the loop as it was.
        let made = after(tables, &gathers("4", position));
        assert_eq!(made, (1 + 4 + 2, 2), "{position}");
        // Elements of `x` may be out of range.
        let made = after(tables, &gathers("3", position));
        assert_eq!(made, (1 + 4 + 2, 2), "{position}");
    }
}

#[test]
fn vectors_may_be_read_elsewhere_in_each_iteration() {
    let shifted = "(let [sum:i64] (add i64 j k)) (let [at:i64] (rem i64 sum n))";
    assert_eq!(after(tables, &gathers("4", shifted)), (7, 2));
}

#[test]
fn gathers_by_a_state_are_left() {
    let body = gathers("4", "(let [at:i64] (atom j))");
    let body = body.replace("(index x [at])", "(and i64 own 3)");
    assert_eq!(after(tables, &body), (3, 0));
}
