//! Limits of the compiler: how far searches go, and how much code is written several times. They are no
//! figures of a machine ([`nova_machine`]).

/// The deepest nesting of parallelised operations: each level duplicates the code inside of it.
pub const NESTED_PARALLELISM: usize = 3;

/// The most dimensions of a map of rows, and two more for each grid of rows around it. The addresses of more are
/// products for which a proof of freedom from races is not found in time.
pub(crate) const DIMENSIONS_OF_ROWS: usize = 4;

/// Comparisons of a sort whose two sides have more operations than this are not examined for an order.
pub(crate) const OPERATIONS_OF_A_COMPARISON: usize = 256;

/// Comparisons that compare more numbers than this are not examined: all relations of the numbers are tried.
pub(crate) const NUMBERS_OF_A_COMPARISON: usize = 4;

/// The most statements of a scatter that are computed again for each of its kernels.
pub(crate) const STATEMENTS_COMPUTED_AGAIN: usize = 8;

/// The most statements that a thread of a blocked nest has for each index of a tile.
pub(crate) const STATEMENTS_OF_A_THREAD: i64 = 512;

/// The most nested definitions that are followed to find the range of an index.
pub(crate) const NESTED_DEFINITIONS: usize = 32;

/// The most statements of an element that a selection computes wherever it needs it.
pub(crate) const STATEMENTS_OF_A_SELECTED_ELEMENT: usize = 64;
