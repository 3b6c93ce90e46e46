//! A program as Core and at several stages of Flat, which must have the same values.
//!
//! A line `; test ENTRY INPUT | INPUT => VALUE` (or `=> error MESSAGE`) states a value.

use crate::lines::{inputs, test_lines};
use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::ir::Program;
use nova_core::text::print_value;
use nova_core::{RuntimeError, Type, Value};
use nova_flat::ir::Program as FlatProgram;

pub type Outcome = Result<Value, RuntimeError>;

/// A program of Core, and the programs of Flat that it becomes.
pub struct Stages {
    name: String,
    core: Program,
    stages: Vec<(&'static str, FlatProgram)>,
}

impl Stages {
    /// Returns the stages of a program. All are verified.
    pub fn new(name: &str, core: Program, stages: Vec<(&'static str, FlatProgram)>) -> Stages {
        for (stage, program) in &stages {
            if let Err(error) = nova_flat::verify::verify(program) {
                let program = nova_flat::print::print(program);
                panic!("{name}, {stage}: {error}\n{program}");
            }
        }
        let name = name.to_owned();
        Stages { name, core, stages }
    }

    /// Runs an entry at each stage. Each outcome must be the `same` as that of Core. Returns Core's
    /// outcome as text.
    pub fn run(
        &self,
        entry: usize,
        inputs: &[Value],
        same: fn(&Outcome, &Outcome) -> bool,
    ) -> String {
        let options = Options {
            strict: true,
            ..Options::default()
        };
        let name = &self.name;
        let reference = nova_core::interpret::evaluate(&self.core, entry, inputs, &options);
        let reference = reference.map_err(runtime);
        let expected = self.show(entry, &reference);
        for (stage, flat) in &self.stages {
            let outcome = nova_flat::interpret::evaluate(flat, entry, inputs, &options);
            let outcome = outcome.map_err(runtime);
            assert!(
                same(&outcome, &reference),
                "{name}, {stage}, entry {entry}: {}\nnot {expected}\n{outcome:?}",
                self.show(entry, &outcome)
            );
        }
        expected
    }

    /// Runs every test line of the program's text, and returns their number.
    pub fn run_lines(&self, text: &str) -> usize {
        let (name, core) = (&self.name, &self.core);
        let mut count = 0;
        for (left, expected) in test_lines(text) {
            let (entry, values) = left.split_once(' ').unwrap_or((left, ""));
            let entry = core.entries.iter().position(|e| *e.name == *entry);
            let entry = entry.unwrap_or_else(|| panic!("{name}: {left}"));
            let types = core.entries[entry].inputs.iter();
            let types = types.map(|input| &core.variable(*input).ty);
            let inputs = inputs(types, &core.sums, values);
            assert_eq!(self.run(entry, &inputs, same), expected, "{name}: {left}");
            count += 1;
        }
        count
    }

    fn show(&self, entry: usize, outcome: &Outcome) -> String {
        let ty: &Type = &self.core.expression(self.core.entries[entry].body).ty;
        match outcome {
            Ok(value) => print_value(value, ty, &self.core.sums),
            Err(error) => {
                let text = error.to_string();
                let message = text.split_once(": ").map_or(&*text, |(_, message)| message);
                format!("error {message}")
            }
        }
    }
}

/// Returns the run-time error that a failure must be.
fn runtime(failure: Failure) -> RuntimeError {
    match failure {
        Failure::Runtime(error) => error,
        Failure::Internal(error) => panic!("{error}"),
    }
}

/// Values and errors are equal, with the places of the errors.
fn same(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Ok(a), Ok(b)) => a.same(b),
        (Err(a), Err(b)) => a == b,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}
