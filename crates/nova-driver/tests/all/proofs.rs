//! Programs whose loops have no proof of freedom from races: one thread runs them, whatever the target.

use nova_driver::{Compiler, Options, Proofs, Source, Stage, Target};

/// Loops that threads share, lanes of vectors, a filter in parts, and a map over work-groups.
const PROGRAMS: [&str; 3] = [
    "((X : vector double) (Y : vector double)) (reduce + 0.0 (map * X Y))",
    "((X : vector int)) (filter (lambda (x) (> x 3)) X)",
    "((X : vector int)) (join (map_workgroup (map_local (+ 1)) (split 4 X)))",
];

/// The targets whose loops are shared.
const TARGETS: [Target; 3] = [Target::Pthreads, Target::OpenCl, Target::Cuda];

/// A program at a stage, and the places of the loops that have no proof.
fn emit(text: &str, stage: Stage, options: Options) -> (String, Vec<String>) {
    let compiler = Compiler::new(Options {
        verify: true,
        ..options
    });
    let mut checked = compiler
        .check(Source::text("p", text))
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    let emitted = compiler
        .emit(&mut checked, stage)
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    let unproved = checked.trace.unproved.iter();
    (emitted, unproved.map(|u| u.place.to_string()).collect())
}

/// The levels of loops that several may run, in a program of Loop.
fn parallel_loops(text: &str) -> usize {
    let levels = ["grid", "block", "thread", "vector", "independent"];
    let words: Vec<&str> = text.split([' ', '\n']).collect();
    words.iter().filter(|word| levels.contains(word)).count()
}

#[test]
fn one_thread_runs_what_has_no_proof() {
    for text in PROGRAMS {
        for target in TARGETS {
            let usual = Options {
                target,
                ..Options::default()
            };
            let refused = Options {
                proofs: Proofs::Refused,
                ..usual.clone()
            };
            let (proved, unproved) = emit(text, Stage::Loop, usual);
            assert!(parallel_loops(&proved) > 0, "{target}: {proved}");
            assert!(proved.contains("(witness "), "{target}: {proved}");
            assert!(unproved.is_empty(), "{target}: {unproved:?}");
            let (sequential, unproved) = emit(text, Stage::Loop, refused);
            assert_eq!(parallel_loops(&sequential), 0, "{target}: {sequential}");
            assert!(!sequential.contains("(witness "), "{target}: {sequential}");
            assert!(!unproved.is_empty(), "{target}: {text}");
            assert!(unproved[0].starts_with("p:"), "{target}: {unproved:?}");
        }
    }
}

#[test]
fn lanes_without_a_proof_run_in_order_without_a_word() {
    let (loops, unproved) = emit(
        PROGRAMS[0],
        Stage::Loop,
        Options {
            proofs: Proofs::Refused,
            ..Options::default()
        },
    );
    assert_eq!(parallel_loops(&loops), 0, "{loops}");
    assert!(unproved.is_empty(), "{unproved:?}");
}

#[test]
fn traced_programs_keep_their_loops() {
    let (loops, unproved) = emit(
        PROGRAMS[0],
        Stage::Loop,
        Options {
            target: Target::Pthreads,
            proofs: Proofs::Refused,
            check_races: true,
            ..Options::default()
        },
    );
    assert!(parallel_loops(&loops) > 0, "{loops}");
    assert!(unproved.is_empty(), "{unproved:?}");
}
