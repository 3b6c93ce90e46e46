//! The memory of kernels beside the arrays that they are given: memory of their threads, and tables of
//! per-iteration result buffers.

use crate::call_graph::functions_with;
use crate::ir::{Command, FunctionId, Level, Program, Type, Variable};
use crate::walk::each_command;
use std::collections::BTreeSet;

/// Returns the functions that use memory of the thread where kernels call them: they make arrays,
/// or return handles that count references.
pub fn functions_with_memory(program: &Program) -> BTreeSet<FunctionId> {
    let is_block = |v: &Variable| program.variable(*v).ty == Type::Block;
    let none = BTreeSet::new();
    functions_with(program, &|function| {
        function.results.iter().any(is_block) || takes_memory(&none, &function.body)
    })
}

/// True if commands of a kernel use memory of the thread; `users` are the functions that do.
pub fn takes_memory(users: &BTreeSet<FunctionId>, commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| match command {
        Command::Allocate { .. }
        | Command::Reserve { .. }
        | Command::Unique { .. }
        | Command::StoreBuffer { .. } => found = true,
        Command::Call { function, .. } => found |= users.contains(function),
        _others => {}
    });
    found
}

/// Returns the tables of result buffers in which the iterations of kernels store arrays.
pub fn tables_of_kernels(program: &Program) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For {
                level: Level::Grid,
                body,
                ..
            } = command
            {
                found.extend(tables_stored_in(body));
            }
        });
    }
    found
}

/// Returns the tables in which commands store result buffers.
fn tables_stored_in(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    each_command(commands, |command| {
        if let Command::StoreBuffer { pieces, .. } = command {
            found.insert(*pieces);
        }
    });
    found
}

/// Returns the tables of result buffers that commands use.
pub fn tables_in(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = tables_stored_in(commands);
    each_command(commands, |command| {
        if let Command::Buffer { pieces, .. } = command {
            found.insert(*pieces);
        }
    });
    found
}
