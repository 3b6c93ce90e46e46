//! Fusion: arrays that only pass values from one operation to the next are not stored.
//!
//! Two rules, since every operation is an instance of one construct (architecture, "one array
//! operation"):
//!
//! - [`elements`]: an array that is only read element by element, and whose elements are computed
//!   without effects, is not made; each reader computes the element it wants. It repeats no work
//!   but what is cheaper than memory. This fuses across levels: gathers, stencils, rows.
//! - [`merge`]: two operations over the same space become one where nothing between them stands in
//!   the way: the second reads of the first only the element of its own index (vertical), or both
//!   read an array at their index (horizontal). It repeats no work at all, and keeps what can fail.
//!   An operation over what a filter keeps runs in the filter's loop ([`kept`]); what reads the
//!   running results of a scan runs in the scan's ([`running`]), where the order does not matter.
//!
//! No code moves into an operation that writes over what the code reads ([`replaced`]).
//!
//! Which of several run-time errors is reported may change; that one is reported does not.

mod apart;
mod elements;
mod join;
mod kept;
mod merge;
mod operators;
mod reads;
mod replaced;
mod running;

pub use apart::{Apart, apart};

use crate::effects::FunctionEffects;
use nova_flat::ir::{Body, Program};
use replaced::Replaced;

/// Fuses the operations of every function; floats are combined in the order of docs/order.md.
pub fn run(program: &mut Program) {
    fuse(program, true);
}

/// The same, where floats may be combined in any order.
pub fn run_freely(program: &mut Program) {
    fuse(program, false);
}

fn fuse(program: &mut Program, strict: bool) {
    let effects = FunctionEffects::new(program);
    let mut counts = elements::Counts::default();
    let replaced = Replaced::of(program);
    for_each_body(program, |program, body| {
        elements::run(program, (&effects, &replaced), &mut counts, body);
    });
    // Arrays that nobody reads any more are not worth merging.
    crate::simplify::remove_dead(program);
    let replaced = Replaced::of(program);
    let mut uses = Vec::new();
    for_each_body(program, |program, body| {
        merge::run(program, (&effects, &replaced, strict), &mut uses, body);
    });
}

fn for_each_body(program: &mut Program, mut pass: impl FnMut(&mut Program, &mut Body)) {
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        pass(program, &mut body);
        program.functions[k].body = body;
    }
}
