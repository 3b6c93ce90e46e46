//! Limits of the translation: how large code is that is written several times, put into one expression, or
//! looked at. They are no figures of a machine ([`nova_machine`]).

/// The maximum number of nodes of a pending term. Larger expressions become variables.
pub(crate) const NODES_OF_A_TERM: u32 = 20;

/// The maximum number of nodes of a term that is computed whether it is selected or not.
pub(crate) const NODES_OF_A_SELECTED_TERM: u32 = 12;

/// The maximum number of pending terms that read memory. Further ones make the oldest a variable.
pub(crate) const PENDING_LOADS: usize = 16;

/// The maximum number of statements of the body of a nest that is written twice.
pub(crate) const STATEMENTS_OF_A_NEST: usize = 60;

/// The maximum number of statements of a body that is written twice, for lanes and for what is left.
pub(crate) const STATEMENTS_OF_LANES: usize = 200;

/// The maximum number of statements of a body that is written once for each row of a tile.
pub(crate) const STATEMENTS_OF_A_ROW: usize = 8;

/// The maximum number of elements that are folded from left to right where rounding errors grow with them.
pub(crate) const ELEMENTS_OF_A_FOLD: i64 = 4096;

/// The maximum number of elements of an array that each element of a map makes for itself, where some are taken
/// in lockstep: those of all lanes should stay in a cache.
pub(crate) const ELEMENTS_OF_A_PRIVATE_ARRAY: i64 = 4096;

/// The maximum number of terms of an address. Longer sums are treated as unknown.
pub(crate) const TERMS_OF_AN_ADDRESS: usize = 16;

/// The longest chain of statements by which two factors of a contraction are compared.
pub(crate) const STATEMENTS_OF_A_COMPARISON: usize = 16;

/// The number of elements of a reduction of truths that are looked at one by one. Few more elements have no
/// advantage of vectors.
pub(crate) const PROBED_ELEMENTS: i64 = 8;

/// The number of elements that are then looked at before the first question whether later ones matter. It
/// doubles each time, up to [`LONGEST_STRIP`].
pub(crate) const FIRST_STRIP: i64 = 32;

/// The maximum number of elements between two such questions. The question costs nothing beside them.
pub(crate) const LONGEST_STRIP: i64 = 1024;
