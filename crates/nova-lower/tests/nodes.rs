//! Tables of nodes have the same value as Core and as lowered Flat: the programs under `nodes/`, texts of
//! Core with test lines, and random data and tables of random types.
//!
//! A line `; test ENTRY INPUT | INPUT => VALUE` (or `=> error MESSAGE`) states a value.

#[path = "../../nova-flat/tests/support/lines.rs"]
mod lines;
#[path = "../../nova-core/tests/support/random_nodes.rs"]
mod random_nodes;

use lines::{inputs, programs, test_lines};
use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::ir::Program;
use nova_core::text::print_value;
use nova_core::{RuntimeError, ScalarValue, Type, Value, parse, verify};
use nova_diag::SourceMap;
use nova_flat::ir::Program as FlatProgram;
use random_nodes::Random;

type Outcome = Result<Value, RuntimeError>;

fn core(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let text: String = text
        .lines()
        .map(|line| if line.starts_with(';') { "" } else { line })
        .flat_map(|line| [line, "\n"])
        .collect();
    let file = sources.add(name, text.as_str());
    let program = parse::parse(&text, file)
        .unwrap_or_else(|diagnostics| panic!("{name}: {}", diagnostics[0].message));
    verify::verify(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
    program
}

/// Returns the program as lowered, simplified, and both with operations on nodes. All are verified.
fn lower(name: &str, core: &Program) -> Vec<FlatProgram> {
    let lowered = nova_lower::lower(core).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let mut simplified = lowered.clone();
    nova_opt::simplify::run(&mut simplified);
    let mut stages = vec![lowered, simplified];
    for k in 0..2 {
        let mut expanded = stages[k].clone();
        nova_lower::expand_tables(&mut expanded)
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        stages.push(expanded);
    }
    let mut last = stages[3].clone();
    nova_opt::simplify::run(&mut last);
    stages.push(last);
    for program in &stages {
        if let Err(error) = nova_flat::verify::verify(program) {
            panic!("{name}: {error}\n{}", nova_flat::print::print(program));
        }
    }
    stages
}

fn runtime(failure: Failure) -> RuntimeError {
    match failure {
        Failure::Runtime(error) => error,
        Failure::Internal(error) => panic!("{error}"),
    }
}

fn options() -> Options<'static> {
    Options {
        strict: true,
        ..Options::default()
    }
}

fn on_core(program: &Program, entry: usize, inputs: &[Value]) -> Outcome {
    nova_core::interpret::evaluate(program, entry, inputs, &options()).map_err(runtime)
}

fn on_flat(program: &FlatProgram, entry: usize, inputs: &[Value]) -> Outcome {
    nova_flat::interpret::evaluate(program, entry, inputs, &options()).map_err(runtime)
}

fn show(outcome: &Outcome, ty: &Type, program: &Program) -> String {
    match outcome {
        Ok(value) => print_value(value, ty, &program.sums),
        Err(error) => {
            let text = error.to_string();
            let message = text.split_once(": ").map_or(&*text, |(_, message)| message);
            format!("error {message}")
        }
    }
}

/// Runs every test line of a program, and returns their number.
fn run(name: &str, text: &str) -> usize {
    let program = core(name, text);
    let lowered = lower(name, &program);
    let mut count = 0;
    for (left, expected) in test_lines(text) {
        let (entry, values) = left.split_once(' ').unwrap_or((left, ""));
        let entry = program.entries.iter().position(|e| *e.name == *entry);
        let entry = entry.unwrap_or_else(|| panic!("{name}: {left}"));
        let types = program.entries[entry].inputs.iter();
        let types = types.map(|input| &program.variable(*input).ty);
        let inputs = inputs(types, &program.sums, values);
        let ty = &program.expression(program.entries[entry].body).ty;
        let reference = on_core(&program, entry, &inputs);
        assert_eq!(show(&reference, ty, &program), expected, "{name}: {left}");
        for flat in &lowered {
            let outcome = on_flat(flat, entry, &inputs);
            assert_eq!(show(&outcome, ty, &program), expected, "{name}: {left}");
        }
        count += 1;
    }
    count
}

#[test]
fn programs_mean_the_same() {
    let programs = programs("tests/nodes");
    let count: usize = programs.iter().map(|(name, text)| run(name, text)).sum();
    assert!(count > 40, "{count}");
}

/// Values must be equal. Any of several errors may be reported.
fn same(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Ok(a), Ok(b)) => a.same(b),
        (Err(a), Err(b)) => a.kind == b.kind && a.place == b.place,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

#[test]
fn random_tables_mean_the_same() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let program = random.program();
        let lowered = lower(&format!("seed {seed}"), &program);
        let root = random.root(30);
        let mut runs = vec![(0, vec![root.clone()]), (2, vec![root])];
        for wrong in [0, 0, 5, 20] {
            let first = Value::Scalar(ScalarValue::I32(0));
            runs.push((1, vec![first, random.tables(wrong)]));
        }
        for (entry, inputs) in runs {
            let reference = on_core(&program, entry, &inputs);
            for (stage, flat) in lowered.iter().enumerate() {
                let outcome = on_flat(flat, entry, &inputs);
                let ty = &program.expression(program.entries[entry].body).ty;
                assert!(
                    same(&outcome, &reference),
                    "seed {seed}, entry {entry}, stage {stage}: {}\nnot {}",
                    show(&outcome, ty, &program),
                    show(&reference, ty, &program)
                );
            }
        }
    }
}
