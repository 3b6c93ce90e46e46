//! What is fixed of the commands on a few elements, as many as vector registers hold: how many there
//! are, and which operations combine them. The runtime has the same numbers.

use nova_core::{Scalar, ScalarOperation};

/// How many elements [`super::Command::PaddedCopy`] and [`super::Command::TreeReduce`] are about: as many as a few
/// vector registers hold.
pub const FIXED_BLOCK: u32 = 64;

/// The square root of [`FIXED_BLOCK`]: how many rows of how many elements [`Combined::Rows`] combines.
pub const PARTIAL_LANES: u32 = 8;

/// What [`super::Command::TreeReduce`] combines into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// All elements into the first.
    One,
    /// All elements into the first [`PARTIAL_LANES`].
    Part,
    /// Each of [`PARTIAL_LANES`] rows of [`PARTIAL_LANES`] elements into one: row k into element k.
    Rows,
}

impl Combined {
    /// All of them.
    pub const ALL: [Combined; 3] = [Combined::One, Combined::Part, Combined::Rows];

    /// A short name, as the text format and the runtime write it.
    pub fn name(self) -> &'static str {
        match self {
            Combined::One => "tree",
            Combined::Part => "tree_lanes",
            Combined::Rows => "tree_rows",
        }
    }
}

/// True if [`super::Command::TreeReduce`] combines values of a type by an operation.
pub fn tree_reduces(operation: ScalarOperation, element: Scalar) -> bool {
    use ScalarOperation as O;
    element.is_float() && matches!(operation, O::Add | O::Multiply)
}

/// How many elements [`super::Command::PrefixScan`] lets run.
pub const PREFIX_WIDTH: u32 = 16;

/// True if [`super::Command::PrefixScan`] lets values of a type run by an operation: those that are known to be
/// associative. Floats may then be combined in another bracketing than from left to right.
pub fn prefix_scans(operation: ScalarOperation, element: Scalar) -> bool {
    use ScalarOperation as O;
    match operation {
        O::Add | O::Multiply | O::Minimum | O::Maximum => element != Scalar::Bool,
        O::BitAnd | O::BitOr | O::BitXor => !element.is_float(),
        _others => false,
    }
}
