//! Statements that are defined anywhere in a program: they need no check before them.

use nova_flat::control_expressions;
use nova_flat::ir::{Expression, Statement};
use nova_flat::visit::{bodies, each_statement};

/// True if a statement is defined without any check before it.
pub(crate) fn is_total(statement: &Statement) -> bool {
    let mut total = is_total_expression(&statement.expression);
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |inner| {
            total &= is_total_expression(&inner.expression);
        });
    });
    total
}

/// True if an expression, without its bodies, is defined without any check before it.
pub(crate) fn is_total_expression(expression: &Expression) -> bool {
    match expression {
        Expression::Atom(_)
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::Sort { .. }
        | Expression::SortKeys { .. }
        | Expression::Operation(_)
        | Expression::NodeNew { .. }
        | Expression::NodeTag { .. }
        | Expression::MaySplit
        | Expression::Trace { .. }
        | Expression::Allocate { .. }
        | Expression::Unique(_)
        // Functions check for themselves.
        | Expression::Call { .. }
        | Expression::Foreign { .. }
        | control_expressions!() => true,
        Expression::Scalar {
            operation, operand, ..
        } => operation.is_total(*operand),
_ => false,
    }
}
