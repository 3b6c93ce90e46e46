//! Delinearisation: maps over `n · m` elements that compute `k / m` and `k % m` from their index become maps over
//! rows and columns.
//!
//! A program may keep a matrix in a vector, and compute row and column of an element from its position. Each
//! element then costs two divisions. Nothing tells later passes that neighbours lie in one row, that an index is in
//! range, or which iterations of a stencil differ from the others. So the map gets two dimensions, `k = i · m + j`,
//! and reads of the vector at `row · m + column` get them too, if both are proved to be in range.
//!
//! That holds if `m` is positive and divides the number of elements. So the loops are copied: a test before them
//! chooses the version with rows, or the one that stays as it was.
//!
//! [`find`] recognises such maps, [`version`] copies them and writes the test. [`nest`] rewrites the copy by the
//! sums of [`forms`], and [`arrays`] gives arrays two dimensions where the proofs have succeeded.

mod arrays;
mod code;
mod compare;
mod definitions;
mod find;
mod forms;
mod nest;
mod quotients;
mod version;

use nova_flat::ir::{Atom, Program, Variable};
use nova_plan::Plan;
use std::collections::{HashMap, HashSet};

/// Gives rows and columns to maps that compute them from their index.
pub fn run(program: &mut Program, plan: &Plan) {
    let mut found = Found::default();
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let parameters = program.functions[k].parameters.clone();
        version::function(program, plan, &parameters, &mut body, &mut found);
        program.functions[k].body = body;
    }
    if found.accesses.is_empty() {
        return;
    }
    let proved = nova_opt::bounds::proved(program);
    found.accesses.retain(|_, access| {
        let mut tests = access.tests.iter();
        tests.all(|test| proved.contains(test))
    });
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let parameters = program.functions[k].parameters.clone();
        arrays::rewrite(program, &found, &parameters, &mut body);
        program.functions[k].body = body;
    }
}

/// The accesses of all functions that may get two dimensions.
#[derive(Default)]
struct Found {
    /// By the variable that holds the element, or the result of the test of the index.
    accesses: HashMap<Variable, Access>,
    /// The indices of the maps that have been made.
    nests: HashSet<Vec<Variable>>,
    /// The accesses whose tests comparisons are.
    tests: HashMap<Variable, Variable>,
    /// The matrices of which vectors are views, by the vector.
    matrices: HashMap<Variable, Variable>,
}

/// A read of an element of a vector at `row · m + column`, or a test whether that is in range.
struct Access {
    /// The comparisons that say that row and column are in range.
    tests: Vec<Variable>,
    row: Atom,
    column: Atom,
    /// True if the index was an `i32`, so that a row with the same lower 32 bits is as good.
    narrow: bool,
    /// The number of rows, and `m`.
    shape: [Atom; 2],
}
