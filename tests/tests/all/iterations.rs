//! Tests of loops whose iterations map their state in place, whoever runs the map: no iteration
//! makes an array. Iterations that read other elements than they write make one.

use nova_core::interpret::{Options, evaluate};
use nova_driver::{Stage, Target};
use nova_tests::programs::{Compiled, How, emit};

/// Iterations that read each element where they write it.
const IN_PLACE: [&str; 4] = [
    "(iterate 5 (lambda (v) (map (lambda (x) (+ (* x 0.5) 1.0)) v)) X)",
    "(foldl (lambda (v k) (map (lambda (x) (- x k)) v)) X [1.0 2.0 3.0])",
    "(foldl (lambda (v k) (imap (lambda (i) (* (v ! i) (to_float i))) v)) X (range 4))",
    "(iterate 5 (lambda (v) (map (lambda (x) (if (> x 1.0) (- x 1.0) (* 2.0 x))) v)) X)",
];

/// Iterations that read other elements, or all of them.
const ELSEWHERE: [&str; 3] = [
    "(iterate 5 (lambda (v) (imap (lambda (i) (+ (v ! i) (v ! (max 0 (- i 1))))) v)) X)",
    "(iterate 5 (lambda (v) (map (+ (reduce max 0.0 v)) v)) X)",
    "(iterate 5 reverse X)",
];

/// Returns the text of the loop over iterations in Loop.
fn iteration_loop(value: &str, target: Target) -> String {
    let text = format!("((X : vector float)) {value}");
    let code = emit(&text, target, How::usual(true), Stage::Loop);
    let start = code
        .find("(for ")
        .unwrap_or_else(|| panic!("no loop: {code}"));
    code[start..].to_string()
}

#[test]
fn iterations_of_maps_make_no_array() {
    for target in [
        Target::Sequential,
        Target::Pthreads,
        Target::Cuda,
        Target::OpenCl,
    ] {
        for value in IN_PLACE {
            let code = iteration_loop(value, target);
            assert!(!code.contains("(allocate "), "{target:?} {value}\n{code}");
        }
    }
    let stencil = iteration_loop(ELSEWHERE[0], Target::Pthreads);
    assert!(stencil.contains("(allocate "), "{stencil}");
}

#[test]
fn results_are_those_of_the_interpreter() {
    let all = IN_PLACE.iter().chain(&ELSEWHERE).enumerate();
    let entries = all.map(|(k, value)| format!("(entry f{k} ((X : vector float)) {value})"));
    let text = entries.collect::<Vec<_>>().join("\n");
    let list = |n: usize| {
        let numbers: Vec<String> = (0..n).map(|k| format!("{}.25", k % 7)).collect();
        format!("[{}]", numbers.join(" "))
    };
    for target in [Target::Sequential, Target::Pthreads] {
        let compiled = Compiled::new(&text, target, How::usual(true));
        let program = &compiled.checked.program;
        for k in 0..program.entries.len() {
            for n in [0, 1, 2, 1000, 70_000] {
                let input = list(n);
                let values = nova_tests::inputs::read(program, k, &[&input]);
                let strict = Options {
                    strict: true,
                    ..Options::default()
                };
                let expected = evaluate(program, k, &values, &strict).expect("a value");
                let value = compiled.call(k, &[&input]).expect("a value");
                assert!(
                    value.same(&expected),
                    "{target:?} {} of {n}",
                    program.entries[k].name
                );
            }
        }
    }
}
