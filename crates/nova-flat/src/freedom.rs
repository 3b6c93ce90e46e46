//! The bracketings that an operation permits for its values, and the values with which its chunks may
//! begin.

use crate::ir::{ArrayOperation, Bracketing, Lambda, Output};
use crate::neutral::changes_nothing;
use crate::operators::by_component;

/// The bracketings that are permitted for the values of a reduction or scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Any, and the identity of the operator is known.
    Neutral,
    /// Any.
    Any,
    /// That of docs/order.md; `neutral` tells whether the identity is known.
    Strict { neutral: bool },
}

/// Returns the bracketings that are permitted for a reduction or scan with this operator.
pub fn freedom(lambda: &Lambda, strict: bool) -> Freedom {
    match by_component(lambda) {
        Some(all) if !strict || all.iter().all(|o| o.exact) => Freedom::Neutral,
        Some(_) => Freedom::Strict { neutral: true },
        None if strict => Freedom::Strict { neutral: false },
        None => Freedom::Any,
    }
}

/// True if a reduction, scan or histogram over a space of this rank may be parallelised.
pub fn is_orderly(output: &Output, rank: usize, strict: bool) -> bool {
    match output {
        Output::Reduce {
            lambda, bracketing, ..
        } => {
            // Blocks consist of elements, not of rows.
            let any_rank = freedom(lambda, strict) == Freedom::Neutral;
            *bracketing == Bracketing::Whole && (any_rank || rank == 1)
        }
        Output::Scan { .. } => true,
        Output::Histogram { lambda, start, .. } => {
            let own = !strict && changes_nothing(lambda, start);
            own || freedom(lambda, strict) == Freedom::Neutral
        }
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
    }
}

/// The permitted starts of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alignment {
    /// Anywhere.
    Free,
    /// The start of a block of docs/order.md.
    Block,
    /// The start of a subtree of blocks. Starts are a power of two many blocks apart.
    Subtree,
}

/// Returns the permitted starts of the chunks of an operation.
pub fn alignment(operation: &ArrayOperation, strict: bool) -> Alignment {
    let of_output = |output: &Output| match output {
        Output::Reduce { lambda, .. } => match freedom(lambda, strict) {
            Freedom::Strict { .. } => Alignment::Subtree,
            Freedom::Neutral | Freedom::Any => Alignment::Free,
        },
        Output::Scan { lambda, .. } => match freedom(lambda, strict) {
            Freedom::Strict { .. } => Alignment::Block,
            Freedom::Neutral | Freedom::Any => Alignment::Free,
        },
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => Alignment::Free,
    };
    let all = operation.outputs.iter().map(of_output);
    all.max().unwrap_or(Alignment::Free)
}

/// True if chunks of an operation may be empty, and begin anywhere.
pub fn is_free(operation: &ArrayOperation, strict: bool) -> bool {
    operation.outputs.iter().all(|output| match output {
        Output::Reduce { lambda, .. } | Output::Scan { lambda, .. } => {
            freedom(lambda, strict) == Freedom::Neutral
        }
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
        // Each chunk has bins of its own.
        Output::Histogram { .. } => false,
    })
}

/// True if no bracketing makes a difference, so that chunks need not be those that the sizes determine.
pub fn is_exact(operation: &ArrayOperation) -> bool {
    let is_exact = |lambda: &Lambda| {
        let operators = by_component(lambda);
        operators.is_some_and(|all| all.iter().all(|operator| operator.exact))
    };
    operation.outputs.iter().all(|output| match output {
        Output::Reduce { lambda, .. }
        | Output::Scan { lambda, .. }
        | Output::Histogram { lambda, .. } => is_exact(lambda),
        Output::Map
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
    })
}
