//! Statements that are defined wherever they stand: no check before them has to make sure of it.

use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Expression, Statement};
use nova_flat::visit::{bodies, each_statement};
use nova_flat::{array_expressions, control_expressions};

/// Whether a statement is defined without any check before it.
pub(crate) fn is_total(statement: &Statement) -> bool {
    let mut total = is_total_expression(&statement.expression);
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |inner| {
            total &= is_total_expression(&inner.expression);
        });
    });
    total
}

/// Whether an expression, without its bodies, is defined without any check before it.
fn is_total_expression(expression: &Expression) -> bool {
    match expression {
        Expression::Atom(_)
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::Sort { .. }
        | Expression::Operation(_)
        | Expression::NodeNew { .. }
        | Expression::NodeTag { .. }
        | Expression::Trace { .. }
        | Expression::Allocate { .. }
        // Functions check for themselves.
        | Expression::Call { .. }
        | Expression::Foreign { .. }
        | control_expressions!() => true,
        Expression::Scalar {
            operation, operand, ..
        } => is_total_operation(*operation, *operand),
        Expression::Index { .. }
        | Expression::View { .. }
        | Expression::NodePayload { .. }
        | array_expressions!() => false,
    }
}

/// Whether an operation on scalars is defined for all of them.
fn is_total_operation(operation: ScalarOperation, operand: Scalar) -> bool {
    match operation {
        ScalarOperation::Divide => operand.is_float(),
        ScalarOperation::Remainder | ScalarOperation::ShiftLeft | ScalarOperation::ShiftRight => {
            false
        }
        ScalarOperation::Convert(to) => {
            let widens = operand.is_signed() == to.is_signed() && operand.bits() <= to.bits();
            to.is_float() || (operand.is_integer() && to.is_integer() && widens)
        }
        ScalarOperation::Add
        | ScalarOperation::Subtract
        | ScalarOperation::Multiply
        | ScalarOperation::Minimum
        | ScalarOperation::Maximum
        | ScalarOperation::Negate
        | ScalarOperation::Absolute
        | ScalarOperation::Sqrt
        | ScalarOperation::ReciprocalSqrt
        | ScalarOperation::Reciprocal
        | ScalarOperation::Exp
        | ScalarOperation::Exp2
        | ScalarOperation::Log
        | ScalarOperation::Log2
        | ScalarOperation::Log10
        | ScalarOperation::Sin
        | ScalarOperation::Cos
        | ScalarOperation::Tan
        | ScalarOperation::Asin
        | ScalarOperation::Acos
        | ScalarOperation::Atan
        | ScalarOperation::Sinh
        | ScalarOperation::Cosh
        | ScalarOperation::Tanh
        | ScalarOperation::Pow
        | ScalarOperation::Atan2
        | ScalarOperation::Floor
        | ScalarOperation::Ceil
        | ScalarOperation::Round
        | ScalarOperation::Truncate
        | ScalarOperation::Erf
        | ScalarOperation::Equal
        | ScalarOperation::NotEqual
        | ScalarOperation::Less
        | ScalarOperation::LessEqual
        | ScalarOperation::Greater
        | ScalarOperation::GreaterEqual
        | ScalarOperation::Not
        | ScalarOperation::BitAnd
        | ScalarOperation::BitOr
        | ScalarOperation::BitXor
        | ScalarOperation::BitNot
        | ScalarOperation::Wrap(_)
        | ScalarOperation::Fits(_) => true,
    }
}
