//! Integers as sums of multiples of symbols. Symbols are variables of the program. An integer that is computed
//! from others in another way is a symbol of its own.

use nova_flat::ir::Variable;

/// An integer as a sum.
pub(super) type Affine = nova_symbolic::Affine<Variable>;

/// Facts about symbols.
pub(super) type Facts = nova_symbolic::Bounds<Variable>;
