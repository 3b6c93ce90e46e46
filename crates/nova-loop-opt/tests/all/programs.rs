//! Programs of Loop, as tests of the passes on Loop read, run and compare them.

use nova_core::interpret::Options;
use nova_core::value::Elements;
use nova_core::{ScalarValue, Value};
use nova_diag::SourceMap;
use nova_loop::ir::Program;
use nova_loop::print::print;
use std::sync::Arc;

/// Reads a program, which may be invalid.
pub fn parsed(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("program", text);
    let program = nova_loop::parse::parse(text, file);
    program.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Checks that a program is valid.
pub fn verified(program: &Program) {
    if let Err(errors) = nova_loop::verify(program) {
        panic!("{errors:#?}\n{}", print(program));
    }
}

/// Reads a program, which must be valid.
pub fn read(text: &str) -> Program {
    let program = parsed(text);
    verified(&program);
    program
}

/// Returns a program after a pass, which must be valid, and its text, which must read back.
pub fn after(before: &Program, pass: fn(&mut Program)) -> (Program, String) {
    let mut after = before.clone();
    pass(&mut after);
    verified(&after);
    let text = print(&after);
    assert_eq!(print(&read(&text)), text);
    (after, text)
}

/// Returns the value that a program computes.
pub fn value_of(program: &Program, inputs: &[Value]) -> Value {
    let found = nova_loop::interpret::evaluate(program, 0, inputs, &Options::default());
    found.unwrap_or_else(|error| panic!("{error:?}\n{}", print(program)))
}

/// Returns a vector of floats.
pub fn floats(elements: impl Iterator<Item = f32>) -> Value {
    Value::Vector(Elements::F32(Arc::new(elements.collect())))
}

/// Returns the bits of the float that a program computes from floats.
pub fn bits(program: &Program, elements: impl Iterator<Item = f32>) -> u32 {
    match value_of(program, &[floats(elements)]) {
        Value::Scalar(ScalarValue::F32(value)) => value.to_bits(),
        other => panic!("{other:?}"),
    }
}
