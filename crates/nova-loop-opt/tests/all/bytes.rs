//! Functions that read and run programs of Loop from bytes to a number, for tests of passes on Loop.

use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::value::Elements;
use nova_core::{ScalarValue, Value};
use nova_diag::SourceMap;
use nova_loop::ir::Program;
use std::sync::Arc;

/// Reads a program, which must be valid.
pub fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("bytes", text);
    let program = nova_loop::parse::parse(text, file);
    let program = program.unwrap_or_else(|errors| panic!("{errors:#?}"));
    if let Err(errors) = nova_loop::verify(&program) {
        panic!("{errors:#?}");
    }
    program
}

/// Returns the number that a program computes from bytes.
pub fn value(program: &Program, bytes: Vec<u8>) -> ScalarValue {
    let inputs = [Value::Vector(Elements::U8(Arc::new(bytes)))];
    match nova_loop::interpret::evaluate(program, 0, &inputs, &Options::default()) {
        Ok(Value::Scalar(value)) => value,
        Ok(other) => panic!("{other:?}"),
        Err(Failure::Runtime(error)) => panic!("{error:?}"),
        Err(Failure::Internal(error)) => panic!("{error}"),
    }
}
