//! The values of programs, as tests of the passes on Loop compare them.

use crate::programs::value_of;
use nova_core::interpret::Options;
use nova_core::text::print_value;
use nova_core::value::Elements;
use nova_core::{ScalarValue, Value};
use nova_loop::interpret::{GridOrder, evaluate_grids};
use nova_loop::ir::Program;
use std::sync::Arc;

/// Returns the value that a program computes, as text.
pub fn text_of_value(program: &Program, inputs: &[Value]) -> String {
    let value = value_of(program, inputs);
    print_value(&value, &program.entries[0].result, &program.sums)
}

/// Returns the number that a program computes from bytes.
pub fn value(program: &Program, bytes: Vec<u8>) -> ScalarValue {
    match value_of(program, &[Value::Vector(Elements::U8(Arc::new(bytes)))]) {
        Value::Scalar(value) => value,
        other => panic!("{other:?}"),
    }
}

/// Returns the outcome of a program whose grids run in an order, as text.
pub fn in_order(program: &Program, inputs: &[Value], order: GridOrder) -> String {
    let value = evaluate_grids(program, 0, inputs, &Options::default(), order);
    format!("{:?}", value.map_err(|e| e.to_string()))
}
