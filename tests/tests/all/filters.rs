//! Tests of filters in sequential C. They have no branch for each element, which a processor would
//! predict wrongly: each element is stored, and the next one overwrites it unless it survives.
//! Expensive values are computed only for survivors. A result inside of other memory is written
//! only where an element survives.

use nova_core::interpret::{Options, evaluate};
use nova_driver::{Source, Stage, Target};
use nova_tests::programs::{Compiled, How, emit, list};
use std::collections::BTreeSet;

/// Filters whose values are cheap.
const PLAIN: [&str; 10] = [
    "(filter (lambda (x) (> x 0.5)) X)",
    "(map (* 2.0) (filter (lambda (x) (> x 0.5)) X))",
    "(filter (lambda (x) (< x 0.7)) (filter (lambda (x) (> x 0.5)) X))",
    "(filter (lambda (x) (and (> x 0.5) (< x 0.7))) X)",
    "(filter (lambda ((x, y)) (> x y)) (zip X X))",
    "(filter (lambda (i) (> (X ! i) 0.5)) (range (length X)))",
    "(map (lambda (i) (X ! i)) (filter (lambda (i) (> (X ! i) 0.5)) (range (length X))))",
    "(map (lambda (i) (* 2.0 (X ! i)))
       (filter (lambda (i) (and (> (X ! i) 0.5) (< (X ! i) 0.7))) (range (length X))))",
    "(map (lambda (x) (+ (* x x) 1.0)) (filter (lambda (x) (> x 0.5)) X))",
    "(map (lambda (x) (max x 0.75)) (filter (lambda (x) (> x 0.5)) (map (* 0.5) X)))",
];

/// Filters whose values are expensive.
const EXPENSIVE: [&str; 2] = [
    "(map (lambda (x) (exp (sin x))) (filter (lambda (x) (> x 0.5)) X))",
    "(map (lambda (x) (pow x (log x))) (filter (lambda (x) (> x 0.5)) X))",
];

/// Consumers of filter survivors that need no array of them. The flag is true if they need none in
/// the strict order either, where sums of floats depend on the positions of their terms.
const CONSUMED: [(&str, bool); 9] = [
    ("(length (filter (> 0.5) X))", true),
    ("(reduce max 0.0 (filter (> 0.5) X))", true),
    ("(reduce min 9.0 (map (* 2.0) (filter (> 0.5) X)))", true),
    ("(foldl + 0.0 (filter (> 0.5) X))", true),
    (
        "(foldl (lambda (s x) (if (> x 0.3) (- x s) (+ s 1.0))) 0.0 (filter (> 0.5) X))",
        true,
    ),
    (
        "(foldl (lambda ((s, n) x) ((+ s (* x n)), (+ n 1.0))) (0.0, 1.0)
            (filter (> 0.5) (filter (< 0.125) X)))",
        true,
    ),
    (
        "(let (k (filter (> 3.5) X)) in (histogram + 0 4 (map to_int k) (map (lambda (x) 1) k)))",
        true,
    ),
    ("(reduce + 0.0 (filter (> 0.5) X))", false),
    (
        "(reduce + 0.0 (map (lambda (x) (* x x)) (filter (> 0.5) X)))",
        false,
    ),
];

/// A consumer of filter survivors that are also a result.
const BOTH: &str =
    "(let (kept (filter (> 0.5) X)) in ((reduce + 0.0 kept), (foldl + 0.0 kept), kept))";

/// True if a program makes an array of the survivors.
fn stores_survivors(value: &str, strict: bool) -> bool {
    let text = format!("((X : vector float)) {value}");
    let code = emit(&text, Target::Sequential, How::usual(strict), Stage::Flat);
    // A filter that only counts makes no array.
    code.replace("(filter 0)", "").contains("(filter ")
}

#[test]
fn consumers_of_survivors_need_no_array() {
    for (value, strictly) in CONSUMED {
        assert!(!stores_survivors(value, false), "{value}");
        assert_eq!(stores_survivors(value, true), !strictly, "{value}");
    }
    assert!(stores_survivors(BOTH, false));
}

/// True if a program has conditionals for its elements.
fn branches(value: &str) -> bool {
    let text = format!("((X : vector float)) {value}");
    let compiler = nova_driver::Compiler::new(nova_driver::Options {
        target: Target::Sequential,
        strict: true,
        // Strips of a filter have conditionals for numbers of survivors.
        disabled: BTreeSet::from(["strip-mining".to_string()]),
        ..nova_driver::Options::default()
    });
    let mut checked = compiler
        .check(Source::text("filter", &text))
        .expect("a program");
    let code = compiler.emit(&mut checked, Stage::Loop).expect("loops");
    code.contains("(if ")
}

#[test]
fn plain_filters_have_no_branches() {
    for value in PLAIN {
        assert!(!branches(value), "{value}");
    }
    for value in EXPENSIVE {
        assert!(branches(value), "{value}");
    }
}

/// The memory after the survivors is not used, and code in the loop of a filter gets only
/// survivors.
#[test]
fn results_are_those_of_the_interpreter() {
    let consumed = CONSUMED.map(|(value, _)| value);
    let all = PLAIN
        .iter()
        .chain(&EXPENSIVE)
        .chain(&consumed)
        .chain([&BOTH]);
    let entries = all.enumerate();
    let entries = entries.map(|(k, value)| format!("(entry f{k} ((X : vector float)) {value})"));
    let beside = "(entry beside ((X : vector float))
        (let (kept (filter (lambda (x) (> x 0.5)) X))
          in (concat (concat kept X)
               (concat (filter (lambda (x) (< x 0.25)) kept) (filter (lambda (x) (< x 0.6)) X)))))";
    let text = entries.collect::<Vec<_>>().join("\n") + beside;
    let fractions = |n: usize| list((0..n).map(|k| format!("0.{:03}", (k * 7919 + 500) % 1000)));
    let same = |x: &str, n: usize| list((0..n).map(|_| x.to_string()));
    let mut inputs: Vec<String> = [0, 1, 2, 15, 16, 17, 200].map(fractions).to_vec();
    inputs.extend([
        same("0.9", 33),
        same("0.1", 33),
        "[nan 0.9 -0.0 inf 3.0]".to_string(),
    ]);
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
