//! The state of a walk: the facts about the integers of a function.

use super::affine::{Affine, Facts};
use super::arrays::Arrays;
use super::condition::Condition;
use crate::effects::FunctionEffects;
use nova_core::Scalar;
use nova_flat::ir::{Atom, Program, Variable};
use std::collections::{HashMap, HashSet};

/// The state of a walk over a function.
pub(super) struct Bounds<'a> {
    pub(super) program: &'a mut Program,
    pub(super) effects: &'a FunctionEffects,
    /// Facts about the function's arrays, where maps are restricted.
    pub(super) arrays: Option<Arrays>,
    /// True if integers that were wrapped and keep their values are converted.
    pub(super) converts: bool,
    /// True if reads after conditions move before them.
    pub(super) speculates: bool,
    /// The indices of the operation that is walked, if it filters.
    pub(super) filtered: Vec<Variable>,
    pub(super) facts: Facts,
    /// The integers that have been wrapped to `u64`, by the result.
    pub(super) wrapped: HashMap<Variable, Atom>,
    /// The comparisons of two such integers. They hold where the first is not negative and less
    /// than the second.
    pub(super) ranges: HashMap<Variable, (Atom, Atom)>,
    /// The tests whether a sum lies in the range of a type, by the result.
    pub(super) fitting: HashMap<Variable, (Affine, Scalar)>,
    /// The positions of the symbols in the order in which they were bound.
    pub(super) order: HashMap<Variable, usize>,
    /// The values of the integers that have been computed.
    pub(super) values: HashMap<Variable, Affine>,
    /// The sums of integers that may have wrapped. The integers equal them modulo two to the power
    /// of their bits.
    pub(super) modular: HashMap<Variable, Affine>,
    /// The sums that integers equal where they are positive. Elsewhere the integers are 0, or
    /// another number that is not positive.
    pub(super) clamped: HashMap<Variable, Affine>,
    /// The comparisons that have been made.
    pub(super) conditions: HashMap<Variable, Condition>,
    /// The truth values that hold unless another condition does, with that condition, by the truth value of
    /// both.
    pub(super) unless: HashMap<Variable, (Condition, Variable)>,
    /// Pairs of conditions that do not hold both, where it is not known which one does not. Facts that are learnt
    /// later may tell.
    pub(super) open: Vec<[Condition; 2]>,
    /// The comparisons that are always true.
    pub(super) proved: HashSet<Variable>,
}

/// The end of what is known at a place of the walk.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    facts: usize,
    open: usize,
}

impl Bounds<'_> {
    /// Returns the current end of what is known.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            facts: self.facts.mark(),
            open: self.open.len(),
        }
    }

    /// Forgets what was learnt since a mark.
    pub(super) fn forget(&mut self, mark: Mark) {
        self.facts.forget(mark.facts);
        self.open.truncate(mark.open);
    }
}
