//! The kinds of operations, by their outputs and bodies.

use crate::ir::{ArrayOperation, Body, Expression, Output};
use crate::visit::each_statement;

/// True if an operation only makes arrays, with an element or a row of each at every index.
pub fn makes_apart(operation: &ArrayOperation) -> bool {
    let apart = |output: &Output| matches!(output, Output::Map | Output::Join { .. });
    operation.carries.is_empty() && operation.outputs.iter().all(apart)
}

/// True if an operation only makes arrays, with an element of each at every index.
pub fn is_map(operation: &ArrayOperation) -> bool {
    let maps = |output: &Output| matches!(output, Output::Map);
    operation.carries.is_empty() && operation.outputs.iter().all(maps)
}

/// True if an output is a scan: then chunks depend on the values of those before them.
pub fn is_scan(output: &Output) -> bool {
    matches!(output, Output::Scan { .. })
}

/// True if a body only computes numbers, reads arrays and checks.
pub fn computes_numbers(body: &Body) -> bool {
    is_every_expression(body, |expression| match expression {
        Expression::Atom(_)
        | Expression::Scalar { .. }
        | Expression::Index { .. }
        | Expression::View { .. }
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::If { .. }
        | Expression::Switch { .. } => true,
        _makes_more => false,
    })
}

/// True if `holds` is true for each expression of a body and of the bodies in it.
pub fn is_every_expression(body: &Body, holds: impl Fn(&Expression) -> bool) -> bool {
    let mut all = true;
    each_statement(body, &mut |statement| all &= holds(&statement.expression));
    all
}
