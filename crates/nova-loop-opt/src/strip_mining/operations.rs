//! Vector instructions for expressions, and which operations are defined for all arguments.

use super::linear::Definitions;
use nova_core::ScalarOperation;
use nova_diag::deep;
use nova_loop::ir::Expression;
use nova_machine::cost::is_simple;

/// Returns the number of elements that an expression gathers, if there are vector instructions for it.
pub(super) fn vector_form(definitions: &Definitions, expression: &Expression) -> Option<i64> {
    match expression {
        Expression::Scalar {
            operation: ScalarOperation::Divide | ScalarOperation::Remainder,
            operand,
            ..
        } if !operand.is_float() => return None,
        Expression::Load { index, .. } => {
            return Some(i64::from(definitions.linear(index).is_none()));
        }
        _others => {}
    }
    let mut gathers = 0;
    for child in expression.children() {
        gathers += deep(|| vector_form(definitions, child))?;
    }
    Some(gathers)
}

/// True if an integer operation is defined because its second argument is a constant.
pub(super) fn has_safe_constant(operation: ScalarOperation, arguments: &[Expression]) -> bool {
    let [_, Expression::Constant(second)] = arguments else {
        return false;
    };
    let bits = i128::from(second.scalar().bits());
    match (operation, second.as_integer()) {
        (ScalarOperation::Divide | ScalarOperation::Remainder, Some(by)) => by > 0,
        (ScalarOperation::ShiftLeft | ScalarOperation::ShiftRight, Some(by)) => {
            (0..bits).contains(&by)
        }
        _others => false,
    }
}

/// True if an expression has a function that is a call where it has no vector instructions.
pub(super) fn has_function(value: &Expression) -> bool {
    use ScalarOperation as O;
    let itself = match value {
        Expression::Scalar {
            operation: O::Divide | O::Sqrt | O::Reciprocal | O::ReciprocalSqrt,
            ..
        } => false,
        Expression::Scalar {
            operation, operand, ..
        } => !is_simple(*operation, *operand),
        _others => false,
    };
    itself
        || value
            .children()
            .into_iter()
            .any(|e| deep(|| has_function(e)))
}
