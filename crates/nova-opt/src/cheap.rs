//! Expressions that cost less than memory: reads of elements and a few operations on numbers.

use nova_flat::ir::Expression;
use nova_flat::{array_expressions, call_expressions, control_expressions, node_expressions};
use nova_machine::cost::is_simple;

/// True if computing an expression again costs less than keeping its value in memory.
pub fn is_cheap(expression: &Expression) -> bool {
    match expression {
        Expression::Atom(_) | Expression::Index { .. } | Expression::View { .. } => true,
        Expression::Scalar {
            operation, operand, ..
        } => is_simple(*operation, *operand),
        Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::NodeTag { .. }
        | Expression::MaySplit
        | Expression::Allocate { .. }
        | Expression::Unique(_)
        | Expression::Sort { .. }
        | Expression::SortKeys { .. }
        | Expression::Operation(_)
        | array_expressions!()
        | control_expressions!()
        | call_expressions!()
        | node_expressions!() => false,
    }
}
