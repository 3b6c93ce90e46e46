//! Tests of ordered regions, in which work-groups propagate prefixes: groups have them where they can, and
//! one thread runs the loop otherwise; both mean the same.

use crate::translated::for_device;
use nova_loop::ir::{Command, Level, Program};
use nova_loop::walk::each_command;

/// A loop over groups that begins with `before`, computes `own`, propagates `next`, and writes both. `next`
/// is computed from the prefix that a group receives (`s`) and `own`.
fn groups(before: &str, own: &str, next: &str) -> Program {
    groups_with(before, own, next, "next s own")
}

/// The same, with the variables that it propagates and writes.
fn groups_with(before: &str, own: &str, next: &str, results: &str) -> Program {
    let flat = format!(
        "(program
          (function \"f\" [n:i64 x:[n]i64] [r:[n]i64 q:[n]i64 t:i64]
            (do
              (let [last:i64 made:[n]i64 numbers:[n]i64] (grid (strategy workgroup) [n] [i:i64] [s:i64 = 5]
                (do
                  {before}
                  (let [own:i64] {own})
                  (let [next:i64] {next})
                  (in {results}))
                (map) (map)))
              (in made numbers last))))"
    );
    for_device(&flat)
}

/// Returns the level of the only loop, and whether its iterations have ordered regions.
fn level(program: &Program) -> (Level, bool) {
    let (mut level, mut ordered) = (Vec::new(), 0);
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For { level: own, .. } = command {
                level.push(*own);
            }
            ordered += usize::from(matches!(command, Command::BeginOrdered(_)));
        });
    }
    assert_eq!(level.len(), 1);
    (level[0], ordered > 0)
}

#[test]
fn groups_have_ordered_regions() {
    for next in [
        "(add i64 s own)",
        "(add i64 own s)",
        "(max i64 s own)",
        "(xor i64 s own)",
    ] {
        let program = groups("", "(index x [i])", next);
        assert_eq!(level(&program), (Level::Block, true), "{next}");
    }
    // A number from outside the loop.
    let program = groups("", "(mul i64 n 3)", "(add i64 s own)");
    assert_eq!(level(&program), (Level::Block, true));
}

#[test]
fn one_thread_runs_loops_without_ordered_regions() {
    let sequential = (Level::Sequential, false);
    for (before, own, next, why) in [
        (
            "",
            "(index x [i])",
            "(sub i64 s own)",
            "depends on the order",
        ),
        (
            "",
            "(index x [i])",
            "(mul i64 own own)",
            "forgets what it was given",
        ),
        (
            "",
            "(mul i64 s i)",
            "(add i64 s own)",
            "computes its own number with that",
        ),
        (
            "(let [small:bool] (lt i64 i 9)) (let [] (check small overflow [i]))",
            "(index x [i])",
            "(add i64 s own)",
            "may fail",
        ),
    ] {
        let program = groups(before, own, next);
        assert_eq!(level(&program), sequential, "{why}");
    }
}

/// An ordered region begins as soon as the group's own number is known, so that later groups do not wait for
/// other work.
#[test]
fn ordered_regions_come_early() {
    let sum = "(operation [n] [j:i64] [c:i64 = 0]
        (do (let [e:i64] (index x [j])) (let [d:i64] (add i64 c e)) (in d)))";
    let next = format!("{sum}) (let [later:i64] (add i64 s own)");
    // The sum is called `next`, and the loop propagates `later`.
    let program = groups_with("", "(index x [i])", &next, "later s next");
    let text = nova_loop::print::print(&program);
    let at = |what| {
        text.find(what)
            .unwrap_or_else(|| panic!("no {what}: {text}"))
    };
    assert!(at("(end_ordered") < at("(for j"), "{text}");
}

/// A loop whose iterations could have ordered regions has them only if threads share it, wherever it stands,
/// both after the translation and after the choice of kernels.
#[test]
fn ordered_regions_inside_of_other_loops_stay_or_are_removed() {
    for outer in [
        "operation",
        "operation (strategy seq)",
        "operation (strategy local)",
        "operation (strategy workgroup)",
        "operation (strategy global)",
        "grid",
        "grid (strategy workgroup)",
        "grid (strategy global)",
    ] {
        let flat = format!(
            "(program
              (function \"f\" [m:i64 n:i64 x:[n]i64] [q:[m]i64]
                (do
                  (let [all:[m]i64] ({outer} [m] [k:i64] []
                    (do
                      (let [last:i64 made:[n]i64 numbers:[n]i64] (grid (strategy workgroup) [n] [i:i64] [s:i64 = k]
                        (do
                          (let [own:i64] (index x [i]))
                          (let [next:i64] (add i64 s own))
                          (in next s own))
                        (map) (map)))
                      (let [some:i64] (index made [0]))
                      (let [sum:i64] (add i64 last some))
                      (in sum))
                    (map)))
                  (in all))))"
        );
        let mut translated = for_device(&flat);
        crate::make_kernels(&mut translated);
        nova_loop::verify(&translated).unwrap_or_else(|e| panic!("{outer}, kernels: {e:?}"));
    }
}
