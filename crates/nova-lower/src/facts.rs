//! Facts about rows beyond their representation.
//!
//! The starts of a nested vector are one variable, so a fact about its rows is stored under that
//! variable. Facts only save work. Without them every construct still means the same.

use nova_flat::ir::{Atom, Variable};
use std::rc::Rc;

use crate::builder::Lowerer;

/// A fact about rows.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// They follow each other from 0 to the total of the level below.
    Dense,
    /// They are dense, and row i is the sub-array at i of an array of one dimension more, given by its
    /// components.
    Rows(Rc<[Atom]>),
    /// Every row is this value, given by its components.
    Constant(Rc<[Atom]>),
}

impl Lowerer<'_> {
    /// Records a fact about the rows with these starts.
    pub fn note(&mut self, starts: Atom, fact: Fact) {
        if let Some(variable) = variable(starts) {
            self.facts.insert(variable, fact);
        }
    }

    /// Returns the fact about the rows with these starts.
    pub fn fact(&self, starts: Atom) -> Option<Fact> {
        variable(starts).and_then(|v| self.facts.get(&v).cloned())
    }

    /// True if the rows with these starts are known to be dense.
    pub fn is_dense(&self, starts: Atom) -> bool {
        match self.fact(starts) {
            Some(Fact::Dense | Fact::Rows(_)) => true,
            Some(Fact::Constant(_)) | None => false,
        }
    }
}

fn variable(atom: Atom) -> Option<Variable> {
    match atom {
        Atom::Variable(variable) => Some(variable),
        Atom::Constant(_) => None,
    }
}
