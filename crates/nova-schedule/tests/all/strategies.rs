//! Operations that carry a strategy are barriers: every pass that makes other loops of operations
//! leaves them as they are. Each program is also tried without its mark, and the pass then changes
//! it.

use crate::parallelise_strict;
use crate::support::{apply, read, value};
use nova_core::strategy;
use nova_flat::ir::{ArrayOperation, Expression, Level, Output, Program};
use nova_flat::print::print;
use nova_flat::visit::each_statement;

const INPUTS: &[[&str; 2]] = &[["[]", "0"], ["[3]", "2"], ["[3 4 -1 7 5 2 6 8 9]", "3"]];

/// Returns a function of a vector and a number, which gives a vector or two.
fn program(result: (&str, &str), body: &str) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"k\" i64)] {} \"f\")
          (function \"f\" [n:i64 x:[n]i64 k:i64] [{}] (do {body})))",
        result.0, result.1
    ))
}

const ONE: (&str, &str) = ("(vector i64)", "r0:i64 r:[r0]i64");
const TWO: (&str, &str) = (
    "(tuple (vector i64) (vector i64))",
    "r0:i64 r:[r0]i64 q0:i64 q:[q0]i64",
);
const SUM: (&str, &str) = ("i64", "r:i64");

fn operations(program: &Program) -> Vec<&ArrayOperation> {
    let mut found = Vec::new();
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            if let Expression::Operation(operation) = &statement.expression {
                found.push(operation);
            }
        });
    }
    found
}

/// Honours strategies for threads of a processor.
fn honour(program: &mut Program) {
    nova_schedule::honour(program, false, &nova_schedule::Alone::default());
}

/// Returns a program after a pass. Its values must stay the same.
#[track_caller]
fn after(pass: fn(&mut Program), result: (&str, &str), body: &str) -> Program {
    let mut program = program(result, body);
    let values = |program: &Program| -> Vec<String> {
        INPUTS.iter().map(|inputs| value(program, inputs)).collect()
    };
    let expected = values(&program);
    apply(pass, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    program
}

/// Checks that a pass leaves the operations of `body` where they are if `MARK` is a strategy.
/// Without the mark, the pass must change them.
#[track_caller]
fn is_barrier(pass: fn(&mut Program), result: (&str, &str), body: &str) {
    let shape = |program: &Program| -> Vec<(Level, usize, usize)> {
        let all = operations(program).into_iter();
        all.map(|o| (o.level, o.shape.len(), inner(o))).collect()
    };
    for level in ["seq", "global", "workgroup", "local"] {
        let marked = body.replace("MARK", &format!("(strategy {level})"));
        let before = shape(&program(result, &marked));
        let left = after(pass, result, &marked);
        assert_eq!(shape(&left), before, "{level}\n{}", print(&left));
    }
    let plain = body.replace("MARK", "");
    let before = shape(&program(result, &plain));
    let changed = after(pass, result, &plain);
    assert_ne!(shape(&changed), before, "{}", print(&changed));
}

/// Returns the number of operations inside of one.
fn inner(operation: &ArrayOperation) -> usize {
    let mut count = 0;
    each_statement(&operation.body, &mut |statement| {
        count += usize::from(matches!(statement.expression, Expression::Operation(_)));
    });
    count
}

/// Returns a map over `[n]` of the elements of an array.
fn map(mark: &str, names: [&str; 2]) -> String {
    let [from, to] = names;
    format!(
        "(let [{to}:[n]i64] (operation {mark} [n] [i{to}:i64] [] (do
          (let [a{to}:i64] (index {from} [i{to}])) (let [b{to}:i64] (add i64 a{to} k))
          (in b{to})) (map)))"
    )
}

#[test]
fn elements_are_not_computed_by_their_readers() {
    let (first, second) = (map("MARK", ["x", "y"]), map("", ["y", "z"]));
    is_barrier(
        nova_opt::fuse::run,
        ONE,
        &format!("{first} {second} (in n z)"),
    );
    let (first, second) = (map("", ["x", "y"]), map("MARK", ["y", "z"]));
    is_barrier(
        nova_opt::fuse::run,
        ONE,
        &format!("{first} {second} (in n z)"),
    );
}

#[test]
fn operations_over_one_space_stay_apart() {
    let (first, second) = (map("MARK", ["x", "y"]), map("", ["y", "z"]));
    is_barrier(
        nova_opt::fuse::run,
        TWO,
        &format!("{first} {second} (in n y n z)"),
    );
    let (first, second) = (map("", ["x", "y"]), map("MARK", ["x", "z"]));
    is_barrier(
        nova_opt::fuse::run,
        TWO,
        &format!("{first} {second} (in n y n z)"),
    );
}

