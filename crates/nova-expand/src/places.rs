//! The variables of Loop for arrays, blocks and states of the source.

use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_flat::memory::Lmad;
use nova_loop::ir::Variable;

/// An array in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The block in the source.
    pub(crate) block: flat::Variable,
    /// The pointer to address 0.
    pub(crate) pointer: Variable,
    /// The type of its elements.
    pub(crate) element: Scalar,
    /// The extents.
    pub(crate) shape: &'a [flat::Atom],
    /// The index function, which maps indices to addresses.
    pub(crate) lmad: &'a Lmad,
}

/// A block of the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The pointer to the element at address 0.
    pub(crate) pointer: Variable,
    /// Its handle.
    pub(crate) handle: Variable,
}

/// The variables of one component.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// A scalar.
    Scalar(Variable),
    /// An array, row-major from its pointer.
    Array { pointer: Variable, handle: Variable },
    /// An array that always lies in the same allocated block, so nothing is passed on.
    Placed,
}

impl State {
    /// Returns its handle.
    pub(crate) fn handle(self) -> Option<Variable> {
        match self {
            State::Scalar(_) | State::Placed => None,
            State::Array { handle, .. } => Some(handle),
        }
    }

    /// Returns its variables in the order of parameters and results.
    pub(crate) fn variables(self) -> Vec<Variable> {
        match self {
            State::Scalar(variable) => vec![variable],
            State::Array { pointer, handle } => vec![pointer, handle],
            State::Placed => Vec::new(),
        }
    }
}

/// Returns the variables of components, in order.
pub(crate) fn variables(states: &[State]) -> Vec<Variable> {
    states.iter().flat_map(|s| s.variables()).collect()
}

/// The memory of a row that is made in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing {
    /// The block of all rows.
    pub(crate) rows: flat::Variable,
    /// The number of elements of the previous rows.
    pub(crate) total: Variable,
}
