//! Maps that leave the elements of an array outside of a span unchanged become blocks, where the
//! array is overwritten.

use crate::support::{apply, read, value};
use nova_flat::print::print;

/// The numbers that spans begin and end with: around the array, at the ends of `i64`.
const NUMBERS: [&str; 9] = [
    "[]",
    "[0]",
    "[1 2]",
    "[2 -1]",
    "[3 4]",
    "[5 0]",
    "[6 1]",
    "[-9223372036854775808 2]",
    "[9223372036854775807 0]",
];

/// Runs the pass over a fold over `ks`. Its iterations run these statements on the array `w` of `n`
/// elements and a number `k`. `inside` is the number limited to the range from 0 to `n`. Compares
/// the values. Returns true if an iteration stores a block.
#[track_caller]
fn stores_block(iteration: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"ks\" (vector i64)) (\"y\" (vector i64))] \
            (vector i64) \"f\")
          (function \"f\" [n:i64 x:[n]i64 m:i64 ks:[m]i64 l:i64 y:[l]i64] [r:i64 d:[r]i64] (do
            (let [out:[n]i64] (operation [m] [at:i64] [w:[n]i64 = x] (do
              (let [k:i64] (index ks [at]))
              (let [low:i64] (max i64 k 0))
              (let [inside:i64] (min i64 low n))
              {iteration}
              (in t))))
            (in n out))))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::bounds::run_narrow, &mut program);
    for x in ["[]", "[1]", "[1 2 3 4 5]"] {
        for ks in NUMBERS {
            for y in ["[]", "[7]", "[7 8 9]"] {
                let inputs = [x, ks, y];
                let (now, then) = (value(&program, &inputs), value(&before, &inputs));
                assert_eq!(now, then, "{inputs:?}\n{}", print(&program));
            }
        }
    }
    let text = print(&program);
    text.contains("(scatter_block ") || text.contains("(update ")
}

/// Returns a map of `w` that gives `changed` where these statements make `c` true, and elements
/// elsewhere.
fn map(condition: &str, changed: &str) -> String {
    format!(
        "(let [t:[n]i64] (operation [n] [i:i64] [] (do
          {condition}
          (let [e:i64] (if c
            (do (let [own:i64] (index w [i])) {changed} (in v))
            (do (let [kept:i64] (index w [i])) (in kept))))
          (in e)) (map)))"
    )
}

const MORE: &str = "(let [v:i64] (add i64 own 10))";

#[test]
fn comparisons_of_the_index_with_what_is_known() {
    for comparison in ["eq", "lt", "le", "gt", "ge"] {
        for other in ["k", "inside", "2"] {
            let before = format!("(let [c:bool] ({comparison} i64 i {other}))");
            assert!(stores_block(&map(&before, MORE)), "{before}");
            let after = format!("(let [c:bool] ({comparison} i64 {other} i))");
            assert!(stores_block(&map(&after, MORE)), "{after}");
        }
    }
}

#[test]
fn sums_of_the_index() {
    assert!(stores_block(&map(
        "(let [j:i64] (add i64 i 1)) (let [c:bool] (gt i64 j inside))",
        MORE
    )));
    assert!(stores_block(&map("(let [c:bool] (ne i64 i 0))", MORE)));
    // Not a span.
    assert!(!stores_block(&map(
        "(let [c:bool] (ne i64 i inside))",
        MORE
    )));
    assert!(!stores_block(&map(
        "(let [j:i64] (mul i64 i 2)) (let [c:bool] (gt i64 j 3))",
        MORE
    )));
    assert!(!stores_block(&map(
        "(let [o:i64] (index w [i])) (let [c:bool] (gt i64 o 3))",
        MORE
    )));
}

#[test]
fn conditions_combined() {
    let both = "(let [a:bool] (ge i64 i inside))
        (let [c:bool] (if a (do (let [b:bool] (lt i64 i 3)) (in b)) (do (in false))))";
    assert!(stores_block(&map(both, MORE)));
    let neither = "(let [a:bool] (lt i64 i inside))
        (let [o:bool] (if a (do (in true)) (do (let [b:bool] (gt i64 i 3)) (in b))))
        (let [c:bool] (if o (do (in false)) (do (in true))))";
    assert!(stores_block(&map(neither, MORE)));
    let either = "(let [a:bool] (lt i64 i inside))
        (let [c:bool] (if a (do (in true)) (do (let [b:bool] (gt i64 i 3)) (in b))))";
    assert!(!stores_block(&map(either, MORE)));
    // One condition is a span, the other is tested in each iteration.
    let data = "(let [a:bool] (ge i64 i inside))
        (let [c:bool] (if a (do (let [o:i64] (index w [i])) (let [b:bool] (lt i64 o 3)) (in b))
          (do (in false))))";
    assert!(stores_block(&map(data, MORE)));
}