#[test]
fn nothing_meets_across_them() {
    let body = [
        map("", ["x", "y"]),
        map("MARK", ["x", "w"]),
        map("", ["y", "z"]),
    ];
    let body = format!(
        "{} (let [e:i64] (add i64 n n)) (let [v:[e]i64] (concat e [w z]))
        (in n y e v)",
        body.join(" ")
    );
    is_barrier(nova_opt::fuse::run, TWO, &body);
}

#[test]
fn filter_survivors_are_mapped_after_the_filter() {
    let body = "(let [m:i64 y:[m]i64] (operation [n] [i:i64] [] (do
          (let [a:i64] (index x [i])) (let [c:bool] (lt i64 a k)) (in c a)) (filter 1)))
        (let [z:[m]i64] (operation MARK [m] [j:i64] [] (do
          (let [b:i64] (index y [j])) (let [d:i64] (mul i64 b k)) (in d)) (map)))
        (in m z)";
    is_barrier(nova_opt::fuse::run, ONE, body);
}

#[test]
fn running_results_are_read_after_the_scan() {
    let body = "(let [y:[n]i64] (operation [n] [i:i64] [] (do
          (let [a:i64] (index x [i])) (in a))
          (scan [0] (lambda [p:i64 q:i64] (do (let [s:i64] (add i64 p q)) (in s))))))
        (let [z:[n]i64] (operation MARK [n] [j:i64] [] (do
          (let [b:i64] (index y [j])) (let [d:i64] (mul i64 b k)) (in d)) (map)))
        (in n z)";
    is_barrier(nova_opt::fuse::run, ONE, body);
}

/// Returns a map whose rows are maps.
fn nest(outer: &str, inner: &str, length: &str) -> String {
    format!(
        "(let [starts:[n]i64 ends:[n]i64 total:i64 data:[total]i64]
          (operation {outer} [n] [i:i64] [] (do
            (let [a:i64] (index x [i])) (let [m:i64] (min i64 n 3)) (let [most:i64] (max i64 a 0)) (let [own:i64] (min i64 most 3))
            (let [v:[{length}]i64] (operation {inner} [{length}] [j:i64] [] (do
              (let [b:i64] (add i64 a j)) (in b)) (map)))
            (in {length} v)) (collect 1)))
        (in total data)"
    )
}

#[test]
fn nests_stay_nests() {
    // The rows of a map with a strategy, or around one, are joined, and nothing else changes.
    let program = after(
        nova_opt::flatten_regular::run,
        ONE,
        &nest("", "(strategy workgroup)", "n"),
    );
    let found = operations(&program);
    let [offsets, outer, rows] = found[..] else {
        panic!("{}", print(&program));
    };
    assert!(!offsets.is_marked() && !outer.is_marked() && rows.is_marked());
    assert!(matches!(outer.outputs[..], [Output::Join { .. }]));
    let program = after(
        nova_opt::flatten_regular::run,
        ONE,
        &nest("(strategy workgroup)", "", "n"),
    );
    let found = operations(&program);
    let [offsets, outer, rows] = found[..] else {
        panic!("{}", print(&program));
    };
    assert!(!offsets.is_marked() && !rows.is_marked());
    assert_eq!((outer.is_marked(), inner(outer)), (true, 1));
    assert!(matches!(outer.outputs[..], [Output::Join { .. }]));
    // They are not joined if the length is known only in each row.
    let program = after(
        nova_opt::flatten_regular::run,
        ONE,
        &nest("(strategy workgroup)", "", "own"),
    );
    assert_eq!(operations(&program).len(), 2);
    // A length that each row computes anew, and the same, is known before.
    let program = after(
        nova_opt::flatten_regular::run,
        ONE,
        &nest("(strategy workgroup)", "", "m"),
    );
    assert_eq!(operations(&program).len(), 3);
}

/// Returns an operation that gives for each element the sum of all, computed inside.
fn sums(outer: &str, inner: &str) -> String {
    format!(
        "(let [z:[n]i64] (operation {outer} [n] [i:i64] [] (do
          (let [t:i64] (operation {inner} [n] [j:i64] [c:i64 = 0] (do
            (let [b:i64] (index x [j])) (let [s:i64] (add i64 c b)) (in s))))
          (let [a:i64] (index x [i])) (let [d:i64] (add i64 a t)) (in d)) (map)))
        (in n z)"
    )
}

