//! Limits of the driver: how often passes and visits are repeated.

/// The number of times that passes run again for operations that are left to one thread. After that, one
/// thread runs the whole program.
pub(crate) const ROUNDS_OF_PROOFS: usize = 8;

/// The number of times that a function is visited for different constants. Further calls count as if the
/// constants were unknown.
pub(crate) const VISITS_OF_A_FUNCTION: usize = 64;