#[test]
fn other_elements() {
    let reads = |index: &str| {
        format!(
            "(let [z:i64] (sub i64 n 1)) (let [o:i64] (index w [{index}])) (let [v:i64] (add i64 own o))"
        )
    };
    // The element lies before the span, or in it.
    let after = "(let [c:bool] (gt i64 i 0))";
    assert!(stores_block(&map(after, &reads("0"))));
    assert!(!stores_block(&map(after, &reads("z"))));
    assert!(!stores_block(&map(
        "(let [c:bool] (ge i64 i 0))",
        &reads("0")
    )));
}

/// Returns a fold over the rows `k` of a square matrix `w`. Each gives, below the row and from its column on, what
/// these statements compute as `v` from `own`, the element there, and from an element that they read.
fn eliminated(read: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (array 2 i64))] (array 2 i64) \"f\")
          (function \"f\" [n:i64 m:i64 x:[n][m]i64] [r:i64 s:i64 d:[r][s]i64] (do
            (let [square:bool] (eq i64 n m))
            (let [] (check square index [n m]))
            (let [start:[n][n]i64] (reshape x [n n]))
            (let [out:[n][n]i64] (operation [n] [k:i64] [w:[n][n]i64 = start] (do
              (let [t:[n][n]i64] (operation [n n] [i:i64 j:i64] [] (do
                (let [above:bool] (le i64 i k))
                (let [e:i64] (if above
                  (do (let [a:i64] (index w [i j])) (in a))
                  (do
                    (let [left:bool] (lt i64 j k))
                    (let [f:i64] (if left
                      (do (let [b:i64] (index w [i j])) (in b))
                      (do (let [own:i64] (index w [i j])) {read} (in v))))
                    (in f))))
                (in e)) (map)))
              (in t))))
            (in n n out))))"
    )
}

#[test]
fn slices_of_what_changes_are_copied() {
    let product = |at: &str| {
        format!(
            "(let [o:i64] (index w [{at}])) (let [p:i64] (mul i64 o 3)) (let [v:i64] (add i64 own p))"
        )
    };
    for (at, stores) in [
        // A column of the block, a row above it, an element.
        ("i k", true),
        ("k j", true),
        ("k k", true),
        ("0 j", true),
        // A column by the index of columns, a row by that of rows.
        ("j k", true),
        ("k i", true),
        // Positions that both indices tell.
        ("j i", false),
    ] {
        let text = eliminated(&product(at));
        let before = read(&text);
        let mut program = read(&text);
        apply(nova_opt::bounds::run_narrow, &mut program);
        let printed = print(&program);
        assert_eq!(
            printed.contains("(scatter_block "),
            stores,
            "{at}\n{printed}"
        );
        for x in ["[]", "[[5]]", "[[1 2] [3 4]]", "[[1 2 3] [4 5 6] [7 8 10]]"] {
            let (now, then) = (value(&program, &[x]), value(&before, &[x]));
            assert_eq!(now, then, "{at} {x}\n{printed}");
        }
    }
    // The last column is a slice as well, but none of the array where it has no elements.
    let last =
        "(let [z:i64] (sub i64 n 1)) (let [o:i64] (index w [i z])) (let [v:i64] (add i64 own o))";
    let mut program = read(&eliminated(last));
    apply(nova_opt::bounds::run_narrow, &mut program);
    assert_eq!(
        value(&program, &["[[1 2] [3 4]]"]),
        value(&read(&eliminated(last)), &["[[1 2] [3 4]]"])
    );
}

#[test]
fn effects() {
    let check = "(let [l0:bool] (lt i64 i l)) (let [] (check l0 index [i l]))";
    let inside = format!("{check} (let [v:i64] (index y [i]))");
    assert!(stores_block(&map("(let [c:bool] (ge i64 i 2))", &inside)));
    let outside = format!("{check} (let [c:bool] (ge i64 i 2))");
    assert!(!stores_block(&map(&outside, MORE)));
}

#[test]
fn arrays_that_are_needed_afterwards() {
    let condition = "(let [c:bool] (ge i64 i inside))";
    let again = map(condition, MORE).replace("[t:[n]i64]", "[u:[n]i64]")
        + "(let [t:[n]i64] (operation [n] [j:i64] [] (do
            (let [p:i64] (index w [j])) (let [q:i64] (index u [j])) (let [s:i64] (add i64 p q)) (in s)) (map)))";
    assert!(!stores_block(&again));
    // The array is the caller's, and the next iteration needs it.
    assert!(!stores_block(
        &map(condition, MORE).replace("index w", "index x")
    ));
}
