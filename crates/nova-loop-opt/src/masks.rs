//! Masks: numbers that are 1 or 0, for lanes that take part and others, and for iterations.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::Expression;

/// The type of the elements of masks: 1 in the lanes that take part, 0 in the others. It is as wide as most
/// numbers, so that vectors of both have the same lanes.
pub(crate) const MASK: Scalar = Scalar::I32;

/// Returns a constant of the type of masks.
pub(crate) fn number(value: i32) -> Expression {
    Expression::Constant(ScalarValue::I32(value))
}

/// Returns 1 or 0 for a bool.
pub(crate) fn flag(condition: Expression) -> Expression {
    Expression::Select {
        condition: Box::new(condition),
        then: Box::new(number(1)),
        otherwise: Box::new(number(0)),
    }
}

/// Returns 1 or 0 for a bool whose parts are all defined. C compilers make branches of conditional parts.
pub(crate) fn total_flag(condition: Expression) -> Expression {
    use ScalarOperation::{BitAnd, BitOr, Convert};
    match condition {
        Expression::Select {
            condition,
            then,
            otherwise,
        } if is_bool(&then, true) => {
            let parts = [*condition, *otherwise].map(|part| deep(|| total_flag(part)));
            let [one, other] = parts;
            on_masks(BitOr, one, other)
        }
        Expression::Select {
            condition,
            then,
            otherwise,
        } if is_bool(&otherwise, false) => {
            let parts = [*condition, *then].map(|part| deep(|| total_flag(part)));
            let [one, other] = parts;
            on_masks(BitAnd, one, other)
        }
        condition => Expression::Scalar {
            operation: Convert(MASK),
            operand: Scalar::Bool,
            arguments: vec![condition],
        },
    }
}

fn is_bool(expression: &Expression, value: bool) -> bool {
    matches!(expression, Expression::Constant(ScalarValue::Bool(known)) if *known == value)
}

/// Returns an operation on elements of masks.
pub(crate) fn on_masks(
    operation: ScalarOperation,
    left: Expression,
    right: Expression,
) -> Expression {
    Expression::Scalar {
        operation,
        operand: MASK,
        arguments: vec![left, right],
    }
}
