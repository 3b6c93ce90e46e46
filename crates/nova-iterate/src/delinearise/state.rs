//! The state of the rewriting of maps over positions: the matrix, and the accesses that have been found.

use super::definitions::Definitions;
use super::find::Extents;
use super::form::{Form, Sum};
use nova_flat::ir::{Atom, Program, Variable};
use std::collections::{HashMap, HashSet};

/// The accesses of all functions that may get two dimensions.
#[derive(Default)]
pub(super) struct Found {
    /// By the variable that holds the element, or the result of the test of the index.
    pub(super) accesses: HashMap<Variable, Access>,
    /// The indices of the maps that have been made.
    pub(super) nests: HashSet<Vec<Variable>>,
    /// The accesses whose tests comparisons are.
    pub(super) tests: HashMap<Variable, Variable>,
    /// The matrices of which vectors are views, by the vector.
    pub(super) matrices: HashMap<Variable, Variable>,
}

/// A read of an element of a vector at `row · m + column`, or a test whether that is in range.
pub(super) struct Access {
    /// The comparisons that say that row and column are in range.
    pub(super) tests: Vec<Variable>,
    pub(super) row: Atom,
    pub(super) column: Atom,
    /// True if the index was an `i32`, so that a row with the same lower 32 bits is as good.
    pub(super) narrow: bool,
    /// The number of rows, and `m`.
    pub(super) shape: [Atom; 2],
}

/// A matrix in a vector, as the version with rows knows it.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub(super) extents: Extents,
    /// The number of elements, or that of rows if it is about these.
    pub(super) count: Atom,
    /// The number of columns as an `i64`.
    pub(super) width: Atom,
    /// The number of rows, an `i64`.
    pub(super) rows: Atom,
    /// The extents of the dimensions after these.
    pub(super) inner: Option<Atom>,
}

/// Code in which a vector is known to be a matrix.
pub(super) struct Nest<'a> {
    pub(super) program: &'a mut Program,
    pub(super) definitions: &'a mut Definitions,
    pub(super) found: &'a mut Found,
    pub(super) matrix: Matrix,
    /// The numbers of rows of blocks of three dimensions.
    pub(super) blocks: Vec<Atom>,
    /// The index of the column of each map, by that of the row.
    pub(super) columns: HashMap<Variable, Variable>,
    pub(super) forms: HashMap<Variable, Form>,
    /// The remainders of positions beside those of a map: the index of the column, and what is added to it.
    pub(super) remainders: HashMap<Variable, (Variable, i128)>,
    /// The number of rows.
    pub(super) last: Option<Sum>,
}

impl<'a> Nest<'a> {
    pub(super) fn new(
        program: &'a mut Program,
        definitions: &'a mut Definitions,
        found: &'a mut Found,
        matrix: Matrix,
        blocks: Vec<Atom>,
    ) -> Nest<'a> {
        let mut nest = Nest {
            program,
            definitions,
            found,
            matrix,
            blocks,
            columns: HashMap::new(),
            forms: HashMap::new(),
            remainders: HashMap::new(),
            last: None,
        };
        nest.note_rows();
        nest
    }
}
