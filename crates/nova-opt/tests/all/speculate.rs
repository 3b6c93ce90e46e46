//! Reads after conditions move before them if they are in range in any case, and of arrays that are
//! read anyway.

use crate::support::{apply, read, value};
use nova_flat::print::print;

/// Runs the pass over a map that reads `x` at `k`, and gives the result of `branch` where that is
/// odd. Compares the values. Returns true if the branch is empty.
#[track_caller]
fn is_early(branch: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"y\" (vector i64))] (vector i64) \"f\")
          (function \"f\" [n:i64 x:[n]i64 m:i64 y:[m]i64] [r:i64 d:[r]i64] (do
            (let [l0:i64] (sub i64 n 1)) (let [l:i64] (max i64 l0 0))
            (let [long:bool] (ge i64 m n)) (let [] (check long length [m n]))
            (let [out:[l]i64] (operation [l] [k:i64] [] (do
              (let [a:i64] (index x [k]))
              (let [b:i64] (and i64 a 1)) (let [c:bool] (ne i64 b 0))
              (let [e:i64] (if c (do {branch}) (do (in 7))))
              (in e)) (map)))
            (in l out))))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::bounds::run_speculate, &mut program);
    for x in ["[]", "[1]", "[1 2 3 5 7]", "[1 1 1]"] {
        let inputs = [x, "[5 6 7 8 9 10]"];
        let (now, then) = (value(&program, &inputs), value(&before, &inputs));
        assert_eq!(now, then, "{inputs:?}\n{}", print(&program));
    }
    let printed = print(&program);
    let (_, choice) = printed.split_once("(if c").unwrap();
    let (then, _) = choice.split_once("(in 7)").unwrap();
    !then.contains("(let ")
}

#[test]
fn neighbours_are_read_early() {
    assert!(is_early(
        "(let [k1:i64] (add i64 k 1)) (let [v:i64] (index x [k1])) (in v)"
    ));
    assert!(is_early(
        "(let [v:i64] (index x [k])) (let [w:i64] (mul i64 v 3)) (let [u:i64] (max i64 w a)) (in u)"
    ));
}

#[test]
fn other_branches_stay() {
    // Another array, which nothing else reads.
    assert!(!is_early("(let [v:i64] (index y [k])) (in v)"));
    // An index that is in range only by the condition.
    assert!(!is_early(
        "(let [z:i64] (min i64 a k)) (let [v:i64] (index x [z])) (in v)"
    ));
    // Nothing is read.
    assert!(!is_early("(let [v:i64] (mul i64 a 3)) (in v)"));
    // An operation that needs a check, and code that takes long.
    assert!(!is_early(
        "(let [v:i64] (index x [k])) (let [w:i64] (div i64 v a)) (in w)"
    ));
    let long: Vec<String> = (0..9)
        .map(|j| format!("(let [w{}:i64] (add i64 w{j} a))", j + 1))
        .collect();
    assert!(!is_early(&format!(
        "(let [w0:i64] (index x [k])) {} (in w9)",
        long.concat()
    )));
}

/// `k + 1` as an `i32` is exact only under the condition.
#[test]
fn sums_that_wrap_elsewhere_stay() {
    let text = "(program (entry \"f\" [(\"x\" (vector i64)) (\"j\" i32)] (vector i64) \"f\")
      (function \"f\" [n:i64 x:[n]i64 j:i32] [r:i64 d:[r]i64] (do
        (let [long:bool] (gt i64 n 5)) (let [] (check long length [n 5]))
        (let [out:[n]i64] (operation [n] [k:i64] [] (do
          (let [a:i64] (index x [k]))
          (let [p:bool] (ge i32 j 0i32)) (let [q:bool] (lt i32 j 4i32))
          (let [c:bool] (if p (do (in q)) (do (in false))))
          (let [e:i64] (if c (do (let [j1:i32] (add i32 j 1i32)) (let [w:i64] (convert.i64 i32 j1))
            (let [v:i64] (index x [w])) (in v)) (do (in 7))))
          (in e)) (map)))
        (in n out))))";
    let mut program = read(text);
    apply(nova_opt::bounds::run_speculate, &mut program);
    let printed = print(&program);
    let (_, choice) = printed.split_once("(if c").unwrap();
    assert!(
        choice.split_once("(in 7)").unwrap().0.contains("(index x"),
        "{printed}"
    );
}

/// A filter reads its own elements for all that it looks at, and other ones where its condition holds.
#[test]
fn filters_read_their_own_elements_early() {
    for (index, is_early) in [("k", true), ("k1", false)] {
        let text = format!(
            "(program (entry \"f\" [(\"x\" (vector i64)) (\"y\" (vector i64))] (vector i64) \"f\")
              (function \"f\" [n:i64 x:[n]i64 m:i64 y:[m]i64] [r:i64 d:[r]i64] (do
                (let [long:bool] (gt i64 m n)) (let [] (check long length [m n]))
                (let [l:i64 out:[l]i64] (operation [n] [k:i64] [] (do
                  (let [a:i64] (index x [k])) (let [c:bool] (gt i64 a 2))
                  (let [k1:i64] (add i64 k 1))
                  (let [e:i64] (if c (do (let [v:i64] (index y [{index}])) (in v)) (do (in 0))))
                  (in c e)) (filter 1)))
                (in l out))))"
        );
        let before = read(&text);
        let mut program = read(&text);
        apply(nova_opt::bounds::run_speculate, &mut program);
        for x in ["[]", "[1]", "[1 2 3 5 7]", "[3 1 4]"] {
            let inputs = [x, "[5 6 7 8 9 10]"];
            let (now, then) = (value(&program, &inputs), value(&before, &inputs));
            assert_eq!(now, then, "{inputs:?}\n{}", print(&program));
        }
        let printed = print(&program);
        let (_, choice) = printed.split_once("(if c").unwrap();
        assert_eq!(!choice.contains("(index y"), is_early, "{printed}");
    }
}
