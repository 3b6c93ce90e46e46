//! Checks of indices that are affine in the index of an operation.

use crate::support::{after, value};
use nova_flat::print::print;

/// Reads `x` five elements ahead, in an operation of so many rounds.
fn ahead(extent: &str) -> String {
    format!(
        r#"(program (entry "f" [("x" (vector i32))] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32] [r0:i64 r:[r0]i32] (do
            (let [y:[{extent}]i32] (operation [{extent}] [i:i64] [] (do
                (let [j:i64] (add i64 i 5))
                (let [low:bool] (ge i64 j 0))
                (let [high:bool] (lt i64 j n))
                (let [] (check low index [j n]))
                (let [] (check high index [j n]))
                (let [e:i32] (index x [j]))
                (in e)) (map)))
            (in {extent} y))))"#
    )
}

#[test]
fn operations_without_rounds_check_nothing() {
    let program = after(nova_opt::bounds::run, &ahead("0"));
    assert_eq!(value(&program, &["[1]"]), "[]", "{}", print(&program));
    let program = after(nova_opt::bounds::run, &ahead("1"));
    let text = print(&program);
    let (before, _) = text.split_once("(operation").unwrap();
    assert!(before.contains("(check"), "{text}");
    assert_eq!(value(&program, &["[1]"]), "index", "{text}");
    assert_eq!(value(&program, &["[1 2 3 4 5 6]"]), "[6]", "{text}");
}

/// The sum of what lies before and behind each element, where `before` and `behind` are the branches
/// of conditionals on `i`: of `i = 0` and of `i = n - 1`.
fn neighbours(before: (&str, &str), behind: (&str, &str)) -> String {
    let index = |name: &str, condition: &str, (then, otherwise): (&str, &str)| {
        format!(
            "(let [{name}c:bool] (eq i32 k {condition}))
             (let [{name}:i32] (if {name}c
                (do (let [{name}t:i32] {then}) (in {name}t))
                (do (let [{name}o:i32] {otherwise}) (in {name}o))))
             (let [{name}w:i64] (convert.i64 i32 {name}))
             (let [{name}u:u64] (wrap.u64 i64 {name}w))
             (let [{name}f:bool] (lt u64 {name}u size))
             (let [] (check {name}f index [{name} n]))
             (let [{name}e:i32] (index x [{name}w]))"
        )
    };
    let (before, behind) = (index("a", "0i32", before), index("b", "last", behind));
    format!(
        r#"(program (entry "f" [("x" (vector i32))] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32] [r0:i64 r:[r0]i32] (do
            (let [fits:bool] (fits.i32 i64 n))
            (let [] (check fits overflow [n]))
            (let [count:i32] (convert.i32 i64 n))
            (let [last:i32] (sub i32 count 1i32))
            (let [size:u64] (wrap.u64 i64 n))
            (let [y:[n]i32] (operation [n] [i:i64] [] (do
                (let [k:i32] (convert.i32 i64 i))
                {before}
                {behind}
                (let [e:i32] (add i32 ae be))
                (in e)) (map)))
            (in n y))))"#
    )
}

#[test]
fn neighbours_on_a_ring_need_no_checks() {
    let around = neighbours(
        ("(add i32 last 0i32)", "(sub i32 k 1i32)"),
        ("(add i32 0i32 0i32)", "(add i32 k 1i32)"),
    );
    let program = after(nova_opt::bounds::run, &around);
    let text = print(&program);
    assert_eq!(text.matches("(atom true)").count(), 2, "{text}");
    assert_eq!(value(&program, &["[1 2 4 8]"]), "[10 5 10 5]");
    assert_eq!(value(&program, &["[3]"]), "[6]");
    assert_eq!(value(&program, &["[]"]), "[]");
}

#[test]
fn a_branch_that_leaves_the_array_keeps_its_check() {
    for (before, behind) in [
        (
            ("(add i32 count 0i32)", "(sub i32 k 1i32)"),
            ("(add i32 0i32 0i32)", "(add i32 k 1i32)"),
        ),
        (
            ("(add i32 last 0i32)", "(sub i32 k 2i32)"),
            ("(add i32 0i32 0i32)", "(add i32 k 1i32)"),
        ),
        (
            ("(add i32 last 0i32)", "(sub i32 k 1i32)"),
            ("(add i32 -1i32 0i32)", "(add i32 k 1i32)"),
        ),
        (
            ("(add i32 last 0i32)", "(sub i32 k 1i32)"),
            ("(add i32 0i32 0i32)", "(add i32 k 2i32)"),
        ),
    ] {
        let program = after(nova_opt::bounds::run, &neighbours(before, behind));
        let text = print(&program);
        assert_eq!(text.matches("(atom true)").count(), 1, "{text}");
        assert_eq!(value(&program, &["[1 2 4]"]), "index", "{text}");
        assert_eq!(value(&program, &["[]"]), "[]", "{text}");
    }
}
