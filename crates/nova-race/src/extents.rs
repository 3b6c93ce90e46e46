//! Parameters that are lengths of the callers' arrays: the FFI boundary checks that they are not negative.

use nova_flat::representation::components;
use nova_loop::ir::{Command, Entry, Program, Variable};
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// Returns the parameters that are extents of arrays, of the entries that no function of the program calls.
pub(crate) fn extents(program: &Program) -> BTreeSet<Variable> {
    let mut called = BTreeSet::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::Call { function, .. } = command {
                called.insert(*function);
            }
        });
    }
    let entries = program.entries.iter();
    let only_entries = entries.filter(|entry| !called.contains(&entry.function));
    only_entries
        .flat_map(|entry| of_entry(program, entry))
        .collect()
}

fn of_entry(program: &Program, entry: &Entry) -> Vec<Variable> {
    let Some(function) = program.functions.get(entry.function.index()) else {
        return Vec::new();
    };
    let mut parameters = function.parameters.iter().copied();
    let mut found = Vec::new();
    for (_, ty) in &entry.inputs {
        let components = components(ty, &program.sums);
        let mut own = Vec::new();
        for component in &components {
            own.push(parameters.next());
            if !component.shape.is_empty() {
                parameters.next();
            }
        }
        let shapes = components.iter().flat_map(|component| &component.shape);
        found.extend(shapes.filter_map(|extent| own.get(*extent).copied().flatten()));
    }
    found
}
