//! Tables from which `TableShrink` leaves nodes out: which nodes stay, and their new numbers.

use nova_core::interpret::Options;
use nova_core::text::{print_value, read_value};
use nova_diag::SourceMap;
use nova_flat::interpret::evaluate;

/// Shrinks the table of a list, whose nodes are given by tag, value and link.
const PROGRAM: &str = "(program
    (sum \"List\" [i32] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (sum 0))))
    (sum \"List*\" [i32 i32] [] (node_of 0) (\"Nil*\" unit) (\"Cons*\" (tuple i32 i32)))
    (entry \"f\" [(\"V\" (vector (tuple u8 i32 i32)))] (vector (tuple u8 i32 i32)) \"f\")
    (function \"f\" [c:i64 t:[c]u8 v:[c]i32 l:[c]i32] [n:i64 x:[n]u8 y:[n]i32 z:[n]i32] (do
      (let [d:i64 a:[d]u8 e:[d]i32 h:[d]i32] (shrink [[0 1]] [c t v l]))
      (in d a e h))))";

/// Returns the table that is left, after the expansion to operations.
fn shrunk(table: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("shrink.flat", PROGRAM);
    let mut program = nova_flat::parse::parse(PROGRAM, file).expect("a program of Flat");
    nova_lower::expand_tables(&mut program).expect("operations for the tables");
    nova_flat::verify::verify(&program).expect("a valid program");
    let entry = &program.entries[0];
    let input = read_value(table, &entry.inputs[0].1, &program.sums).expect("a value");
    let value = evaluate(&program, 0, &[input], &Options::default()).expect("no error");
    print_value(&value, &entry.result, &program.sums)
}

#[test]
fn nodes_that_the_root_does_not_reach_go() {
    // Each node skips the next one. Those that are skipped link to each other.
    let chain = "[(1, 10, 2) (1, 11, 3) (1, 12, 4) (1, 13, 5) (1, 14, 6) (1, 15, 7) (1, 16, 8)
        (1, 17, 8) (0, 0, 0)]";
    assert_eq!(
        shrunk(chain),
        "[(1, 10, 1) (1, 12, 2) (1, 14, 3) (1, 16, 4) (0, 0, 0)]"
    );
}

#[test]
fn nodes_that_falling_links_name_stay() {
    let table = "[(1, 10, 3) (0, 0, 0) (1, 12, 1) (1, 13, 1) (1, 14, 2) (1, 15, 2) (1, 16, 2)
        (1, 17, 2)]";
    assert_eq!(
        shrunk(table),
        "[(1, 10, 3) (0, 0, 0) (1, 12, 1) (1, 13, 1)]"
    );
}

#[test]
fn tables_that_lose_little_stay_as_they_are() {
    for table in [
        "[(0, 0, 0)]",
        "[(1, 10, 1) (1, 11, 2) (1, 12, 3) (0, 0, 0)]",
        "[(1, 10, 2) (1, 11, 2) (1, 12, 3) (0, 0, 0)]",
    ] {
        assert_eq!(shrunk(table), table);
    }
}