#[test]
fn operations_do_not_leave_them_and_they_leave_none() {
    is_barrier(nova_opt::licm::run, ONE, &sums("MARK", ""));
    is_barrier(nova_opt::licm::run, ONE, &sums("", "MARK"));
}

#[test]
fn conditionals_with_operations_do_not_leave_them() {
    let body = "(let [z:[n]i64] (operation MARK [n] [i:i64] [] (do
          (let [even:bool] (eq i64 k 2))
          (let [u:i64] (if even (do (in 0)) (do
            (let [t:i64] (operation [n] [j:i64] [c:i64 = 0] (do
              (let [b:i64] (index x [j])) (let [s:i64] (add i64 c b)) (in s))))
            (in t))))
          (let [a:i64] (index x [i])) (let [d:i64] (add i64 a u)) (in d)) (map)))
        (in n z)";
    is_barrier(nova_opt::licm::run, ONE, body);
}

#[test]
fn they_are_not_chunked() {
    let body = format!("{} (in n y)", map("MARK", ["x", "y"]));
    is_barrier(parallelise_strict, ONE, &body);
    let fold = "(let [t:i64] (operation MARK [n] [j:i64] [c:i64 = 0] (do
        (let [b:i64] (index x [j])) (let [s:i64] (add i64 c b)) (in s)))) (in t)";
    is_barrier(parallelise_strict, SUM, fold);
}

#[test]
fn two_that_are_equal_stay_two() {
    let body = format!(
        "{} {} (in n y n z)",
        map("(strategy local)", ["x", "y"]),
        map("(strategy local)", ["x", "z"])
    );
    for pass in [
        nova_opt::cse::run,
        nova_opt::fuse::run,
        nova_opt::simplify::run,
    ] {
        assert_eq!(operations(&after(pass, TWO, &body)).len(), 2);
    }
}

#[test]
fn threads_share_those_given_to_many_as_they_are() {
    for (word, level) in strategy::LEVELS.map(|(level, word)| (word, level)) {
        let body = format!(
            "{} (in n y)",
            map(&format!("(strategy {word} global)"), ["x", "y"])
        );
        let program = after(honour, ONE, &body);
        let found = operations(&program);
        let expected = match level {
            strategy::Level::Global | strategy::Level::Workgroup => Level::Grid,
            strategy::Level::Sequential | strategy::Level::Local => Level::Sequential,
        };
        assert_eq!(found[0].level, expected);
        let strategy = found[0].strategy.unwrap();
        assert_eq!(strategy.space, Some(strategy::Space::Global));
    }
    // The fold keeps its order.
    let fold = "(let [t:i64] (operation (strategy seq) [n] [j:i64] [c:i64 = 0] (do
        (let [b:i64] (index x [j])) (let [s:i64] (add i64 c b)) (in s)))) (in t)";
    let program = after(honour, SUM, fold);
    assert_eq!(operations(&program)[0].level, Level::Sequential);
}

#[test]
fn what_can_be_seen_from_outside_stays_with_one_thread() {
    let body = "(let [y:[n]i64] (operation (strategy global) [n] [i:i64] [] (do
          (let [a:i64] (index x [i])) (let [] (trace \"x\" i64 [a])) (in a)) (map)))
        (in n y)";
    let mut program = program(ONE, body);
    apply(honour, &mut program);
    assert_eq!(operations(&program)[0].level, Level::Sequential);
}

#[test]
fn operations_that_enclose_a_grid_stay_with_one_thread() {
    let mut program = program(ONE, &sums("", ""));
    apply(parallelise_strict, &mut program);
    assert!(operations(&program).len() > 2, "{}", print(&program));
    let body = "(let [starts:[n]i64 ends:[n]i64 total:i64 data:[total]i64]
        (operation [n] [i:i64] [] (do
          (let [a:i64] (index x [i]))
          (let [v:[n]i64] (operation (strategy global) [n] [j:i64] [] (do
            (let [b:i64] (add i64 a j)) (in b)) (map)))
          (in n v)) (collect 1)))
      (in total data)";
    let mut program = self::program(ONE, body);
    apply(honour, &mut program);
    apply(parallelise_strict, &mut program);
    let levels: Vec<Level> = operations(&program).iter().map(|o| o.level).collect();
    assert_eq!(levels, [Level::Sequential, Level::Grid]);
}
