//! Limits of the compiler: how far searches go, and how much code is written several times. They are no
//! figures of a machine ([`nova_machine`]).

/// The number of steps of a loop that one pass over an array takes: more need more registers than there are.
pub(crate) const STEPS_OF_A_BLOCK: usize = 4;

/// The most statements of a loop that takes several steps at once, with its slices.
pub(crate) const STATEMENTS_OF_A_BLOCK: usize = 300;

/// The same where steps change a trailing part, which has strips.
pub(crate) const STATEMENTS_OF_TRAILING_STEPS: usize = 400;

/// The most elements of a table of gathers: four megabytes of floats.
pub(crate) const ELEMENTS_OF_A_GATHER_TABLE: i64 = 1 << 20;

/// The most statements of a loop that is copied for a table of gathers.
pub(crate) const STATEMENTS_WITH_A_TABLE: usize = 150;

/// The most operations that compute an index of a table from an element.
pub(crate) const OPERATIONS_OF_AN_INDEX: usize = 8;

/// The most nested operations that are followed to find what a number depends on.
pub(crate) const NESTED_OPERATIONS: usize = 6;

/// The fewest columns of a matrix in a vector, if their number is a constant: shorter loops cost more than divisions by
/// a constant.
pub(crate) const SHORTEST_ROW: i128 = 16;

/// The most matrices that a version with rows assumes.
pub(crate) const EXTENTS_OF_A_VERSION: usize = 3;

/// The most statements of a function that are copied for versions with rows.
pub(crate) const STATEMENTS_WITH_ROWS: usize = 400;

/// The numbers of elements in the last dimension of an array that a version of a loop assumes, if it reads so many.
pub(crate) const LAST_EXTENTS: std::ops::RangeInclusive<usize> = 2..=4;

/// The most extents that a version of a loop assumes.
pub(crate) const VERSIONED_EXTENTS: usize = 4;

/// The most statements of a function that are copied for extents that agree.
pub(crate) const STATEMENTS_OF_AGREEING_EXTENTS: usize = 300;

/// The most iterations of a loop that becomes straight-line code.
pub(crate) const ITERATIONS_UNROLLED: usize = 8;

/// The most statements of a loop that has become straight-line code.
pub(crate) const STATEMENTS_UNROLLED: usize = 300;

/// The most iterations of a loop that becomes straight-line code whatever it computes.
pub(crate) const ITERATIONS_OF_A_TINY_LOOP: usize = 4;

/// The most that is added to an index of which few are assumed.
pub(crate) const MOST_ADDED: i128 = 1 << 20;

/// The most elements of a matrix in a vector: positions in the rows around it are `int`s.
pub(crate) const MOST_ELEMENTS: i64 = 1 << 29;

/// The most that is added to the row of an element so that its position still fits.
pub(crate) const ROWS_AROUND: i128 = 2;
