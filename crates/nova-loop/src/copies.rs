//! Copies of commands with fresh variables, for passes that duplicate a loop's body.

use crate::ir::{Command, Program, Variable};
use crate::walk;
use nova_diag::deep;
use std::collections::BTreeMap;

/// Returns a copy of commands that declares new variables. `variables` maps old variables to new ones, and
/// receives those that the copy declares.
pub fn copy(
    program: &mut Program,
    commands: &[Command],
    variables: &mut BTreeMap<Variable, Variable>,
) -> Vec<Command> {
    let mut copies = commands.to_vec();
    for command in &mut copies {
        let mut declared = Vec::new();
        walk::names(command, &mut |variable, role| {
            if role.is_none() {
                declared.push(variable);
            }
        });
        for variable in declared {
            variables.insert(variable, copy_of(program, variable));
        }
        walk::reads_mut(command, &mut |e| e.rename(variables));
        walk::names_mut(command, &mut |variable| {
            if let Some(new) = variables.get(variable) {
                *variable = *new;
            }
        });
        for list in command.lists_mut() {
            *list = deep(|| copy(program, list, variables));
        }
    }
    copies
}

/// Adds a variable of the same name, type and memory space.
pub fn copy_of(program: &mut Program, like: Variable) -> Variable {
    let info = program.variable(like).clone();
    let copy = program.add_variable(info.name, info.ty);
    program.variables[copy.index()].space = info.space;
    copy
}
