//! Loops behind which other loops write the same memory: what they write is better kept in the caches.

use crate::ir::{Command, Function, Variable};
use crate::walk::each_command;
use nova_diag::deep;
use std::collections::BTreeSet;

/// The loops of a function, by their indices, some of whose arrays a loop behind them writes to.
pub(super) fn written_again(function: &Function) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    look(&function.body, BTreeSet::new(), &mut found);
    found
}

/// Looks at commands from the last to the first; `later` are the arrays that loops behind them write to.
fn look(commands: &[Command], mut later: BTreeSet<Variable>, found: &mut BTreeSet<Variable>) {
    for command in commands.iter().rev() {
        let inside = command.lists();
        if inside.is_empty() {
            continue;
        }
        let written = match command {
            Command::For { variable, body, .. } => {
                let written = stores(body);
                if !written.is_disjoint(&later) {
                    found.insert(*variable);
                }
                written
            }
            Command::Loop { body, .. } => stores(body),
            // Of a conditional the loops in it.
            _conditional => inside
                .iter()
                .flat_map(|list| stores_of_loops(list))
                .collect(),
        };
        for list in inside {
            deep(|| look(list, later.clone(), found));
        }
        later.extend(written);
    }
}

/// The arrays that commands write elements of.
fn stores(commands: &[Command]) -> BTreeSet<Variable> {
    let mut stores = BTreeSet::new();
    each_command(commands, |command| {
        if let Command::Store { pointer, .. } = command {
            stores.insert(*pointer);
        }
    });
    stores
}

/// Those that loops among commands write elements of.
fn stores_of_loops(commands: &[Command]) -> BTreeSet<Variable> {
    let mut written = BTreeSet::new();
    each_command(commands, |command| match command {
        Command::For { body, .. } | Command::Loop { body, .. } => written.extend(stores(body)),
        _others => {}
    });
    written
}
