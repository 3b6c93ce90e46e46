//! Delinearisation: maps over `n · m` elements that compute `k / m` and `k % m` from their index become maps over
//! rows and columns.
//!
//! A program may keep a matrix in a vector, and compute row and column of an element from its position. Each
//! element then costs two divisions. Nothing tells later passes that neighbours lie in one row, that an index is in
//! range, or which iterations of a stencil differ from the others. So the map gets two dimensions, `k = i · m + j`,
//! and reads of the vector at `row · m + column` get them too, if both are proved to be in range.
//!
//! It holds only if `m` is positive and divides the number of elements. So the loops are copied: a test before them
//! chooses the version with rows, or the one that stays as it was.
//!
//! [`find`] recognises such maps, [`version`] copies them and writes the test. [`nest`] rewrites the copy by the
//! sums of [`forms`], and [`arrays`] gives arrays two dimensions where the proofs have succeeded.

mod arrays;
mod code;
mod compare;
mod definitions;
mod find;
mod form;
mod forms;
mod nest;
mod quotients;
mod state;
mod version;

use nova_flat::ir::Program;
use nova_plan::Plan;
use state::Found;

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
