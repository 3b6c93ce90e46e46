//! Tests of the references to arrays. Branches of conditionals, calls, iterations of loops and tail
//! calls pass them on, release them, or take them. The verifier of Loop counts the references on
//! every path through a program, and the values are the interpreter's.

use nova_core::interpret::{Options, evaluate};
use nova_driver::{Stage, Target};
use nova_tests::inputs;
use nova_tests::programs::{Compiled, How, emit};

/// Results of a branch, where `X` comes from outside the conditional and `Y` is made next to it.
const GIVEN: [&str; 11] = [
    "X",
    "Y",
    "(update X 0 k)",
    "(update Y 0 k)",
    "[1 2 k]",
    "(concat X Y)",
    "(if (> (Y ! 0) 3) Y X)",
    "(if (> (X ! 1) k) (update X 1 k) (update Y 1 k))",
    "(give X k)",
    "(let (Z (give Y k)) in (if (> (Z ! 0) 2) Z X))",
    "(if (> k 1) (if (> (X ! 0) 2) X (give X 2)) Y)",
];

/// Further results of a branch of `f`.
const CALLS: [&str; 5] = [
    "(f X (- k 1))",
    "(f (update Y 0 k) (- k 1))",
    "(update (f X (- k 1)) 0 k)",
    "(if (> (Y ! 0) 3) (f Y (- k 1)) X)",
    "(let (Z (f X (- k 1))) in (if (> (Z ! 0) 1) Z (update X 1 (Z ! 0))))",
];

/// A function that changes its argument, and is not inlined.
const GIVE: &str = "(define
  (give (mu (g : (vector int) -> int -> (vector int))
    (lambda ((V : vector int) (k : int)) : (vector int)
      (if (<= k 0) V (let (W (g (update V 1 k) (- k 2))) in (update W 0 (+ 1 (W ! 0)))))))))\n";

fn recursions() -> String {
    let mut text = String::from(GIVE);
    let all: Vec<&str> = GIVEN.iter().chain(&CALLS).copied().collect();
    for (i, last) in GIVEN.iter().enumerate() {
        for (j, other) in all.iter().enumerate() {
            text += &format!(
                "(entry f{i}_{j} ((X : vector int) (n : int))
                  ((mu (f : (vector int) -> int -> (vector int))
                     (lambda ((X : vector int) (k : int)) : (vector int)
                       (let (Y (map (+ k) X)) in (if (<= k 0) {last} {other}))))
                   X n))\n"
            );
        }
    }
    text
}

fn loops() -> String {
    let mut text = String::from(GIVE);
    for (i, one) in GIVEN.iter().enumerate() {
        for (j, other) in GIVEN.iter().enumerate() {
            let round = format!("(let (Y (map (+ k) X)) in (if (> (X ! 0) k) {one} {other}))");
            text += &format!(
                "(entry f{i}_{j} ((X : vector int) (n : int))
                  (foldl (lambda (X k) {round}) X (range n)))
                 (entry w{i}_{j} ((X : vector int) (n : int))
                  ((while (lambda ((X, k)) (< k n)) (lambda ((X, k)) ({round}, (+ k 1))) (X, 0)).0))\n"
            );
        }
    }
    text
}

#[test]
fn references_are_balanced() {
    for text in [recursions(), loops()] {
        for target in [Target::Sequential, Target::Pthreads, Target::Cuda] {
            emit(&text, target, How::usual(true), Stage::Loop);
        }
    }
}

#[test]
fn values_do_not_depend_on_who_holds_them() {
    for text in [recursions(), loops()] {
        let compiled = Compiled::new(&text, Target::Sequential, How::usual(true));
        let program = &compiled.checked.program;
        let texts = ["[3 1 2]", "4"];
        for (entry, named) in program.entries.iter().enumerate() {
            let inputs = inputs::read(program, entry, &texts);
            let expected = evaluate(program, entry, &inputs, &Options::default());
            let expected = expected.expect("a value of the interpreter");
            let found = compiled.call(entry, &texts).expect("a value");
            assert!(
                found.same(&expected),
                "{}: {found:?}, not {expected:?}",
                named.name
            );
        }
    }
}
