//! Facts about rows beyond their representation.
//!
//! The starts of a nested vector are one variable, so a fact about its rows is stored under that
//! variable. Facts only save work. Without them every construct still means the same.

use nova_flat::ir::Atom;
use std::rc::Rc;

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
