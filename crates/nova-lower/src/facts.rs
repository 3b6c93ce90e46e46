//! Facts about rows and arrays beyond their representation.
//!
//! The starts of a nested vector are one variable, so a fact about its rows is stored under that
//! variable. A fact about an array of numbers is stored under its own. Facts only save work. Without them every construct still means the same.

use nova_flat::ir::Atom;
use std::rc::Rc;

/// A fact about rows or an array.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// They follow each other from 0 to the total of the level below.
    Dense,
    /// They are dense, and row i is the sub-array at i of an array of one dimension more, given by its
    /// components.
    Rows(Rc<[Atom]>),
    /// Every row is this value, given by its components.
    Constant(Rc<[Atom]>),
    /// Every element of the array is this number.
    Uniform(Atom),
}
