//! Filters on a processor have no branch for each element, which it would predict wrongly: each element is
//! stored, and the next one over it where it is not kept. What is dear to compute is computed for kept
//! elements only, and what lies beside other memory is written where something is kept alone.

use nova_core::interpret::{Options, evaluate};
use nova_driver::{Stage, Target};
use nova_tests::programs::{Compiled, How, emit, list};

/// Filters whose values are cheap.
const PLAIN: [&str; 8] = [
    "(filter (lambda (x) (> x 0.5)) X)",
    "(map (* 2.0) (filter (lambda (x) (> x 0.5)) X))",
    "(filter (lambda (x) (< x 0.7)) (filter (lambda (x) (> x 0.5)) X))",
    "(filter (lambda (x) (and (> x 0.5) (< x 0.7))) X)",
    "(filter (lambda ((x, y)) (> x y)) (zip X X))",
    "(filter (lambda (i) (> (X ! i) 0.5)) (range (length X)))",
    "(map (lambda (x) (+ (* x x) 1.0)) (filter (lambda (x) (> x 0.5)) X))",
    "(map (lambda (x) (max x 0.75)) (filter (lambda (x) (> x 0.5)) (map (* 0.5) X)))",
];

/// Filters that compute much of what they keep.
const DEAR: [&str; 2] = [
    "(map (lambda (x) (exp (sin x))) (filter (lambda (x) (> x 0.5)) X))",
    "(map (lambda (x) (pow x (log x))) (filter (lambda (x) (> x 0.5)) X))",
];

/// Whether a program has conditionals for its elements.
fn branches(value: &str) -> bool {
    let text = format!("((X : vector float)) {value}");
    let code = emit(&text, Target::Sequential, How::usual(true), Stage::Loop);
    code.contains("(if ")
}

#[test]
fn plain_filters_have_no_branches() {
    for value in PLAIN {
        assert!(!branches(value), "{value}");
    }
    for value in DEAR {
        assert!(branches(value), "{value}");
    }
}

/// What is written behind the kept elements belongs to nobody: results are those of the interpreter.
#[test]
fn nothing_is_written_beside_what_is_kept() {
    let entries = PLAIN.iter().chain(&DEAR).enumerate();
    let entries = entries.map(|(k, value)| format!("(entry f{k} ((X : vector float)) {value})"));
    let beside = "(entry beside ((X : vector float))
        (let (kept (filter (lambda (x) (> x 0.5)) X))
          in (concat (concat kept X)
               (concat (filter (lambda (x) (< x 0.25)) kept) (filter (lambda (x) (< x 0.6)) X)))))";
    let text = entries.collect::<Vec<_>>().join("\n") + beside;
    let fractions = |n: usize| list((0..n).map(|k| format!("0.{:03}", (k * 7919 + 500) % 1000)));
    let all = |x: &str, n: usize| list((0..n).map(|_| x.to_string()));
    let mut inputs: Vec<String> = [0, 1, 2, 15, 16, 17, 200].map(fractions).to_vec();
    inputs.extend([all("0.9", 33), all("0.1", 33)]);
    let sequential = Compiled::new(&text, Target::Sequential, How::usual(true));
    let threads = Compiled::new(&text, Target::Pthreads, How::usual(true));
    for (k, entry) in sequential.checked.program.entries.iter().enumerate() {
        for input in &inputs {
            let values = nova_tests::inputs::read(&sequential.checked.program, k, &[input]);
            let strict = Options {
                strict: true,
                ..Options::default()
            };
            let expected = evaluate(&sequential.checked.program, k, &values, &strict);
            let expected = expected.expect("a value");
            for compiled in [&sequential, &threads] {
                let value = compiled.call(k, &[input]).expect("a value");
                assert!(value.same(&expected), "{}: {input}", entry.name);
            }
        }
    }
}
