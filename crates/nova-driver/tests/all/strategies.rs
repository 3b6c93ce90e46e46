//! Strategies from the source to the end of the pipeline: where they may stand, their effect at
//! every level of optimisation, and the report about them.

use nova_driver::code::Code;
use nova_driver::error::Failure;
use nova_driver::{Compiler, Options, Source, Target, pipeline};
use nova_flat::ir::{Body, Expression, Level, Program};
use nova_flat::visit::{bodies, strategy_of};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the messages about a program, none where it has no errors.
fn messages(text: &str, target: Target) -> String {
    let compiler = Compiler::new(Options {
        target,
        ..Options::default()
    });
    match compiler.check(Source::text("p", text)) {
        Ok(_) => String::new(),
        Err(Failure::Program(report)) => report.to_text(),
        Err(other) => panic!("{text}: {other:?}"),
    }
}

/// Programs that no target can honour, and parts of the messages about them.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "((X : vector int)) (map_local (+ 1) X)",
        &["N0402", "`map_local` cannot stand here", "no `map_workgroup` around it"],
    ),
    (
        "((X : vector int)) (map_global (lambda (r) (map_local (+ 1) r)) (split 2 X))",
        &["`map_local` cannot stand inside `map_global`", "this `map_global`"],
    ),
    (
        "((X : vector int)) (map_workgroup (lambda (r) (map_global (+ 1) r)) (split 2 X))",
        &["`map_global` cannot stand inside `map_workgroup`", "only its own work-items"],
    ),
    (
        "((X : vector int)) (map_workgroup (lambda (r) (map_workgroup (+ 1) r)) (split 2 X))",
        &["`map_workgroup` cannot stand inside `map_workgroup`"],
    ),
    // Through a function, a conditional, a loop, and maps without strategy.
    (
        "((X : vector int))
         (define (f (lambda (x) (if (> x 0) then (reduce + 0 (map_workgroup (* x) X)) else x))))
         (map_workgroup (lambda (r) (map_local (lambda (x) (iterate 3 f x)) r)) (split 2 X))",
        &["`map_workgroup` cannot stand inside `map_local`", "a work-item cannot start work-groups"],
    ),
    (
        "((X : vector int))
         (map_global (lambda (r) (reduce + 0 (map (lambda (x) (reduce + x (map_global (+ 1) X))) r)))
           (split 2 X))",
        &["`map_global` cannot stand inside `map_global`"],
    ),
    // Through a function that is a value.
    (
        "((X : vector int) (c : bool))
         (let (f (if c (map_local (+ 1)) (map_seq (+ 2)))) in (map_global f (split 2 X)))",
        &["`map_local` cannot stand inside `map_global`"],
    ),
    (
        "((X : vector int)) (define (twice (lambda (f x) (f (f x)))))
         (map_workgroup (lambda (r) (twice (map_global (+ 1)) r))
           (split 2 (twice (map_seq (+ 2)) X)))",
        &["`map_global` cannot stand inside `map_workgroup`"],
    ),
    (
        "((X : vector int)) ((to_local (map_seq (+ 1))) X)",
        &["this result cannot lie in local memory", "that of a work-group"],
    ),
    (
        "((X : vector int)) (map_workgroup (to_private (map_local (+ 1))) (split 2 X))",
        &["this result cannot lie in private memory", "several make this result"],
    ),
];

#[test]
fn what_no_target_can_honour_is_refused() {
    for (text, parts) in REFUSED {
        for target in [Target::Sequential, Target::Pthreads, Target::OpenCl] {
            let found = messages(text, target);
            for part in *parts {
                assert!(found.contains(part), "{text}\nwithout {part}:\n{found}");
            }
        }
    }
}

#[test]
fn what_nests_as_it_should_is_accepted() {
    let accepted = [
        "((X : vector int)) (map (lambda (r) (map_global (+ 1) r)) (split 2 X))",
        "((X : vector int)) (map_seq (lambda (r) (map_workgroup (+ 1) r)) (split 2 X))",
        "((X : vector int)) (map_workgroup (lambda (r) (map_seq (lambda (s) (map_local (+ 1) s))
           (split 1 r))) (split 2 X))",
        "((X : vector int)) (map_workgroup (lambda (r) (map_local (lambda (x)
           (reduce_seq + x (to_private (map_seq (+ 1)) r))) r)) (split 2 X))",
        "((X : vector int)) ((to_private (reduce_seq + 0)) X)",
        // The same function in two places, one after the other.
        "((X : vector int)) (define (f (map_workgroup (+ 1)))) (f (f X))",
        // The same higher-order function, with other arguments.
        "((X : vector int)) (define (twice (lambda (f x) (f (f x)))))
         (map_workgroup (lambda (r) (twice (map_local (+ 1)) r))
           (split 2 (twice (map_global (+ 2)) X)))",
        // Unused code is not checked.
        "((X : vector int)) (define (f (lambda (x) (map_local (+ 1) [x])))) (map_seq (+ 1) X)",
    ];
    for text in accepted {
        assert_eq!(messages(text, Target::Pthreads), "", "{text}");
        // Work-items have private memory, the host has none.
        if !text.contains("to_private") {
            assert_eq!(messages(text, Target::OpenCl), "", "{text}");
        }
    }
}

