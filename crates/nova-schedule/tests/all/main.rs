//! The forms of operations, and the strategies that programs state.

#[path = "../../../nova-opt/tests/support/mod.rs"]
mod support;

mod first_ones;
mod folds;
mod nests;
mod ordered;
mod parallelise;
mod strategies;
mod threads;
mod together;

use nova_flat::ir::Program;
use nova_schedule::Parallelism;

/// Parallelises operations into small chunks, with the order of docs/order.md.
fn parallelise_strict(program: &mut Program) {
    nova_schedule::run(program, Parallelism::SMALL);
}

/// Parallelises operations into small chunks, in any order.
fn parallelise_freely(program: &mut Program) {
    let strict = false;
    nova_schedule::run(
        program,
        Parallelism {
            strict,
            ..Parallelism::SMALL
        },
    );
}
