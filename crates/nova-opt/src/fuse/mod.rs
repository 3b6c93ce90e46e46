//! Fusion: arrays that only pass values from one operation to the next are not stored.
//!
//! Two rules suffice, since every operation is an instance of one construct (architecture, "one
//! array operation"):
//!
//! - [`elements`]: an array that is only read element by element, and whose elements are computed
//!   without effects, is not made. Each reader computes the element that it reads. This repeats no
//!   work but what is cheaper than memory. It fuses across levels: gathers, stencils, rows.
//! - [`merge`]: two operations over the same space become one where nothing between them prevents
//!   it. Either the second reads of the first only the element of its own index (vertical), or both
//!   read an array at their index (horizontal). This repeats no work at all, and keeps code that
//!   can fail. An operation over the survivors of a filter runs in the filter's loop ([`filters`]).
//!   One over the elements of rows runs in the loop over the rows ([`flattened`]). One over rows
//!   with cheap elements computes them ([`nested`]). One that reads
//!   the running results of a scan runs in the scan's loop ([`running`]), where the order does not
//!   matter.
//!
//! No code moves into an operation that writes over arrays that the code reads ([`replaced`]).
//!
//! Another of several run-time errors may be reported. An error is still reported in the same
//! cases.

mod apart;
mod elements;
mod equal;
mod filters;
mod flattened;
mod join;
mod merge;
mod nested;
mod operators;
mod reads;
mod replaced;
mod rules;
mod running;

pub use apart::{Apart, apart};
pub use rules::{Rules, Workers};

use crate::effects::FunctionEffects;
use nova_flat::ir::{Program, Variable};
use nova_flat::visit::{count_uses, each_function, type_variables};
pub(crate) use replaced::Replaced;
use std::collections::HashSet;

/// Fuses the operations of every function, for one thread; floats are combined in the order of
/// docs/order.md.
pub fn run(program: &mut Program) {
    let (strict, workers) = (true, Workers::One);
    run_by(program, Rules { strict, workers });
}

/// Fuses the operations of every function.
pub fn run_by(program: &mut Program, rules: Rules) {
    let effects = FunctionEffects::new(program);
    let mut counts = elements::Counts::default();
    let replaced = Replaced::of(program);
    each_function(program, |program, body| {
        elements::run(program, (&effects, &replaced), &mut counts, body);
    });
    // Arrays that nothing reads any more are not worth merging.
    crate::simplify::remove_dead(program);
    let mut uses = Vec::new();
    each_function(program, |program, body| {
        count_uses(program, body, &mut uses);
        flattened::add_up_lengths(program, &uses, body);
    });
    let replaced = Replaced::of(program);
    let lengths = lengths_of_arguments(program);
    let known = merge::Known {
        effects: &effects,
        replaced: &replaced,
        lengths: &lengths,
        rules,
    };
    let mut uses = Vec::new();
    each_function(program, |program, body| {
        merge::run(program, known, &mut uses, body);
    });
}

/// Returns the extents of the arrays that are arguments of functions. They are not negative.
fn lengths_of_arguments(program: &Program) -> HashSet<Variable> {
    let mut lengths = HashSet::new();
    for parameter in program.functions.iter().flat_map(|f| &f.parameters) {
        let ty = program.ty(*parameter);
        type_variables(ty, None, &mut |extent| {
            lengths.insert(extent);
        });
    }
    lengths
}
