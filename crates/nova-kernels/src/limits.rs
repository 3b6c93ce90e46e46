//! Limits of the passes: how far they search. They are no figures of a machine ([`nova_machine`]).

/// The number of times that functions are split anew because pointers were found whose allocation begins a
/// basic block.
pub(crate) const SPLIT_ATTEMPTS: usize = 8;
