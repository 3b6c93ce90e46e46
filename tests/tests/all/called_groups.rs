//! Tests of functions whose operations work-groups would share, called by threads of kernels. One
//! thread then runs the whole function, without the barriers and the memory of a group. Each form
//! that has groups is called from each place where threads call. The functions are not inlined,
//! since they are long or call themselves.

use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::programs::{How, compare, emit, integers};

/// Operations that are parallelised for groups, as a number computed from `k` and `X`.
const FORMS: [(&str, &str); 6] = [
    (
        "bins",
        "(let (b (histogram ^ k 8 (map (& 7) X) X)) in (+ (b ! 2) (b ! 5)))",
    ),
    (
        "unknown bins",
        "(let (n (+ 1 (& k 7))) (b (histogram + 1 n (map (& 7) X) X)) in (b ! (- n 1)))",
    ),
    (
        "scan",
        "(let (s (scan + k X)) (n (length X)) in (if (> n 0) (- (s ! (- n 1)) (s ! (/ n 2))) k))",
    ),
    (
        "filter",
        "(let (s (filter (> k) X)) (n (length s)) in (if (> n 0) (+ n (s ! (/ n 2))) k))",
    ),
    (
        "groups",
        "(reduce + k (map_workgroup
            (lambda (z)
              (let (r ((to_local (map_local (+ k))) z))
                   (t ((to_local (map_local (lambda (i) (- (r ! (- 3 i)) i)))) (range 4)))
                in (- (* 3 (t ! 0)) (t ! 2))))
            (split 4 (slice 0 1 (& (length X) -4) X))))",
    ),
    (
        "groups in a loop",
        "(reduce + k (map_workgroup
            (lambda (z)
              (let (r (iterate (& k 3)
                        (lambda (v) ((to_local (map_local (lambda (i) (+ i (v ! (- 3 i)))))) (range 4)))
                        ((to_local (map_local (+ 1))) z)))
                in (+ (r ! 1) (r ! 2))))
            (split 4 (slice 0 1 (& (length X) -4) X))))",
    ),
];

/// Places where threads call a function of a number and an array.
const CALLERS: [&str; 3] = [
    "(map (lambda (k) (F (& k 63) X)) X)",
    "(filter (lambda (k) (> (& (F (& k 63) X) 3) 1)) X)",
    "(map (lambda (k) (reduce + 0 (map (lambda (j) (F (& j 15) X)) (range (& k 3))))) X)",
];

/// Returns a function that is not inlined because it is long.
fn long(form: &str) -> String {
    let steps = (1..40).map(|n| format!("(a{n} (^ (* a{} {}) {n}))", n - 1, 2 * n + 1));
    let steps: String = steps.collect();
    format!("(long (lambda (k X) (let (a0 k) {steps} in (+ a39 {form}))))")
}

/// Returns a function that calls itself, and not last.
fn recursive(form: &str) -> String {
    format!("(recursive (lambda (k X) (if (> k 9) (+ 1 (recursive (- k 10) X)) {form})))")
}

fn program(form: &str) -> String {
    let mut text = format!("(define {} {})", long(form), recursive(form));
    for function in ["long", "recursive"] {
        for (k, caller) in CALLERS.iter().enumerate() {
            let value = caller.replace('F', function);
            text += &format!("\n(entry {function}_{k} ((X : vector int)) {value})");
        }
    }
    text
}

fn small() -> How {
    How {
        strict: false,
        parallelism: Some(Parallelism::SMALL),
    }
}

#[test]
fn a_thread_runs_functions_with_groups_alone() {
    for (name, form) in FORMS {
        println!("{name}");
        compare(&program(form), small(), &[0, 1, 7, 40].map(integers));
    }
}

#[test]
fn the_functions_have_groups() {
    for target in [Target::OpenCl, Target::Cuda] {
        for (name, form) in FORMS {
            let text = format!(
                "(define {}) ((k : int) (X : vector int)) (long k X)",
                long(form)
            );
            let code = emit(&text, target, small(), Stage::Loop);
            let found = code.contains(" block ") && code.contains("(barrier");
            assert!(found, "{name} for {target}: {code}");
        }
    }
}
