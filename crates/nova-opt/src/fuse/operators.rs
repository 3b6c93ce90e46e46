//! Reductions and scans whose values may be combined in any order and bracketing. Their operators
//! combine integers component by component.

use nova_flat::ir::{ArrayOperation, Atom, Lambda, Output};
use nova_flat::operators::{Operator, by_component};

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
