//! Numbers that choose between forms of lowered code.

/// The greatest distance of a rotation whose elements near the ends are told apart from the others. Loops
/// are split at as many iterations.
pub(crate) const NEAR_ROTATION: u64 = 2;
