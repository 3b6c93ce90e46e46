//! Loops whose state gets its extents in the first iteration.

use crate::support::{after, apply, read, value};
use nova_flat::print::print;

/// Returns a fold over `ks` whose state `w` becomes an array of the extent `next`. Each element is that of `w` at a
/// position that these statements compute as `at` from the index `i`.
fn fold(next: &str, at: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"ks\" (vector i64)) (\"y\" (vector i64))] \
            (vector i64) \"f\")
          (function \"f\" [n:i64 x:[n]i64 m:i64 ks:[m]i64 l:i64 y:[l]i64] [r:i64 d:[r]i64] (do
            (let [last:i64 out:[last]i64] (operation [m] [k:i64] [s:i64 = n w:[s]i64 = x] (do
              (let [t:[{next}]i64] (operation [{next}] [i:i64] [] (do
                {at}
                (let [low:bool] (ge i64 at 0))
                (let [high:bool] (lt i64 at s))
                (let [] (check low index [at s]))
                (let [] (check high index [at s]))
                (let [e:i64] (index w [at]))
                (let [more:i64] (add i64 e 1))
                (in more)) (map)))
              (in {next} t))))
            (in last out))))"
    )
}

const SAME: &str = "(let [at:i64] (add i64 i 0))";

#[test]
fn there_is_a_version_for_equal_extents() {
    let text = fold("l", SAME);
    let before = read(&text);
    let program = after(nova_opt::loop_versioning::run, &text);
    let printed = print(&program);
    assert!(printed.contains("(eq i64 n"), "{printed}");
    assert_eq!(printed.matches("(reshape").count(), 1, "{printed}");
    for x in ["[]", "[1]", "[1 2 3]"] {
        for ks in ["[]", "[0]", "[0 0 0]"] {
            for y in ["[]", "[7]", "[7 8]", "[7 8 9]", "[7 8 9 10]"] {
                let inputs = [x, ks, y];
                let (now, then) = (value(&program, &inputs), value(&before, &inputs));
                assert_eq!(now, then, "{inputs:?}\n{printed}");
            }
        }
    }
}

#[test]
fn its_state_has_no_extents_of_its_own() {
    let mut program = after(nova_opt::loop_versioning::run, &fold("l", SAME));
    apply(nova_opt::simplify::run, &mut program);
    apply(nova_opt::bounds::run, &mut program);
    apply(nova_opt::simplify::run, &mut program);
    let printed = print(&program);
    let loops: Vec<&str> = printed.split("(operation [m").skip(1).collect();
    let [settled, other] = loops[..] else {
        panic!("{printed}");
    };
    assert!(!settled.contains("(check"), "{printed}");
    assert!(other.contains("(check"), "{printed}");
}

#[test]
fn other_loops_have_one_version() {
    for (next, at) in [
        // The extent never changes.
        ("s", SAME),
        // It changes in each iteration.
        ("bigger", "(let [at:i64] (min i64 i 0))"),
    ] {
        let text = fold(next, at);
        let text = match next {
            "bigger" => text.replacen("(let [t:[", "(let [bigger:i64] (add i64 s 1)) (let [t:[", 1),
            _ => text,
        };
        let program = after(nova_opt::loop_versioning::run, &text);
        assert_eq!(print(&program), print(&read(&text)));
    }
    // Nothing computes with the extent.
    let text = fold("l", SAME).replace(
        "(let [high:bool] (lt i64 at s))",
        "(let [high:bool] (lt i64 at l))",
    );
    let program = after(nova_opt::loop_versioning::run, &text);
    assert_eq!(print(&program), print(&read(&text)));
}

#[test]
fn long_loops_have_one_version() {
    let long: String = (0..400)
        .map(|k| format!("(let [a{k}:i64] (add i64 i {k}))"))
        .collect();
    let text = fold("l", &format!("{long}{SAME}"));
    let program = after(nova_opt::loop_versioning::run, &text);
    assert_eq!(print(&program), print(&read(&text)));
}

/// Returns a fold whose state keeps its extent where there are elements of `ks`, and has none otherwise.
fn emptied(condition: &str, [then, otherwise]: [&str; 2]) -> String {
    fold("l", SAME)
        .replace("[t:[l]i64] (operation [l]", "[t:[s]i64] (operation [s]")
        .replace("(in more)) (map)))", &format!("(in more)) (map))) (let [c:i64] (if {condition} (do (in {then})) (do (in {otherwise})))) (let [u:[c]i64] (reshape t [c]))"))
        .replace("(in l t)", "(in c u)")
        .replace("(let [last:i64", "(let [some:bool] (gt i64 l 0)) (let [last:i64")
}

#[test]
fn there_is_a_version_for_extents_that_are_kept() {
    for cases in [["s", "0"], ["0", "s"]] {
        let text = emptied("some", cases);
        let before = read(&text);
        let mut program = after(nova_opt::loop_versioning::run, &text);
        apply(nova_opt::simplify::run, &mut program);
        let printed = print(&program);
        assert_eq!(printed.matches("(operation [m").count(), 2, "{printed}");
        assert_eq!(printed.matches(":i64 = n").count(), 1, "{printed}");
        // Another run finds nothing more.
        let mut again = program.clone();
        apply(nova_opt::loop_versioning::run, &mut again);
        assert_eq!(print(&again), printed);
        for ks in ["[]", "[0]"] {
            for y in ["[]", "[7]"] {
                let inputs = ["[]", ks, y];
                let (now, then) = (value(&program, &inputs), value(&before, &inputs));
                assert_eq!(now, then, "{inputs:?}\n{printed}");
            }
        }
    }
}
