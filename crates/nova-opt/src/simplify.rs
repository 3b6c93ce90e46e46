//! Simplification: propagates copies, folds constants, and removes invariant and unused values.
//!
//! [`forward`] walks a function once from its beginning. It propagates copies, folds operations on
//! constants, and replaces conditionals on constants by their branch. Results of conditionals and
//! loops that are the same on every path become that value. [`dead`] walks the function once from
//! its end and removes statements that have no effect and no user. A statement that can fail or
//! trace is never dead. Both walks are linear. They run twice: the second time they use what the
//! first time uncovered.

mod dead;
mod definitions;
mod fold;
mod forward;
mod invariant;
mod state;
mod views;

use crate::limits::WALKS_OF_SIMPLIFY;
use nova_flat::ir::Program;

/// Simplifies every function.
pub fn run(program: &mut Program) {
    for _ in 0..WALKS_OF_SIMPLIFY {
        forward::run(program);
        dead::run(program);
    }
}

/// Removes statements that have no effect and no user.
pub(crate) fn remove_dead(program: &mut Program) {
    dead::run(program);
}