#[test]
fn a_device_has_no_private_memory_outside_of_its_work_items() {
    let text = "((X : vector int)) ((to_private (reduce_seq + 0)) X)";
    let found = messages(text, Target::OpenCl);
    assert!(found.contains("none runs this on the target"), "{found}");
    let text = "((X : vector vector int)) (map_global (to_private (reduce_seq + 0)) X)";
    let found = messages(text, Target::OpenCl);
    assert!(!found.contains("N0402"), "{found}");
}

/// Counts how often an operation with each strategy is reached from the entries, by the strategies
/// around it. No pass may change this. Calls are followed.
fn marks(program: &Program) -> BTreeMap<Vec<String>, usize> {
    fn walk(
        program: &Program,
        body: &Body,
        around: &mut Vec<String>,
        found: &mut BTreeMap<Vec<String>, usize>,
    ) {
        for statement in &body.statements {
            if let Expression::Call { function, .. } = &statement.expression {
                walk(program, &program.function(*function).body, around, found);
            }
            let strategy = strategy_of(&statement.expression);
            if let Some(strategy) = strategy {
                around.push(format!("{} {strategy:?}", statement.place));
                *found.entry(around.clone()).or_default() += 1;
            }
            bodies(&statement.expression, &mut |inner| {
                walk(program, inner, around, found);
            });
            if strategy.is_some() {
                around.pop();
            }
        }
    }
    let mut found = BTreeMap::new();
    for entry in &program.entries {
        let body = &program.function(entry.function).body;
        walk(program, body, &mut Vec::new(), &mut found);
    }
    found
}

/// Asserts that every global and work-group map is a grid where threads run the program, and none
/// elsewhere.
fn grids(program: &Program, expected: bool) {
    for function in &program.functions {
        nova_flat::visit::each_statement(&function.body, &mut |statement| {
            if let Expression::Operation(operation) = &statement.expression
                && let Some(strategy) = operation.strategy
            {
                use nova_core::strategy::Level as By;
                let many = matches!(strategy.level, By::Global | By::Workgroup);
                assert_eq!(operation.level == Level::Grid, many && expected);
            }
        });
    }
}

#[test]
fn they_bind_at_every_level() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples/strategies");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "nova") {
            continue;
        }
        let targets = [Target::Sequential, Target::Pthreads, Target::OpenCl];
        for (optimization, target) in (0..=3).flat_map(|o| targets.map(|target| (o, target))) {
            let options = Options {
                optimization,
                target,
                verify: true,
                ..Options::default()
            };
            let compiler = Compiler::new(options.clone());
            let checked = compiler.check(Source::File(path.clone())).unwrap();
            let mut program = nova_lower::lower(&checked.program).unwrap();
            let before = marks(&program);
            assert!(!before.is_empty(), "{}", path.display());
            pipeline::optimise(&mut program, &options, |_, _| Ok(())).unwrap();
            assert_eq!(marks(&program), before, "{} {options:?}", path.display());
            grids(&program, target != Target::Sequential);
            let mem = pipeline::place(&program, &options, |_, _| Ok(())).unwrap();
            assert_eq!(marks(&mem), before, "{} in Mem", path.display());
            let code = Code::Core(checked.program.clone());
            let mut trace = pipeline::Trace::default();
            pipeline::run(code, "p", nova_driver::Stage::C, &options, &mut trace).unwrap();
            count += 1;
        }
    }
    assert!(count >= 6 * 12);
}

#[test]
fn the_report_uses_their_words() {
    let text = "((X : vector int)) (map_workgroup (lambda (r)
        (reduce_seq + 0 ((to_local (map_local (* 2))) r))) (split 4 X))";
    for (target, order, local) in [
        (Target::Sequential, "in order", "in order"),
        (Target::Pthreads, "shared among threads", "in order"),
        (
            Target::OpenCl,
            "shared among work-groups",
            "shared among the work-items of a group",
        ),
    ] {
        let compiler = Compiler::new(Options {
            target,
            ..Options::default()
        });
        let mut checked = compiler.check(Source::text("p", text)).unwrap();
        let report = compiler.explain(&mut checked).unwrap();
        for part in [
            &format!("{order} (map_workgroup): map") as &str,
            &format!("a loop of 4 iterations, {local} (map_local to_local): map"),
            "a loop of 4 iterations, in order (reduce_seq)",
            "because one of them carries a strategy",
        ] {
            assert!(report.contains(part), "{part}\n{report}");
        }
        assert!(!report.contains("not parallelised"), "{report}");
    }
}

#[test]
fn what_the_compiler_chooses_for_a_device_is_said_in_their_words() {
    let text = "((X : vector float)) (map (lambda (x) (foldl + x X)) X)";
    let compiler = Compiler::new(Options {
        target: Target::OpenCl,
        ..Options::default()
    });
    let mut checked = compiler.check(Source::text("p", text)).unwrap();
    let report = compiler.explain(&mut checked).unwrap();
    for part in ["parallelised (map_global): map", "in order (reduce_seq)"] {
        assert!(report.contains(part), "{part}\n{report}");
    }
}
