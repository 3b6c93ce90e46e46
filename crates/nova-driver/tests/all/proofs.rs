//! Programs whose loops have no proof of freedom from races. One thread runs these loops, whatever
//! the target, and no others.

use nova_driver::{Compiler, Options, Proofs, Source, Stage, Target};

/// Loops that threads share, lanes of vectors, a filter in chunks, and a map over work-groups.
const PROGRAMS: [&str; 3] = [
    "((X : vector double) (Y : vector double)) (reduce + 0.0 (map * X Y))",
    "((X : vector int)) (filter (lambda (x) (> x 3)) X)",
    "((X : vector int)) (join (map_workgroup (map_local (+ 1)) (split 4 X)))",
];

/// The targets whose loops run in parallel.
const TARGETS: [Target; 3] = [Target::Pthreads, Target::OpenCl, Target::Cuda];

/// Returns a program at a stage, and the places of the loops that have no proof.
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

/// Counts the loops in a program of Loop that have a parallel level.
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

/// Two entries, and an operation inside of another one, each in a line of its own.
const LINES: &str = "(entry f ((X : vector int)) (map (* 3) X))
(entry g ((X : vector int)) (filter (lambda (x) (> x 3)) X))
(entry h ((R : vector (vector int)))
  (map
    (lambda (r)
      (filter (lambda (x) (> x 0)) r)) R))
(entry k ((X : vector int))
  (join
    (map_workgroup
      (map_local (+ 1))
      (split 4 X))))
";

/// Returns the lines of the loops at the level of a grid or of a block.
fn lines_of_grids(text: &str) -> Vec<u32> {
    let mut lines: Vec<u32> = text
        .lines()
        .filter(|line| {
            line.contains("(for ") && (line.contains(" grid ") || line.contains(" block "))
        })
        .filter_map(|line| line.split("\"p:").nth(1)?.split(':').next()?.parse().ok())
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn what_has_a_proof_stays_with_many() {
    for target in TARGETS {
        let usual = Options {
            target,
            ..Options::default()
        };
        let (all, _) = emit(LINES, Stage::Loop, usual.clone());
        let all = lines_of_grids(&all);
        for line in [1, 2, 4, 6] {
            let refused = Options {
                proofs: Proofs::RefusedIn(line),
                ..usual.clone()
            };
            let (loops, unproved) = emit(LINES, Stage::Loop, refused.clone());
            let expected: Vec<u32> = all.iter().copied().filter(|l| *l != line).collect();
            assert_eq!(lines_of_grids(&loops), expected, "{target} {line}: {loops}");
            let of_line = format!("p:{line}:");
            assert_eq!(
                unproved.is_empty(),
                !all.contains(&line),
                "{target} {line}: {unproved:?}"
            );
            assert!(unproved.iter().all(|place| place.starts_with(&of_line)));
            // Earlier stages, the report and the manifest agree.
            let compiler = Compiler::new(refused);
            let checked = || compiler.check(Source::text("p", LINES)).expect("a program");
            let report = compiler.explain(&mut checked()).expect("a report");
            let files = compiler.compile(&mut checked()).expect("its files").files;
            for place in &unproved {
                assert!(
                    report.contains(&format!("{place}: one thread runs it")),
                    "{report}"
                );
                assert!(
                    report.contains("not parallelised: it could not be proved"),
                    "{report}"
                );
                assert!(files.manifest.contains(&format!("\"place\": \"{place}\"")));
            }
            assert_eq!(files.manifest.contains("\"reason\""), !unproved.is_empty());
        }
    }
}

#[test]
fn a_group_whose_threads_have_no_proof_runs_alone() {
    for target in [Target::OpenCl, Target::Cuda] {
        let options = Options {
            target,
            proofs: Proofs::RefusedIn(10),
            ..Options::default()
        };
        let (loops, unproved) = emit(LINES, Stage::Loop, options);
        assert!(!unproved.is_empty(), "{target}");
        let lines = lines_of_grids(&loops);
        assert!(
            !lines.contains(&9) && lines.contains(&1),
            "{target}: {loops}"
        );
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
