//! Simplification: copies, constants, what does not vary, what nobody uses.
//!
//! [`forward`] walks a function once from its beginning: copies are propagated, operations on
//! constants folded, conditionals on constants replaced by their branch, and results of
//! conditionals and loops that are the same on every way become what they are. [`dead`] walks it
//! once from its end and removes what has no effect and no user; a statement that can fail or
//! trace is never dead. Both are linear; two rounds see what the first one uncovered.

mod dead;
mod definitions;
mod fold;
mod forward;
mod invariant;
mod views;

use nova_flat::ir::Program;

/// How often both walks are done.
const ROUNDS: usize = 2;

/// Simplifies every function.
pub fn run(program: &mut Program) {
    for _ in 0..ROUNDS {
        forward::run(program);
        dead::run(program);
    }
}

/// Removes what has no effect and no user.
pub(crate) fn remove_dead(program: &mut Program) {
    dead::run(program);
}
