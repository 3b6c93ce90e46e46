//! The known operators of reductions: those that apply one operation to each component, with their
//! neutral element.

use crate::ir::{Atom, Expression, Lambda, Statement};
use nova_core::{Scalar, ScalarOperation, ScalarValue};

/// An operator on one component.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    /// The operation that it applies.
    pub operation: ScalarOperation,
    /// The neutral element: `e` with `e ⊕ x = x ⊕ e = x` to the bit, nan and -0.0 included.
    pub identity: ScalarValue,
    /// True if the result is the same in any order and bracketing.
    pub exact: bool,
    /// For a minimum or maximum of floats, the comparison that selects the result.
    pub bound: Option<Bound>,
}

/// The comparison of a minimum or maximum of floats in which no lane is nan.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The comparison of a value with that of a lane that makes the value replace it. A nan never
    /// replaces one.
    pub replaces: ScalarOperation,
    /// The value that every number replaces.
    pub farthest: ScalarValue,
}

/// Returns the operators of the components, if a lambda applies one known operation to each.
pub fn by_component(lambda: &Lambda) -> Option<Vec<Operator>> {
    let count = lambda.body.results.len();
    if lambda.parameters.len() != 2 * count || lambda.body.statements.len() != count {
        return None;
    }
    let (left, right) = lambda.parameters.split_at(count);
    let components = lambda.body.results.iter().zip(left.iter().zip(right));
    components
        .map(|(result, (left, right))| {
            let computes = |s: &&Statement| match &s.pattern[..] {
                [variable] => Atom::Variable(*variable) == *result,
                _ => false,
            };
            let statement = lambda.body.statements.iter().find(computes)?;
            let Expression::Scalar {
                operation,
                operand,
                arguments,
            } = &statement.expression
            else {
                return None;
            };
            let operands = [left, right].map(|v| Atom::Variable(*v));
            let swapped = [operands[1], operands[0]];
            let both = arguments[..] == operands || arguments[..] == swapped;
            both.then(|| known(*operation, *operand)).flatten()
        })
        .collect()
}

/// Returns the operator for an operation on values of a type.
fn known(operation: ScalarOperation, operand: Scalar) -> Option<Operator> {
    let float = operand.is_float();
    let integer = |value: i128| ScalarValue::from_integer_wrapping(operand, value);
    let floating = |value: f64| match operand {
        Scalar::F32 => ScalarValue::F32(value as f32),
        _ => ScalarValue::F64(value),
    };
    let identity = match operation {
        ScalarOperation::Add if float => floating(-0.0),
        ScalarOperation::Add | ScalarOperation::BitOr | ScalarOperation::BitXor => integer(0),
        ScalarOperation::Multiply if float => floating(1.0),
        ScalarOperation::Multiply => integer(1),
        // A nan loses against every number.
        ScalarOperation::Minimum | ScalarOperation::Maximum if float => floating(f64::NAN),
        ScalarOperation::Minimum => largest(operand)?,
        ScalarOperation::Maximum => smallest(operand)?,
        ScalarOperation::BitAnd => integer(-1),
        _ => return None,
    };
    let bounds = matches!(
        operation,
        ScalarOperation::Minimum | ScalarOperation::Maximum
    );
    Some(Operator {
        operation,
        identity,
        exact: !float || bounds,
        bound: (float && bounds).then(|| match operation {
            ScalarOperation::Minimum => Bound {
                replaces: ScalarOperation::Less,
                farthest: floating(f64::INFINITY),
            },
            _ => Bound {
                replaces: ScalarOperation::Greater,
                farthest: floating(f64::NEG_INFINITY),
            },
        }),
    })
}

/// Returns the largest value of an integer type.
pub(crate) fn largest(scalar: Scalar) -> Option<ScalarValue> {
    let bits = scalar.is_integer().then(|| scalar.bits())?;
    let value = (1i128 << (bits - u32::from(scalar.is_signed()))) - 1;
    Some(ScalarValue::from_integer_wrapping(scalar, value))
}

/// Returns the smallest value of an integer type.
pub(crate) fn smallest(scalar: Scalar) -> Option<ScalarValue> {
    let bits = scalar.is_integer().then(|| scalar.bits())?;
    let value = match scalar.is_signed() {
        true => -(1i128 << (bits - 1)),
        false => 0,
    };
    Some(ScalarValue::from_integer_wrapping(scalar, value))
}
