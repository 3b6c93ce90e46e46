//! Limits of the passes: how far they search, and how long the code is that they copy or make. They are no
//! figures of a machine ([`nova_machine`]).

/// The approximate limit on the number of statements of a function. Longer ones are split, and no function
/// that is called once is inlined where the two together are longer.
pub(crate) const STATEMENTS_OF_A_FUNCTION: usize = 1000;

/// The longest function that is inlined whatever the budget.
pub(crate) const STATEMENTS_OF_A_TINY_FUNCTION: usize = 6;

/// The largest number of statements before the conditionals of a function that becomes a loop. Each occurs
/// three times in the result.
pub(crate) const STATEMENTS_BEFORE_A_TAIL_CALL: usize = 64;

/// The largest number of statements of a function that loops for other extents are copied with.
pub(crate) const STATEMENTS_OF_VERSIONS: usize = 300;

/// The number of times that `simplify` does both of its walks.
pub(crate) const WALKS_OF_SIMPLIFY: usize = 2;

/// The maximum number of views that one read is followed through. It keeps the work linear in the size of
/// the program where views of views are nested deeply.
pub(crate) const VIEWS_OF_A_READ: usize = 16;

/// The largest number of inequalities in a condition.
pub(crate) const INEQUALITIES_OF_A_CONDITION: usize = 16;

/// The number of pairs of conditions that do not hold both that are looked at again: the newest.
pub(crate) const OPEN_CONDITIONS: usize = 8;

/// The number of bounds of a result that are tried on the other branch's. The result itself counts.
pub(crate) const BOUNDS_OF_A_RESULT: usize = 7;

/// The number of statements that an operation looks back for a partner to be merged with.
pub(crate) const STATEMENTS_LOOKED_BACK: usize = 64;

/// The largest number of statements of a merged operation. C compilers take long over long functions, and
/// so would merging.
pub(crate) const STATEMENTS_OF_A_MERGED_OPERATION: usize = 400;

/// The largest number of statements of an element that several readers may each compute.
pub(crate) const STATEMENTS_OF_A_REPEATED_ELEMENT: usize = 8;

/// The largest number of statements of an element that its only reader computes.
pub(crate) const STATEMENTS_OF_AN_ELEMENT: usize = 200;

/// The largest number of sums in a position.
pub(crate) const SUMS_OF_A_POSITION: u32 = 8;

/// The largest number of statements that compute a length. Other lengths are found while the rows are made.
pub(crate) const STATEMENTS_OF_A_LENGTH: usize = 24;

/// The largest number of statements before the elements of a row. Nests with more are left as they are.
pub(crate) const STATEMENTS_BEFORE_A_ROW: usize = 8;
