//! The iterations of an operation, and what is checked before them.

use super::affine::Affine;
use super::condition::Condition;
use nova_flat::ir::Variable;
use std::collections::BTreeSet;

/// The iterations of an operation.
pub(super) struct Iterations {
    /// Its indices, each with its last value.
    pub(super) indices: Vec<(Variable, Affine)>,
    /// The extents that may be 0.
    pub(super) extents: BTreeSet<Variable>,
    /// The position in the order of symbols at which the operation starts. Symbols that were bound
    /// before it have smaller positions.
    pub start: usize,
    /// The sums that are checked before the operation so far.
    pub(super) checked: Vec<Affine>,
    /// The symbols of numbers whose conversion is checked in every iteration so far. No later check
    /// of these symbols moves before the operation.
    pub converted: BTreeSet<Variable>,
}

/// The conditions that must hold in all iterations.
pub(super) struct Requirements {
    /// Nothing must hold if one of these conditions does. They are the same in all iterations.
    pub(super) unless: Vec<Condition>,
    pub(super) sums: Vec<Requirement>,
}

/// A sum that must not be negative, with the arguments of the error. All are taken at the indices
/// at which the sum is least.
pub(super) type Requirement = (Affine, Vec<Affine>);

impl Iterations {
    /// Returns a sum in the iteration in which `worst` is least.
    pub(super) fn at_least(&self, worst: &Affine, sum: &Affine) -> Option<Affine> {
        let mut at = sum.clone();
        for (index, last) in &self.indices {
            at = match worst.coefficient(index) >= 0 {
                true => at.without(index),
                false => at.substitute(index, last)?,
            };
        }
        Some(at)
    }

    /// True if a sum differs between iterations.
    pub(super) fn changes(&self, sum: &Affine) -> bool {
        let mut indices = self.indices.iter();
        indices.any(|(index, _)| sum.coefficient(index) != 0)
    }

    /// Returns the indices in a sum, with their coefficients.
    pub(super) fn terms<'a>(
        &'a self,
        sum: &'a Affine,
    ) -> impl Iterator<Item = (Variable, i128)> + 'a {
        let terms = self.indices.iter().map(|(i, _)| (*i, sum.coefficient(i)));
        terms.filter(|(_, coefficient)| *coefficient != 0)
    }

    /// Returns a sum without the indices: its value in the first iteration.
    pub(super) fn first(&self, sum: &Affine) -> Affine {
        let indices = self.indices.iter();
        indices.fold(sum.clone(), |sum, (index, _)| sum.without(index))
    }
}
