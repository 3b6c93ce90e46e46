//! Short rows that are reduced together, with results that are combined from left to right.

use crate::support::{apply, read, value};
use nova_flat::ir::Program;
use nova_flat::print::print;

/// Returns a program that gives the first place of a vector whose number is the nearest to the first three, by a
/// reduction that commutes or not.
fn nearest(reduce: &str) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"x\" (vector f64))] i64 \"f\")
          (function \"f\" [n:i64 x:[n]f64] [place:i64] (do
            (let [w:i64] (min i64 n 3))
            (let [v:f64 at:i64] (operation [n] [c:i64] [] (do
              (let [d:f64] (operation [w] [j:i64] [] (do
                (let [a:f64] (index x [c])) (let [b:f64] (index x [j]))
                (let [e:f64] (sub f64 a b)) (let [q:f64] (mul f64 e e)) (in q))
                (reduce_comm [0.0L] (lambda [s:f64 t:f64] (do
                  (let [u:f64] (add f64 s t)) (in u))))))
              (in d c))
              ({reduce} [100.0L -1] (lambda [p0:f64 p1:i64 q0:f64 q1:i64] (do
                (let [less:bool] (lt f64 q0 p0))
                (let [r0:f64 r1:i64] (if less (do (in q0 q1)) (do (in p0 p1))))
                (in r0 r1))))))
            (in at))))"
    ))
}

/// Returns whether rows are grouped. The values stay the same.
fn are_grouped(reduce: &str, run: fn(&mut Program)) -> bool {
    let mut program = nearest(reduce);
    let numbers = [
        "9.0", "1.0", "5.0", "4.0", "7.0", "5.0", "4.5", "5.0", "8.0",
    ];
    let values = |program: &Program| -> Vec<String> {
        let counts = 0..=numbers.len();
        counts
            .map(|count| value(program, &[&format!("[{}]", numbers[..count].join(" "))]))
            .collect()
    };
    let expected = values(&program);
    apply(run, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    print(&program).contains("groups")
}

#[test]
fn folds_take_rows_in_groups() {
    let freely: fn(&mut Program) = |program| nova_schedule::together::run(program, false);
    let strictly: fn(&mut Program) = |program| nova_schedule::together::run(program, true);
    assert!(are_grouped("reduce", freely));
    // In the strict order, and in lanes, results are not combined from left to right.
    assert!(!are_grouped("reduce", strictly));
    assert!(!are_grouped("reduce_comm", freely));
}
