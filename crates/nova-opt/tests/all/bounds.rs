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
