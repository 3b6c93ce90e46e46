//! Constants of the commands on blocks of a fixed size, which fit into vector registers: the sizes of
//! the blocks, and the operations that combine their elements. The runtime has the same numbers.

use nova_core::{Scalar, ScalarOperation};

/// The number of elements of [`super::Command::PaddedCopy`] and [`super::Command::TreeReduce`]: as many as
/// a few vector registers hold.
pub const FIXED_BLOCK: u32 = 64;

/// The square root of [`FIXED_BLOCK`]: the number of rows, and of elements in each row, that
/// [`Combined::Rows`] combines.
pub const PARTIAL_LANES: u32 = 8;

/// The results of [`super::Command::TreeReduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// All elements are combined into the first.
    One,
    /// All elements are combined into the first [`PARTIAL_LANES`].
    Lanes,
    /// Each of [`PARTIAL_LANES`] rows of [`PARTIAL_LANES`] elements is combined into one: row k into
    /// element k.
    Rows,
}

impl Combined {
    /// All variants.
    pub const ALL: [Combined; 3] = [Combined::One, Combined::Lanes, Combined::Rows];

    /// Returns the short name in the text format and in the runtime.
    pub fn name(self) -> &'static str {
        match self {
            Combined::One => "tree",
            Combined::Lanes => "tree_lanes",
            Combined::Rows => "tree_rows",
        }
    }
}

/// True if [`super::Command::TreeReduce`] supports an operation on values of a type.
pub fn tree_reduces(operation: ScalarOperation, element: Scalar) -> bool {
    use ScalarOperation as O;
    element.is_float() && matches!(operation, O::Add | O::Multiply)
}

/// The number of elements of [`super::Command::PrefixScan`].
pub const PREFIX_WIDTH: u32 = 16;

/// The number of rows of [`super::Command::MultiplyPanels`].
pub const PANEL_ROWS: u32 = 6;

/// The bytes of a row of lanes of [`super::Command::MultiplyPanels`].
const PANEL_BYTES: u32 = 128;

/// Returns the number of lanes of [`super::Command::MultiplyPanels`] for floats of a type.
pub fn panel_lanes(element: Scalar) -> u32 {
    PANEL_BYTES * 8 / element.bits()
}

/// True if [`super::Command::PrefixScan`] supports an operation on values of a type. The operation must be
/// known to be associative. Floats may then be combined in another bracketing than from left to right.
pub fn prefix_scans(operation: ScalarOperation, element: Scalar) -> bool {
    use ScalarOperation as O;
    match operation {
        O::Add | O::Multiply | O::Minimum | O::Maximum => element != Scalar::Bool,
        O::BitAnd | O::BitOr | O::BitXor => !element.is_float(),
        _others => false,
    }
}
