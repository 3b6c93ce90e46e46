//! Sorts that only tell the first one of equal elements, and sorts that tell more.

use crate::support::{apply, read, value};
use nova_flat::ir::Program;
use nova_flat::print::print;
use nova_machine::Machine;

/// Returns a program that sorts a vector by a comparison of `u` and `w`. It marks elements by a comparison with
/// the one before each in sorted order, and stores the mark at a position.
fn program(compare: &str, neighbours: &str, position: &str) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"x\" (vector i64))] (vector bool) \"f\")
          (function \"f\" [n:i64 x:[n]i64] [r0:i64 r:[r0]bool] (do
            (let [p:[n]i64] (sort n (lambda [a:i64 b:i64] (do
              (let [u:i64] (index x [a])) (let [w:i64] (index x [b]))
              (let [c:bool] ({compare} i64 u w)) (in c)))))
            (let [d:[n]bool] (replicate [n] false))
            (let [s:[n]bool] (operation [n] [k:i64] [] (do
              (let [at:i64] (index p [k]))
              (let [none:bool] (lt i64 k 1))
              (let [new:bool] (if none (do (in true)) (do
                (let [own:i64] (index x [at])) (let [q:i64] (sub i64 k 1))
                (let [before:i64] (index p [q])) (let [other:i64] (index x [before]))
                (let [differ:bool] ({neighbours} i64 own other)) (in differ))))
              (in {position} new)) (scatter [d])))
            (in n s))))"
    ))
}

/// Returns whether a table replaces the sort where the range is small. The values stay the same.
fn has_table(compare: &str, neighbours: &str, position: &str) -> bool {
    let inputs = [
        "[]",
        "[3]",
        "[2 -1 2 2 -1 0]",
        "[9223372036854775807 -9223372036854775808 9223372036854775807]",
    ];
    let mut program = program(compare, neighbours, position);
    let values = |program: &Program| inputs.map(|input| value(program, &[input]));
    let expected = values(&program);
    let run: fn(&mut Program) =
        |program| nova_schedule::sort_keys::run(program, 2, Machine::Processor);
    apply(run, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    print(&program).contains("(update ")
}

#[test]
fn tables_find_first_ones() {
    for neighbours in ["ne", "gt"] {
        assert!(has_table("le", neighbours, "at"), "{neighbours}");
    }
    for neighbours in ["ne", "lt"] {
        assert!(has_table("ge", neighbours, "at"), "{neighbours}");
    }
}

#[test]
fn sorts_that_tell_more_stay() {
    // Of equal elements the last one stands first.
    assert!(!has_table("lt", "ne", "at"));
    // Marks that only the least element has, that all have, and those of equal ones.
    for neighbours in ["lt", "ge", "eq"] {
        assert!(!has_table("le", neighbours, "at"), "{neighbours}");
    }
    // Marks in sorted order.
    assert!(!has_table("le", "ne", "k"));
}
