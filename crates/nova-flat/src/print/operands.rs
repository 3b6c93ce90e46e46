//! The text of operands and types.

use crate::ir::{Atom, Program, Type, Variable};
use nova_core::{ScalarValue, Type as CoreType};
use nova_diag::deep;
use std::fmt::Write;

/// The text of an atom, as in [`super::print()`].
pub fn print_atom(program: &Program, atom: Atom) -> String {
    match atom {
        Atom::Variable(variable) => print_variable(program, variable),
        Atom::Constant(value) => print_constant(value),
    }
}

/// The text of a variable: its name with what could not be read back replaced, and its number.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let name = match program.variables.get(variable.0 as usize) {
        Some(info) => &*info.name,
        None => "",
    };
    let safe = |c: char| !c.is_whitespace() && !c.is_control() && !"()[],:;\"'.|#@".contains(c);
    let name: String = name
        .chars()
        .map(|c| if safe(c) { c } else { '-' })
        .collect();
    let digit_first = name
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    let prefix = if digit_first { "v" } else { "" };
    format!("{prefix}{name}_{}", variable.0)
}

/// The text of a type.
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

fn print_constant(value: ScalarValue) -> String {
    fn float(value: f64, text: String, suffix: &str, short: &str) -> String {
        if value.is_nan() {
            format!("nan.{short}")
        } else if value.is_infinite() {
            format!("{}inf.{short}", if value < 0.0 { "-" } else { "" })
        } else {
            text + suffix
        }
    }
    match value {
        ScalarValue::I64(v) => v.to_string(),
        ScalarValue::I8(v) => format!("{v}i8"),
        ScalarValue::I16(v) => format!("{v}i16"),
        ScalarValue::I32(v) => format!("{v}i32"),
        ScalarValue::U8(v) => format!("{v}u8"),
        ScalarValue::U16(v) => format!("{v}u16"),
        ScalarValue::U32(v) => format!("{v}u32"),
        ScalarValue::U64(v) => format!("{v}u64"),
        ScalarValue::F32(v) => float(f64::from(v), format!("{v:?}"), "f", "f32"),
        ScalarValue::F64(v) => float(v, format!("{v:?}"), "L", "f64"),
        ScalarValue::Bool(v) => v.to_string(),
    }
}

/// The text of a type of Core.
pub fn print_core_type(ty: &CoreType) -> String {
    deep(|| match ty {
        CoreType::Scalar(scalar) => scalar.info().short.to_string(),
        CoreType::Unit => "unit".to_string(),
        CoreType::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(print_core_type).collect();
            format!("(tuple {})", elements.join(" "))
        }
        CoreType::Vector(element) => format!("(vector {})", print_core_type(element)),
        CoreType::Array(rank, element) => format!("(array {rank} {})", print_core_type(element)),
        CoreType::Function(parameter, result) => {
            format!(
                "(-> {} {})",
                print_core_type(parameter),
                print_core_type(result)
            )
        }
        CoreType::Sum(id) => format!("(sum {})", id.0),
    })
}
