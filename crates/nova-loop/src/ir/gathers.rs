//! Commands that prepare a loop over [`GATHER_WIDTH`] elements. They copy into local arrays the elements
//! that the loop would read with a stride or at indices, and check the bounds of indices in memory.
//! Compilers generate slower code for loops that do this themselves. The runtime has the same number.

use super::{Expression, Variable};
use nova_core::Scalar;

/// The number of elements of such a loop: one vector register of the smaller element types.
pub const GATHER_WIDTH: u32 = 16;

/// The number of rows of [`Gather::Rows`].
pub const GATHERED_ROWS: u32 = 32;

/// A command that prepares a loop over [`GATHER_WIDTH`] elements.
#[derive(Clone, Debug)]
pub enum Gather {
    /// Copies [`GATHER_WIDTH`] elements, `stride` elements apart, to an array that does not overlap. The
    /// elements between them are not read.
    Strided {
        to: Expression,
        from: Expression,
        element: Scalar,
        stride: u32,
    },
    /// Assigns a bool: true if one of [`GATHER_WIDTH`] indices, which lie `stride` elements apart, is
    /// negative or not less than `limit`, a `u64`.
    Precheck {
        outside: Variable,
        indices: Expression,
        index: Scalar,
        stride: u32,
        limit: Expression,
    },
    /// Copies the elements of an array at [`GATHER_WIDTH`] indices, which lie `stride` elements apart, to
    /// an array that does not overlap. All indices are known to lie in the array.
    Indexed {
        to: Expression,
        from: Expression,
        element: Scalar,
        indices: Expression,
        index: Scalar,
        stride: u32,
    },
    /// Copies the first `count` elements of [`GATHERED_ROWS`] rows, which lie `stride` elements apart, to an
    /// array that does not overlap. Element k of row r becomes element r + k [`GATHERED_ROWS`].
    Rows {
        to: Expression,
        from: Expression,
        element: Scalar,
        stride: Expression,
        count: Expression,
    },
}

/// True if [`Gather::Strided`] and [`Gather::Rows`] support elements of a type.
pub fn gathers_strided(element: Scalar) -> bool {
    matches!(element.bits(), 32 | 64)
}

/// True if [`Gather::Precheck`] and [`Gather::Indexed`] support indices of a type.
pub fn indexes_gathers(index: Scalar) -> bool {
    matches!(index, Scalar::I32 | Scalar::I64)
}

/// True if [`Gather::Indexed`] supports elements of a type.
pub fn gathers_indexed(element: Scalar) -> bool {
    matches!(
        element,
        Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::I64
    )
}
