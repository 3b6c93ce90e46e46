//! Reductions and scans whose values may be combined in any order and bracketing. Their operators
//! combine integers component by component.

use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Lambda, Output, Statement};
use nova_flat::operators::{Operator, by_component};
use nova_flat::visit::bodies;

/// Returns for each component of a lambda's values the identity of its operator. The lambda must
/// combine integers, component by component, by operators for which no order matters.
pub(super) fn identities(lambda: &Lambda) -> Option<Vec<Atom>> {
    let identity = |operator: Operator| {
        let integer = operator.identity.scalar().is_integer();
        integer.then_some(Atom::Constant(operator.identity))
    };
    by_component(lambda)?.into_iter().map(identity).collect()
}

/// Returns for each component of a lambda's values a value that changes nothing between others. The
/// lambda must combine its values component by component, by operators for which no order matters.
/// Unless the order is strict, operators on floats are allowed too.
pub(super) fn neutral_values(lambda: &Lambda, strict: bool) -> Option<Vec<Atom>> {
    let neutral = |operator: Operator| match operator.bound {
        // The value is no NaN, because compilers may be told not to expect one.
        Some(bound) if !strict => Some(Atom::Constant(bound.farthest)),
        Some(_) | None => (operator.exact || !strict).then_some(Atom::Constant(operator.identity)),
    };
    by_component(lambda)?.into_iter().map(neutral).collect()
}

/// True if an operation has a reduction whose operator is not exact. It is fast only where many
/// values can be computed at a time.
pub(super) fn wants_lanes(operation: &ArrayOperation) -> bool {
    operation.outputs.iter().any(|output| match output {
        Output::Reduce { lambda, .. } => identities(lambda).is_none(),
        _ => false,
    })
}

/// True if an operation has an output for which values are computed one at a time.
pub(super) fn is_sequential(operation: &ArrayOperation) -> bool {
    operation.outputs.iter().any(|output| match output {
        Output::Map | Output::Reduce { .. } => false,
        Output::Scatter { positions, .. } => positions.are_given(),
        Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
    })
}

/// True if another operation combines its elements in order, and this one is a map whose elements are computed by
/// loops in loops. Processors take the elements of such a map in lanes, if nothing is combined beside. An array
/// costs little beside such loops.
pub(super) fn keeps_from_lanes(nest: &ArrayOperation, other: &ArrayOperation) -> bool {
    let is_map = |output: &Output| matches!(output, Output::Map);
    let is_nest = |operation: &ArrayOperation| {
        operation.carries.is_empty()
            && operation.outputs.iter().all(is_map)
            && nested_loops(&operation.body) > 1
    };
    is_nest(nest) && !other.outputs.iter().all(is_map)
}

/// Returns the depth of the loops in a body.
fn nested_loops(body: &Body) -> usize {
    let depth = |statement: &Statement| {
        let mut inside = 0;
        bodies(&statement.expression, &mut |inner| {
            inside = inside.max(deep(|| nested_loops(inner)));
        });
        match statement.expression {
            Expression::Operation(_) | Expression::While { .. } => inside + 1,
            _others => inside,
        }
    };
    body.statements.iter().map(depth).max().unwrap_or(0)
}
