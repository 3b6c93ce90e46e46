//! The values of programs of NOVA under `programs/` are the same as Core, as lowered Flat, and after
//! each pass. This includes errors and their places.
//!
//! A line `; test ENTRY INPUT | INPUT => VALUE` (or `=> error MESSAGE`) states a value.

#[path = "../../nova-flat/tests/support/lines.rs"]
mod lines;

use lines::{inputs, programs, test_lines};
use nova_core::RuntimeError;
use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::ir::Program;
use nova_core::text::print_value;
use nova_core::{Type, Value};
use nova_diag::SourceMap;
use nova_flat::ir::Program as FlatProgram;

type Outcome = Result<Value, RuntimeError>;

fn core(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.nova"), text);
    let (tree, diagnostics) = nova_syntax::parse(text, file, &mut sources, name);
    assert!(
        !nova_syntax::has_errors(&diagnostics),
        "{name}: {diagnostics:#?}"
    );
    let checked = nova_infer::infer(&tree, &sources);
    checked
        .program
        .unwrap_or_else(|| panic!("{name}: {:#?}", checked.diagnostics))
}

/// Returns the program as lowered, and after the passes.
fn stages(name: &str, core: &Program) -> Vec<(&'static str, FlatProgram)> {
    let lowered = nova_lower::lower(core).unwrap();
    let mut tail_calls = lowered.clone();
    nova_opt::tail_calls::run(&mut tail_calls);
    let mut simplified = lowered.clone();
    nova_opt::simplify::run(&mut simplified);
    let mut all = simplified.clone();
    nova_opt::tail_calls::run(&mut all);
    nova_opt::outline::run(&mut all);
    let stages = vec![
        ("lowered", lowered),
        ("tail calls", tail_calls),
        ("simplified", simplified),
        ("all passes", all),
    ];
    for (stage, program) in &stages {
        if let Err(error) = nova_flat::verify::verify(program) {
            panic!("{name}, {stage}: {error}");
        }
    }
    stages
}

fn on_flat(program: &FlatProgram, entry: usize, inputs: &[Value], options: &Options) -> Outcome {
    nova_flat::interpret::evaluate(program, entry, inputs, options).map_err(runtime)
}

/// Returns the run-time error that a failure must be.
fn runtime(failure: Failure) -> RuntimeError {
    match failure {
        Failure::Runtime(error) => error,
        Failure::Internal(error) => panic!("{error}"),
    }
}

fn same(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Ok(a), Ok(b)) => a.same(b),
        (Err(a), Err(b)) => a == b,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
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
    let stages = stages(name, &program);
    let options = Options {
        strict: true,
        ..Options::default()
    };
    let mut count = 0;
    for (left, expected) in test_lines(text) {
        let (entry, values) = left.split_once(' ').unwrap_or((left, ""));
        let entry = program.entries.iter().position(|e| *e.name == *entry);
        let entry = entry.unwrap_or_else(|| panic!("{name}: {left}"));
        let types = program.entries[entry].inputs.iter();
        let types = types.map(|input| &program.variable(*input).ty);
        let inputs = inputs(types, &program.sums, values);
        let ty = &program.expression(program.entries[entry].body).ty;
        let reference =
            nova_core::interpret::evaluate(&program, entry, &inputs, &options).map_err(runtime);
        assert_eq!(show(&reference, ty, &program), expected, "{name}: {left}");
        for (stage, flat) in &stages {
            let outcome = on_flat(flat, entry, &inputs, &options);
            let shown = show(&outcome, ty, &program);
            assert!(
                same(&outcome, &reference),
                "{name}, {stage}: {left}: {shown}, {outcome:?}"
            );
        }
        count += 1;
    }
    count
}

#[test]
fn programs_mean_the_same_at_every_stage() {
    let programs = programs("tests/programs");
    let count: usize = programs.iter().map(|(name, text)| run(name, text)).sum();
    assert!(count > 100);
}
