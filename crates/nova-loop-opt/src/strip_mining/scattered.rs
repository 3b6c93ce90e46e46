//! Loops that are followed by loops which write the same memory at scattered places. What the first
//! loops write is better left in the caches.

use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Function, Variable};
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// Returns the loops of a function, by their indices, that write arrays to which a later loop
/// scatters.
pub(super) fn over(function: &Function) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    look(&function.body, BTreeSet::new(), &mut found);
    found
}

/// Walks over commands from the last to the first. `later` are the arrays to which loops after them
/// scatter.
fn look(commands: &[Command], mut later: BTreeSet<Variable>, found: &mut BTreeSet<Variable>) {
    for command in commands.iter().rev() {
        if let Command::For { variable, body, .. } = command
            && !stores(body).is_disjoint(&later)
        {
            found.insert(*variable);
        }
        let inside = command.lists();
        let scattered: Vec<Variable> = inside.iter().flat_map(|list| scattered(list)).collect();
        for list in inside {
            deep(|| look(list, later.clone(), found));
        }
        later.extend(scattered);
    }
}

/// Returns the arrays that commands write elements of.
fn stores(commands: &[Command]) -> BTreeSet<Variable> {
    let mut stores = BTreeSet::new();
    each_command(commands, |command| {
        if let Command::Store { pointer, .. } = command {
            stores.insert(*pointer);
        }
    });
    stores
}

/// Returns the arrays that commands write elements of at indices that have been read from memory.
fn scattered(commands: &[Command]) -> BTreeSet<Variable> {
    let mut scattered = BTreeSet::new();
    let mut read = BTreeSet::new();
    each_command(commands, |command| match command {
        Command::Declare {
            variable,
            value: Some(value),
        }
        | Command::Assign { variable, value }
            if comes_of(value, &read) =>
        {
            read.insert(*variable);
        }
        Command::Store { pointer, index, .. } if comes_of(index, &read) => {
            scattered.insert(*pointer);
        }
        _others => {}
    });
    scattered
}

/// True if an expression reads memory, or uses what has been read.
fn comes_of(expression: &Expression, read: &BTreeSet<Variable>) -> bool {
    let mut uses = expression.reads_memory();
    expression.each_variable(&mut |variable| uses |= read.contains(&variable));
    uses
}
