//! Reading and running programs of Flat, for the tests of passes on Flat.

use nova_core::Value;
use nova_core::interpret::Options;
use nova_core::text::{print_value, read_value};
use nova_diag::SourceMap;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::print::print;

/// Reads a program, which must be valid.
pub fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("test.flat", text);
    let program = parse(text, file).unwrap_or_else(|errors| panic!("{errors:#?}"));
    nova_flat::verify::verify(&program).unwrap();
    program
}

/// Returns the value for inputs, or the error's word.
pub fn value(program: &Program, inputs: &[&str]) -> String {
    value_with(program, inputs, &Options::default())
}

/// Returns the value for inputs under these options, or the error's word.
pub fn value_with(program: &Program, inputs: &[&str], options: &Options) -> String {
    let entry = &program.entries[0];
    let values: Vec<Value> = inputs
        .iter()
        .zip(&entry.inputs)
        .map(|(text, (_, ty))| read_value(text, ty, &program.sums).unwrap())
        .collect();
    match nova_flat::interpret::evaluate(program, 0, &values, options) {
        Ok(value) => print_value(&value, &entry.result, &program.sums),
        Err(nova_core::error::Failure::Runtime(error)) => error.kind.info().word.to_string(),
        Err(nova_core::error::Failure::Internal(error)) => panic!("{error}\n{}", print(program)),
    }
}

/// Runs a pass on a program and checks that the result is valid.
pub fn apply(pass: impl FnOnce(&mut Program), program: &mut Program) {
    pass(program);
    if let Err(error) = nova_flat::verify::verify(program) {
        panic!("{error}\n{}", print(program));
    }
}
