//! Reductions and scans whose values may be combined in any order and bracketing: operators on
//! integers, component by component.

use nova_flat::ir::{ArrayOperation, Atom, Lambda, Output};
use nova_flat::operators::{Operator, by_component};

/// For each component of a lambda's values the one that changes nothing, where the lambda combines
/// integers, each component with its like, by operators for which no order matters.
pub(super) fn identities(lambda: &Lambda) -> Option<Vec<Atom>> {
    let identity = |operator: Operator| {
        let integer = operator.identity.scalar().is_integer();
        integer.then_some(Atom::Constant(operator.identity))
    };
    by_component(lambda)?.into_iter().map(identity).collect()
}

/// For each component of a lambda's values one that changes nothing between others, where the lambda
/// combines each component with its like and values may come where there was none: where no order matters,
/// and, unless the order is strict, of floats too.
pub(super) fn neutral_values(lambda: &Lambda, strict: bool) -> Option<Vec<Atom>> {
    let neutral = |operator: Operator| match operator.bound {
        // One that is no nan, which compilers may be told not to expect.
        Some(bound) if !strict => Some(Atom::Constant(bound.farthest)),
        Some(_) | None => (operator.exact || !strict).then_some(Atom::Constant(operator.identity)),
    };
    by_component(lambda)?.into_iter().map(neutral).collect()
}

/// True if an operation has a reduction whose operator is not exact: it is fast only where many
/// values can be computed at a time.
pub(super) fn wants_lanes(operation: &ArrayOperation) -> bool {
    operation.outputs.iter().any(|output| match output {
        Output::Reduce { lambda, .. } => identities(lambda).is_none(),
        Output::Map
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
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
