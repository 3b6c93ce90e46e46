//! Tests of grids in the interpreter: any order of their iterations gives the same, unless iterations depend
//! on each other, which is found.

use nova_core::interpret::Options;
use nova_core::{Elements, Value};
use nova_diag::SourceMap;
use nova_loop::Failure;
use nova_loop::interpret::{GridOrder, evaluate, evaluate_grids};
use std::sync::Arc;

const ORDERS: [GridOrder; 4] = [
    GridOrder::Rising,
    GridOrder::Falling,
    GridOrder::Shuffled(1),
    GridOrder::Shuffled(77),
];

/// Runs `body` at the level of a grid for seven values of `i`: in sequential order, and in all other orders
/// with accesses watched. The body may use `x`, and `t`, eight zeros, which is the result.
fn outcomes(body: &str) -> Vec<Result<Vec<i64>, String>> {
    let text = format!(
        "(program nodes_by_threads
          (sum \"List\" [] [0] (\"Nil\" unit) (\"Cons\" (tuple i64 (sum 0))))
          (function \"f\" [n:i64 x:(pointer i64) xb:block]
            [m:i64 t:(pointer i64) tb:block]
            (set m 8)
            (allocate tb t i64 8)
            (for k 8 sequential (store t k 0))
            (for i 7 grid {body}))
          (entry \"f\" [(\"x\" (vector i64))] (vector i64) \"f\"))"
    );
    let mut sources = SourceMap::new();
    let file = sources.add("grids", &*text);
    let program = nova_loop::parse::parse(&text, file);
    let program = program.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let inputs = [Value::Vector(Elements::I64(Arc::new((10..20).collect())))];
    let options = Options::default();
    let plain = evaluate(&program, 0, &inputs, &options);
    let watched = ORDERS.map(|order| evaluate_grids(&program, 0, &inputs, &options, order));
    let text = |outcome| match outcome {
        Ok(Value::Vector(Elements::I64(values))) => Ok(values.to_vec()),
        Ok(other) => panic!("{other:?}"),
        Err(Failure::Internal(error)) => Err(error.to_string()),
        Err(Failure::Runtime(error)) => panic!("{error}"),
    };
    [plain].into_iter().chain(watched).map(text).collect()
}

#[track_caller]
fn is_fine(body: &str, expected: [i64; 8]) {
    for outcome in outcomes(body) {
        assert_eq!(outcome, Ok(expected.to_vec()), "{body}");
    }
}

#[track_caller]
fn is_a_race(body: &str) {
    is_refused(body, "two iterations of a grid");
}

/// Runs a body that no order of iterations reveals, but watching them does.
#[track_caller]
fn is_refused(body: &str, message: &str) {
    let outcomes = outcomes(body);
    let (plain, watched) = outcomes.split_first().unwrap();
    assert!(plain.is_ok(), "{plain:?}");
    for outcome in watched {
        let why = outcome.as_ref().err().map_or("", |why| why);
        assert!(why.contains(message), "{outcome:?} {body}");
    }
}

#[test]
fn iterations_read_their_own_nodes_and_reclaim_them() {
    let read = "(declare v:i64) (declare after:i64) (payload 0 1 l [v after]) (store t i v)";
    is_fine(
        &format!("(declare l:i64) (new 0 1 [i 0] l) {read}"),
        [0, 1, 2, 3, 4, 5, 6, 0],
    );
    let reclaim =
        "(declare g:i64) (declare q:i64) (mark_nodes 0 g q) (declare l:i64) (new 0 1 [i 0] l)
         (for k 20 sequential (reclaim_nodes [0] [g] [q] [l] [0]) (new 0 1 [(add i64 k i) l] l))";
    is_fine(
        &format!("{reclaim} {read}"),
        [19, 20, 21, 22, 23, 24, 25, 0],
    );
}

#[test]
fn iterations_that_read_a_node_of_another_one_are_found() {
    // The first node of the table belongs to the iteration that runs first.
    is_refused(
        "(declare l:i64) (new 0 1 [i 0] l) (declare v:i64) (declare after:i64)
         (payload 0 1 0 [v after]) (store t i v)",
        "a node that another one makes",
    );
    is_refused(
        "(declare l:i64) (new 0 1 [i 0] l) (store t i (select (eq i32 (tag 0 0) 1i32) 1 2))",
        "a node that another one makes",
    );
}

#[test]
fn iterations_that_use_their_own_elements_may_run_in_any_order() {
    is_fine(
        "(store t i (add i64 (load x i) (load x 0)))",
        [20, 21, 22, 23, 24, 25, 26, 0],
    );
    is_fine(
        "(declare h:block) (declare p:(pointer i64)) (allocate h p i64 3) (store p 1 i)
         (store t i (load p 1)) (release h)",
        [0, 1, 2, 3, 4, 5, 6, 0],
    );
}

#[test]
fn iterations_that_use_the_same_elements_are_found() {
    is_a_race("(store t (add i64 i 1) (add i64 1 (load t i)))");
    is_a_race("(store t 0 i)");
    is_a_race("(store t 0 1)");
    is_a_race("(store t 7 (add i64 i (load t 7)))");
    is_a_race("(copy (offset t 1) (offset x 0) i64 i)");
}

#[test]
fn iterations_that_count_references_of_one_block_are_found() {
    is_a_race("(retain tb) (release tb)");
}

#[test]
fn ordered_regions_run_one_after_the_other() {
    is_fine(
        "(declare a:i64 (load x i)) (begin_ordered i) (store t 0 (add i64 (load t 0) a)) (end_ordered i)",
        [91, 0, 0, 0, 0, 0, 0, 0],
    );
    is_fine(
        "(begin_ordered i) (declare a:i64 (load t 7)) (store t 7 (add i64 (mul i64 a 2) 1)) (end_ordered i)
         (store t i a)",
        [0, 1, 3, 7, 15, 31, 63, 127],
    );
    // The store outside of the ordered region is not ordered.
    is_a_race(
        "(begin_ordered i) (declare a:i64 (load t 7)) (end_ordered i) (store t 7 (add i64 a i))",
    );
}

#[test]
fn iterations_of_inner_grids_are_concurrent() {
    is_fine(
        "(declare h:block) (declare p:(pointer i64)) (allocate h p i64 4)
         (for j 4 grid (store p j (add i64 i j)))
         (store t i (load p 3)) (release h)",
        [3, 4, 5, 6, 7, 8, 9, 0],
    );
    is_a_race(
        "(declare h:block) (declare p:(pointer i64)) (allocate h p i64 4)
         (for j 4 grid (store p 0 j))
         (store t i 1) (release h)",
    );
}

#[test]
fn a_part_of_an_array_is_not_left() {
    is_fine(
        "(declare own:(pointer i64) (offset t i 1)) (store own 0 i)",
        [0, 1, 2, 3, 4, 5, 6, 0],
    );
    for access in ["(store own 1 i)", "(store t i (load (offset own -1) 0))"] {
        let body = format!("(declare own:(pointer i64) (offset t (add i64 i 1) 1)) {access}");
        for outcome in outcomes(&body) {
            let why = outcome.err().unwrap_or_default();
            assert!(why.contains("of an array from"), "{why}");
        }
    }
}
