//! Reads and describes programs of Flat and Mem, for the tests of Flat and of the later crates.

mod lines;

pub use lines::{inputs, programs, test_lines};

use nova_core::Value;
use nova_core::error::Failure;
use nova_core::text::print_value;
use nova_diag::SourceMap;
use nova_flat::ir::Program;

/// Reads a program of Flat or Mem.
pub fn read(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    nova_flat::parse::parse(text, file).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// Returns the inputs of the first entry of a program.
pub fn inputs_of(program: &Program, text: &str) -> Vec<Value> {
    let types = program.entries[0].inputs.iter().map(|(_, ty)| ty);
    inputs(types, &program.sums, text)
}

/// Returns a value or error of the first entry as the right side of a test line.
pub fn outcome(program: &Program, result: Result<Value, Failure>) -> String {
    match result {
        Ok(value) => print_value(&value, &program.entries[0].result, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {}", error.kind.info().word),
        Err(Failure::Internal(error)) => format!("internal {error}"),
    }
}

/// True if an outcome is the expected one. The text of `internal` errors is not compared.
pub fn agrees(found: &str, expected: &str) -> bool {
    found == expected || (expected == "internal" && found.starts_with("internal "))
}
