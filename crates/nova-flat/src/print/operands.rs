//! The text of operands and types.

use crate::ir::{Atom, Program, Type, Variable};
use nova_core::forms::write::{is_symbolic, numbered, print_constant};
use std::fmt::Write;

/// Returns the text of an atom, as in [`super::print()`].
pub fn print_atom(program: &Program, atom: Atom) -> String {
    match atom {
        Atom::Variable(variable) => print_variable(program, variable),
        Atom::Constant(value) => print_constant(value),
    }
}

/// Returns the text of a variable: its number after its name, in which characters that cannot be parsed
/// are replaced.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let info = program.variables.get(variable.index());
    let name = info.map_or("", |info| &info.name);
    numbered(name, variable.0, is_symbolic)
}

/// Returns the text of a type.
pub fn print_type(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.info().short.to_string(),
        Type::Array(scalar, shape) => {
            let mut out = String::new();
            for extent in shape {
                let _ = write!(out, "[{}]", print_atom(program, *extent));
            }
            out + scalar.info().short
        }
        Type::Block(scalar) => format!("(block {})", scalar.info().short),
    }
}
