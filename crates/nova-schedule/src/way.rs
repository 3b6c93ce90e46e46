//! The way in which an operation becomes a grid.

use nova_flat::ir::ArrayOperation;

/// The way in which an operation becomes a grid.
pub(crate) struct Way {
    /// A copy of the operation, without outputs, whose inner operations are parallelised.
    pub(crate) inside: Option<ArrayOperation>,
    /// True if the body is so cheap that it may be computed twice.
    pub(crate) twice: bool,
}
