//! What prepares a round, a loop over [`ROUND`] elements: what it would read with gaps or at indices
//! is put into local arrays first, and indices are checked where they lie, since compilers make
//! slower code of such loops. The runtime has the same number.

use super::{Expression, Variable};
use nova_core::Scalar;

/// How many elements a round has: a vector register of the smaller numbers.
pub const ROUND: u32 = 16;

/// A command that prepares a round.
#[derive(Clone, Debug)]
pub enum Round {
    /// Copies [`ROUND`] elements, each `stride` behind the one before, to a place that does not
    /// overlap. What lies between them is not read.
    Stride {
        to: Expression,
        from: Expression,
        element: Scalar,
        stride: u32,
    },
    /// Whether one of [`ROUND`] indices, each `stride` behind the one before, is negative or not less
    /// than `limit`, a `u64`: assigns a bool.
    Outside {
        outside: Variable,
        indices: Expression,
        index: Scalar,
        stride: u32,
        limit: Expression,
    },
    /// Writes the elements of an array at [`ROUND`] indices, each `stride` behind the one before, to
    /// a place that does not overlap. All are known to lie in the array.
    Gather {
        to: Expression,
        from: Expression,
        element: Scalar,
        indices: Expression,
        index: Scalar,
        stride: u32,
    },
}

/// Whether elements of a type are copied with gaps between them.
pub fn strides_few(element: Scalar) -> bool {
    matches!(element.bits(), 32 | 64)
}

/// Whether integers of a type are indices of elements that are read at once.
pub fn indexes_few(index: Scalar) -> bool {
    matches!(index, Scalar::I32 | Scalar::I64)
}

/// Whether elements of a type are read at several indices at once.
pub fn gathers_few(element: Scalar) -> bool {
    matches!(
        element,
        Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::I64
    )
}
