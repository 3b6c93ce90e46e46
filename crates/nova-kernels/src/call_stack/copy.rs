//! Copies of functions, with variables of their own.

use nova_diag::deep;
use nova_loop::ir::{Command, Function, FunctionId, Level, Program, Variable};
use nova_loop::walk::{names_mut, reads_mut, set_level};
use std::collections::BTreeMap;

/// New variables, by those that they replace.
pub(super) type Renamed = BTreeMap<Variable, Variable>;

/// Returns a copy of a function for kernels, in which parallel loops are sequential.
pub(crate) fn copy(program: &mut Program, id: FunctionId) -> Option<Function> {
    let mut function = program.functions.get(id.index())?.clone();
    let mut renamed = Renamed::new();
    let own = function.parameters.iter().chain(&function.results);
    let inside = super::basic_blocks::declared(&function.body);
    for variable in own.copied().chain(inside) {
        let info = program.variable(variable).clone();
        let new = program.add_variable(info.name, info.ty);
        renamed.insert(variable, new);
    }
    let all = function.parameters.iter_mut();
    for variable in all.chain(&mut function.results) {
        rename_variable(variable, &renamed);
    }
    rename(&mut function.body, &renamed);
    Some(function)
}

fn rename_variable(variable: &mut Variable, renamed: &Renamed) {
    if let Some(new) = renamed.get(variable) {
        *variable = *new;
    }
}

/// Replaces the variables in the table.
pub(super) fn rename(commands: &mut [Command], renamed: &Renamed) {
    for command in commands {
        reads_mut(command, &mut |expression| expression.rename(renamed));
        names_mut(command, &mut |variable| rename_variable(variable, renamed));
        if let Command::For { level, body, .. } = command
            && level.is_parallel()
        {
            set_level(level, Level::Sequential, body);
        }
        for list in command.lists_mut() {
            deep(|| rename(list, renamed));
        }
    }
}

/// Replaces calls of the functions in the table.
pub(crate) fn redirect(commands: &mut [Command], to: &BTreeMap<FunctionId, FunctionId>) {
    for command in commands {
        if let Command::Call { function, .. } = command
            && let Some(new) = to.get(function)
        {
            *function = *new;
        }
        for list in command.lists_mut() {
            deep(|| redirect(list, to));
        }
    }
}
