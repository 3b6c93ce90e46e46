//! What prepares a round, a loop over [`GATHER_WIDTH`] elements: what it would read with gaps or at indices
//! is put into local arrays first, and indices are checked where they lie, since compilers make
//! slower code of such loops. The runtime has the same number.

use super::{Expression, Variable};
use nova_core::Scalar;

/// The number of elements a round has: a vector register of the smaller numbers.
pub const GATHER_WIDTH: u32 = 16;

/// A command that prepares a round.
#[derive(Clone, Debug)]
pub enum Gather {
    /// Copies [`GATHER_WIDTH`] elements, each `stride` behind the one before, to a place that does not
    /// overlap. What lies between them is not read.
    Strided {
        to: Expression,
        from: Expression,
        element: Scalar,
        stride: u32,
    },
    /// True if one of [`GATHER_WIDTH`] indices, each `stride` behind the one before, is negative or not less
    /// than `limit`, a `u64`: assigns a bool.
    Precheck {
        outside: Variable,
        indices: Expression,
        index: Scalar,
        stride: u32,
        limit: Expression,
    },
    /// Writes the elements of an array at [`GATHER_WIDTH`] indices, each `stride` behind the one before, to
    /// a place that does not overlap. All are known to lie in the array.
    Indexed {
        to: Expression,
        from: Expression,
        element: Scalar,
        indices: Expression,
        index: Scalar,
        stride: u32,
    },
}

/// True if elements of a type are copied with gaps between them.
pub fn gathers_strided(element: Scalar) -> bool {
    matches!(element.bits(), 32 | 64)
}

/// True if integers of a type are indices of elements that are read at once.
pub fn indexes_gathers(index: Scalar) -> bool {
    matches!(index, Scalar::I32 | Scalar::I64)
}

/// True if elements of a type are read at several indices at once.
pub fn gathers_indexed(element: Scalar) -> bool {
    matches!(
        element,
        Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::I64
    )
}
