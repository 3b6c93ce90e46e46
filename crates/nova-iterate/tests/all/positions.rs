//! Maps over positions of a matrix in a vector, and short loops inside of others.

use crate::support::{apply, read, value};
use nova_flat::ir::{Expression, Program};
use nova_flat::print::print;
use nova_flat::visit::each_statement;
use nova_iterate::{delinearise, unroll};
use nova_plan::Plan;

/// Returns a program of a number `m` and a vector `x` with these statements, which make the vector `y` of as many
/// elements.
fn program(body: &str) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"m\" i64) (\"x\" (vector i64))] (vector i64) \"f\")
          (function \"f\" [m:i64 n:i64 x:[n]i64] [l:i64 r:[l]i64] (do {body} (in n y))))"
    ))
}

/// Applies a pass, and compares the values for several numbers and lengths. Returns the extents of all operations.
#[track_caller]
fn after(pass: fn(&mut Program), body: &str) -> Vec<usize> {
    let mut program = program(body);
    let values = |program: &Program| {
        let mut values = Vec::new();
        for n in [0, 1, 2, 5, 6, 12] {
            let elements: Vec<String> = (0..n).map(|k| ((k * 37) % 19).to_string()).collect();
            let vector = format!("[{}]", elements.join(" "));
            for m in ["-1", "0", "1", "2", "3", "6", "7"] {
                values.push(value(program, &[m, &vector]));
            }
        }
        values
    };
    let expected = values(&program);
    apply(pass, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    let mut found = Vec::new();
    each_statement(&program.functions[0].body, &mut |statement| {
        if let Expression::Operation(operation) = &statement.expression {
            found.push(operation.shape.len());
        }
    });
    found
}

fn with_rows(program: &mut Program) {
    delinearise::run(program, &Plan::default());
}

fn unrolled(program: &mut Program) {
    unroll::run(program, true);
}

/// Statements that divide the index by `m`.
const DIVISIONS: &str = "(let [c:bool] (ne i64 m 0)) (let [] (check c division []))
    (let [i:i64] (div i64 k m)) (let [j:i64] (rem i64 k m))";

/// A read of the element at `p`, with its check.
const READ: &str = "(let [q:u64] (wrap.u64 i64 p)) (let [s:u64] (convert.u64 i64 n))
    (let [t:bool] (lt u64 q s)) (let [] (check t index [p n])) (let [v:i64] (index x [p]))";

#[test]
fn maps_over_positions_get_rows_and_columns() {
    let body = format!(
        "(let [y:[n]i64] (operation [n] [k:i64] [] (do {DIVISIONS}
           (let [e:i64] (mul i64 m i)) (let [p:i64] (add i64 e j)) {READ}
           (let [z:i64] (add i64 v i)) (in z)) (map)))"
    );
    assert_eq!(after(with_rows, &body), [2, 1]);
}

#[test]
fn positions_that_are_out_of_range_stay_errors() {
    let body = format!(
        "(let [y:[n]i64] (operation [n] [k:i64] [] (do {DIVISIONS}
           (let [e:i64] (mul i64 m j)) (let [p:i64] (add i64 e 1)) {READ}
           (let [z:i64] (add i64 v i)) (in z)) (map)))"
    );
    assert_eq!(after(with_rows, &body), [2, 1]);
}

#[test]
fn states_that_are_read_by_rows_become_matrices() {
    let body = format!(
        "(let [y:[n]i64] (operation [3] [step:i64] [w:[n]i64 = x] (do
           (let [a:[n]i64] (operation [n] [k:i64] [] (do {DIVISIONS}
             (let [b:bool] (lt i64 k m))
             (let [p:i64] (if b (do (in k)) (do (let [h:i64] (sub i64 k m)) (in h))))
             (let [q:u64] (wrap.u64 i64 p)) (let [s:u64] (convert.u64 i64 n))
             (let [t:bool] (lt u64 q s)) (let [] (check t index [p n])) (let [v:i64] (index w [p]))
             (let [z:i64] (add i64 v j)) (in z)) (map)))
           (in a))))"
    );
    assert_eq!(after(with_rows, &body), [1, 2, 1, 1]);
    let mut program = program(&body);
    apply(with_rows, &mut program);
    assert!(print(&program).contains("(index w_"), "{}", print(&program));
}

#[test]
fn rows_of_blocks_get_three_dimensions() {
    let body = format!(
        "(let [y:[n]i64] (operation [n] [k:i64] [] (do {DIVISIONS}
           (let [a:i64] (div i64 i m)) (let [b:i64] (rem i64 i m))
           (let [g:i64] (mul i64 a 100)) (let [h:i64] (mul i64 b 10))
           (let [p:i64] (add i64 g h)) (let [z:i64] (add i64 p j)) (in z)) (map)))"
    );
    assert_eq!(after(with_rows, &body), [3, 1]);
}

#[test]
fn reductions_over_literals_become_straight_line_code() {
    let body = "(let [y:[n]i64] (operation [n] [k:i64] [] (do
          (let [o:[3]i64] (literal i64 [2 5 7]))
          (let [z:i64] (operation [3] [d:i64] [] (do
            (let [e:i64] (index o [d])) (let [f:i64] (mul i64 e k)) (in f))
            (reduce_comm [1] (lambda [a:i64 b:i64] (do (let [c:i64] (add i64 a b)) (in c))))))
          (in z)) (map)))";
    assert_eq!(after(unrolled, body), [1]);
}

#[test]
fn loops_whose_iterations_do_not_differ_stay() {
    let body = "(let [y:[n]i64] (operation [n] [k:i64] [] (do
          (let [z:i64] (operation [5] [d:i64] [] (do (let [f:i64] (mul i64 d k)) (in f))
            (reduce_comm [1] (lambda [a:i64 b:i64] (do (let [c:i64] (add i64 a b)) (in c))))))
          (in z)) (map)))";
    assert_eq!(after(unrolled, body), [1, 1]);
}
