//! Scatters to neighbours become blocks of the values whose index is in range. Other scatters stay.

use crate::support::{apply, read, value};
use nova_flat::print::print;

/// The index of the first value: before the array, at its ends, in it, after it, at the ends of
/// `i64`.
const STARTS: [&str; 13] = [
    "0",
    "1",
    "-1",
    "-2",
    "-3",
    "-4",
    "2",
    "4",
    "5",
    "6",
    "1000",
    "-9223372036854775808",
    "9223372036854775807",
];

/// Runs the pass over a scatter of the elements of `y` into `x`. Its body begins with these
/// statements and gives this index. Compares the values for all starts. Returns true if it has
/// become a block.
#[track_caller]
fn becomes_block(statements: &str, index: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"y\" (vector i64)) (\"a\" i64)] (vector i64) \"f\")
          (function \"f\" [n:i64 x:[n]i64 m:i64 y:[m]i64 a:i64] [r:i64 d:[r]i64] (do
            (let [out:[n]i64] (operation [m] [k:i64] [] (do
              {statements}
              (let [v:i64] (index y [k]))
              (in {index} v)) (scatter [x])))
            (in n out))))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::blocks::run, &mut program);
    for x in ["[]", "[1]", "[1 2 3 4 5]"] {
        for y in ["[]", "[7]", "[7 8 9]", "[7 8 9 10 11 12 13 14]"] {
            for a in STARTS {
                let inputs = [x, y, a];
                assert_eq!(
                    value(&program, &inputs),
                    value(&before, &inputs),
                    "{inputs:?}\n{}",
                    print(&program)
                );
            }
        }
    }
    print(&program).contains("(scatter_block ")
}

#[test]
fn sums_of_the_index_and_what_is_known() {
    assert!(becomes_block("", "k"));
    assert!(becomes_block("(let [p:i64] (add i64 a k))", "p"));
    assert!(becomes_block("(let [p:i64] (add i64 k a))", "p"));
    assert!(becomes_block("(let [p:i64] (sub i64 k a))", "p"));
    assert!(becomes_block(
        "(let [q:i64] (add i64 k a)) (let [p:i64] (sub i64 q 3))",
        "p"
    ));
    assert!(becomes_block(
        "(let [q:i64] (sub i64 k a)) (let [p:i64] (add i64 n q))",
        "p"
    ));
}

#[test]
fn other_indices_stay() {
    assert!(!becomes_block("(let [p:i64] (sub i64 a k))", "p"));
    assert!(!becomes_block("(let [p:i64] (mul i64 a k))", "p"));
    assert!(!becomes_block("(let [p:i64] (add i64 k k))", "p"));
    assert!(!becomes_block(
        "(let [q:i64] (index y [k])) (let [p:i64] (add i64 q k))",
        "p"
    ));
    assert!(!becomes_block("(let [p:i64] (min i64 a k))", "p"));
    assert!(!becomes_block("", "a"));
}

#[test]
fn what_may_fail_is_computed_for_all_values() {
    let check =
        "(let [c:bool] (lt i64 k 6)) (let [] (check c index [k m])) (let [p:i64] (add i64 a k))";
    assert!(!becomes_block(check, "p"));
}
