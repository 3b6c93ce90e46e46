//! Tests of neighbours of an index that cannot be out of range, in all notations. No check of an
//! index is left in the loop. Neighbours that can be out of range keep their checks.

use nova_driver::{Stage, Target};
use nova_tests::programs::{How, emit};

/// Ways to write the index `k` before I in 0 .. N, or after it, that stay in range.
const BEFORE: [&str; 7] = [
    "(max 0 (min (- N 1) (- I K)))",
    "(max 0 (- I K))",
    "(if (< I K) 0 (- I K))",
    "(if (>= I K) (- I K) I)",
    "(let (j (- I K)) in (if (< j 0) 0 j))",
    "(let (j (- I K)) in (if (< j 0) (- N 1) j))",
    "(if (> K I) (- N 1) (- I K))",
];
const AFTER: [&str; 7] = [
    "(max 0 (min (- N 1) (+ I K)))",
    "(min (- N 1) (+ I K))",
    "(if (< (+ I K) N) (+ I K) (- N 1))",
    "(if (< I (- N K)) (+ I K) I)",
    "(let (j (+ I K)) in (if (>= j N) (- N 1) j))",
    "(let (j (+ I K)) in (if (>= j N) 0 j))",
    "(if (>= (+ I K) N) 0 (+ I K))",
];
/// Ways for the next index only.
const NEXT: [(&str, &str); 3] = [
    ("(if (= I 0) 0 (- I 1))", "(if (= I (- N 1)) I (+ I 1))"),
    (
        "(if (= I 0) (- N 1) (- I 1))",
        "(if (= I (- N 1)) 0 (+ I 1))",
    ),
    (
        "(if (~= I 0) (- I 1) I)",
        "(if (~= (+ I 1) N) (+ I 1) (- N 1))",
    ),
];
/// Ways that are out of range for some I, K or N.
const OUTSIDE: [&str; 6] = [
    "(max 1 (- I K))",
    "(min N (+ I K))",
    "(min (- N 2) (+ I K))",
    "(if (= I 0) 0 (- I 2))",
    "(if (<= I N) (- I K) 0)",
    "(if (< (- I K) 0) K (- I K))",
];

fn written(way: &str, index: &str, extent: &str, steps: usize) -> String {
    let numbered = way.replace('K', &steps.to_string());
    numbered.replace('I', index).replace('N', extent)
}

/// Counts the checks of indices that a program has left.
fn checks(text: &str) -> usize {
    let flat = emit(text, Target::Sequential, How::usual(true), Stage::Flat);
    flat.matches(" index [").count()
}

fn line(before: &str, after: &str) -> String {
    format!(
        "((X : vector float)) (let (n (length X)) in
           (tabulate n (lambda (i) (- (X ! {before}) (X ! {after})))))"
    )
}

#[test]
fn neighbours_on_a_line_need_no_checks() {
    // The second index after the last one may exceed an int, so only some ways are then in range.
    let far = BEFORE.iter().flat_map(|way| {
        (1..4).map(|k| {
            (
                written(way, "i", "n", k),
                written("(if (< I (- N K)) (+ I K) I)", "i", "n", k),
            )
        })
    });
    let near = AFTER
        .iter()
        .map(|way| ("i".to_string(), written(way, "i", "n", 1)));
    let next = NEXT
        .iter()
        .map(|(before, after)| (written(before, "i", "n", 1), written(after, "i", "n", 1)));
    for (before, after) in far.chain(near).chain(next) {
        let text = line(&before, &after);
        assert_eq!(checks(&text), 0, "{text}");
    }
}

#[test]
fn neighbours_in_grids_need_no_checks() {
    let ways = BEFORE.iter().zip(AFTER);
    for (before, after) in ways.chain(NEXT.iter().map(|(a, b)| (a, *b))) {
        let at = |way, index, extent| written(way, index, extent, 1);
        let (up, left) = (at(before, "i", "n"), at(before, "j", "m"));
        let (down, right) = (at(after, "i", "n"), at(after, "j", "m"));
        let grid = format!(
            "((M : vector#2 float)) (let ((n, m) (shape M)) in
               (tabulate (n, m) (lambda (i, j) (- (M ! ({up}, {right})) (M ! ({down}, {left}))))))"
        );
        assert_eq!(checks(&grid), 0, "{grid}");
        let cube = format!(
            "(define (before (lambda (n i) {})) (behind (lambda (n i) {})))
             ((M : vector#3 float)) (let ((n, m, l) (shape M)) in
               (tabulate (n, m, l)
                 (lambda (i, j, k)
                   (- (M ! ((before n i), j, (behind l k))) (M ! ((behind n i), (before m j), k))))))",
            at(before, "i", "n"),
            at(after, "i", "n")
        );
        assert_eq!(checks(&cube), 0, "{cube}");
    }
}

#[test]
fn what_can_be_outside_is_checked() {
    for way in OUTSIDE {
        let outside = written(way, "i", "n", 1);
        let text = line(&outside, "i");
        assert_eq!(checks(&text), 1, "{text}");
    }
}
