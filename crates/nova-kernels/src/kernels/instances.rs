//! Instances of functions for one thread. A function whose loops work-groups run may be called by
//! the host and by kernels. One thread of a kernel has no work-groups, nor the barriers and the
//! memory that their loops get in [`crate::work_groups`]. So kernels call an instance of their own,
//! all of whose loops are sequential. It is made before the loops of the original are changed, and
//! before it is known which loops become kernels. Loops that turn out to be the host's call the
//! original again.

use crate::call_stack::copy;
use nova_diag::deep;
use nova_loop::call_graph::called;
use nova_loop::call_graph::functions_with;
use nova_loop::ir::{Command, FunctionId, Level, Program};
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Prepares a program for a device: threads may append nodes to one table, and loops of many threads
/// call instances for one thread, directly or indirectly.
pub fn run(program: &mut Program) {
    program.nodes_by_threads = true;
    let mut made = BTreeMap::new();
    for id in wanted(program) {
        let Some(mut function) = copy::copy(program, id) else {
            continue;
        };
        function.name = name(program, &function.name);
        made.insert(id, FunctionId(program.functions.len() as u32));
        program.functions.push(function);
    }
    for function in made.values() {
        if let Some(function) = program.functions.get_mut(function.index()) {
            copy::redirect(&mut function.body, &made);
        }
    }
    for function in &mut program.functions {
        redirect(&mut function.body, &made, Caller::Kernels);
    }
    program.thread_instances = made;
}

/// Redirects calls of the host to the originals, now that it is known which loops are kernels.
pub(super) fn leave_to_kernels(program: &mut Program) {
    let made = std::mem::take(&mut program.thread_instances);
    let originals: BTreeMap<FunctionId, FunctionId> =
        made.iter().map(|(id, instance)| (*instance, *id)).collect();
    for (k, function) in program.functions.iter_mut().enumerate() {
        if !originals.contains_key(&FunctionId(k as u32)) {
            redirect(&mut function.body, &originals, Caller::Host);
        }
    }
}

/// Returns the functions with work-groups that loops of many threads call, directly or indirectly.
fn wanted(program: &Program) -> BTreeSet<FunctionId> {
    let with_groups = functions_with(program, &|function| {
        let mut found = false;
        each_command(&function.body, |command| {
            found |= matches!(
                command,
                Command::For {
                    level: Level::Block,
                    ..
                }
            );
        });
        found
    });
    if with_groups.is_empty() {
        return with_groups;
    }
    let mut wanted = BTreeSet::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For { level, body, .. } = command
                && level.starts_kernel()
            {
                wanted.extend(called(program, body));
            }
        });
    }
    &wanted & &with_groups
}

/// The callers whose calls are redirected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    Host,
    Kernels,
}

/// Replaces calls of the functions in the table by calls of other functions, for one kind of
/// caller.
fn redirect(commands: &mut [Command], to: &BTreeMap<FunctionId, FunctionId>, caller: Caller) {
    for command in commands {
        if let Command::For { level, body, .. } = command
            && level.starts_kernel()
        {
            if caller == Caller::Kernels {
                copy::redirect(body, to);
            }
            continue;
        }
        if let (Command::Call { function, .. }, Caller::Host) = (&mut *command, caller)
            && let Some(new) = to.get(function)
        {
            *function = *new;
        }
        for list in command.lists_mut() {
            deep(|| redirect(list, to, caller));
        }
    }
}

/// Returns a new name for the instance of a function.
fn name(program: &Program, of: &str) -> Arc<str> {
    let mut name = format!("{of}_of_a_thread");
    while program.functions.iter().any(|f| *f.name == *name) {
        name.push('_');
    }
    name.into()
}
