//! Operations on all nodes that give some of them another constructor, for every choice of constructors, and
//! with every number of arms that a wildcard stands for.

use nova_core::text::read_value;
use nova_tests::passes::Passes;
use nova_tests::stages::{How, Stages, disagreement};

const TYPES: &str = "(types (T : (+ (A : (vector T)) (B : unit) (C : unit) (D : int))))
(define (sum (lambda (t) (case t
  (A v (foldl (lambda (s x) (+ (* 31 s) (sum x))) 7 v)) (B 4) (C 5) (D n (+ 6 (* 31 n)))))))";

/// The patterns of the constructors.
const PATTERNS: [&str; 4] = ["A* v", "B*", "C*", "D* n"];

/// The results of an arm that every constructor may give.
const RESULTS: [&str; 4] = ["(A* [])", "B*", "C*", "(D* 3)"];

/// Returns a program that gives each constructor the result with this number, the same constructor for 4.
/// From `arms` on, a wildcard stands for the constructors.
fn program(results: &[usize; 4], arms: usize) -> String {
    let own = ["(A* (map f v))", "B*", "C*", "(D* n)"];
    let result = |k: usize| *RESULTS.get(results[k]).unwrap_or(&own[k]);
    let mut text: String = (0..arms)
        .map(|k| format!(" ({} {})", PATTERNS[k], result(k)))
        .collect();
    if arms < PATTERNS.len() {
        text.push_str(&format!(" (_ {})", result(arms)));
    }
    format!(
        "{TYPES}
(entry e ((t : T)) (let (r (foreach (x t) (f d) (case x{text}))) in (sum r)))"
    )
}

#[test]
fn constructors_change_as_the_arms_say() {
    let how = How::strict(Passes::All);
    for code in 0..5_usize.pow(4) {
        let results = [1, 5, 25, 125].map(|place| code / place % 5);
        for arms in 0..=PATTERNS.len() {
            let rest = &results[arms.min(3)..];
            let has_one_result = rest.iter().all(|r| *r == rest[0]) && rest[0] != 4;
            // Of many programs with a case for almost each tag, some are enough.
            let is_left_out = arms >= 3 && code % 16 != 0;
            if is_left_out || arms < PATTERNS.len() && !has_one_result {
                continue;
            }
            let text = program(&results, arms);
            let stages = Stages::compile("constructors", &text, how).unwrap();
            let sums = &stages.flat.sums;
            let (_, ty) = &stages.flat.entries[0].inputs[0];
            for tree in ["(A [B C (A [(D 5) C B]) (D 2) (A [])])", "C", "(D 7)"] {
                let value = read_value(tree, ty, sums).unwrap();
                let outcomes = stages.evaluate(0, &[value]);
                assert_eq!(disagreement(&outcomes), None, "{text} of {tree}");
            }
        }
    }
}
