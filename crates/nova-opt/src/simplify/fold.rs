//! Operations whose result is known: on constants, and with neutral operands.

use nova_core::operations::evaluate_unchecked;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::Atom;

/// Returns the atom that an operation gives, where it is known.
pub(super) fn fold(
    operation: ScalarOperation,
    operand: Scalar,
    arguments: &[Atom],
) -> Option<Atom> {
    let constants: Option<Vec<ScalarValue>> = arguments.iter().map(|a| a.as_constant()).collect();
    match constants {
        Some(values) if is_exact(operation, operand) && is_defined(operation, &values) => {
            Some(Atom::Constant(evaluate_unchecked(operation, &values, true)))
        }
        Some(_) => None,
        None => neutral(operation, operand, arguments),
    }
}

/// True if every target computes the same result for these operands.
fn is_exact(operation: ScalarOperation, operand: Scalar) -> bool {
    if !operand.is_float() {
        return true;
    }
    matches!(
        operation,
        ScalarOperation::Add
            | ScalarOperation::Subtract
            | ScalarOperation::Multiply
            | ScalarOperation::Divide
            | ScalarOperation::Negate
            | ScalarOperation::Absolute
            | ScalarOperation::Equal
            | ScalarOperation::NotEqual
            | ScalarOperation::Less
            | ScalarOperation::LessEqual
            | ScalarOperation::Greater
            | ScalarOperation::GreaterEqual
            | ScalarOperation::Convert(_)
            | ScalarOperation::Wrap(_)
            | ScalarOperation::Fits(_)
    )
}

/// True if the operation is defined for these values. Where it is not, it stands after a check that
/// fails.
fn is_defined(operation: ScalarOperation, values: &[ScalarValue]) -> bool {
    let float = values.first().is_some_and(|v| v.scalar().is_float());
    let divides = matches!(
        operation,
        ScalarOperation::Divide | ScalarOperation::Remainder
    );
    (divides && float) || nova_core::operations::failure(operation, values).is_none()
}

/// Returns the result where one operand is neutral, or both are the same integer.
fn neutral(operation: ScalarOperation, operand: Scalar, arguments: &[Atom]) -> Option<Atom> {
    let is = |atom: Atom, value: i128| {
        atom.as_constant().and_then(ScalarValue::as_integer) == Some(value)
    };
    if let [only] = arguments {
        return match operation {
            ScalarOperation::Convert(to) | ScalarOperation::Wrap(to) if to == operand => {
                Some(*only)
            }
            ScalarOperation::Fits(to) if to == operand => Some(bool_atom(true)),
            _ => None,
        };
    }
    let [left, right] = *arguments else {
        return None;
    };
    if operand.is_float() {
        return None;
    }
    match operation {
        ScalarOperation::Add if is(left, 0) => Some(right),
        ScalarOperation::Add | ScalarOperation::Subtract if is(right, 0) => Some(left),
        ScalarOperation::Subtract if left == right => Some(zero(operand)),
        ScalarOperation::Multiply if is(left, 1) => Some(right),
        ScalarOperation::Multiply | ScalarOperation::Divide if is(right, 1) => Some(left),
        ScalarOperation::Multiply if is(left, 0) || is(right, 0) => Some(zero(operand)),
        ScalarOperation::Minimum | ScalarOperation::Maximum if left == right => Some(left),
        ScalarOperation::Equal | ScalarOperation::LessEqual | ScalarOperation::GreaterEqual
            if left == right =>
        {
            Some(bool_atom(true))
        }
        ScalarOperation::NotEqual | ScalarOperation::Less | ScalarOperation::Greater
            if left == right =>
        {
            Some(bool_atom(false))
        }
        _ => None,
    }
}

fn zero(scalar: Scalar) -> Atom {
    Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0))
}

fn bool_atom(value: bool) -> Atom {
    Atom::Constant(ScalarValue::Bool(value))
}
