//! Recursion with an explicit call stack, for kernels. A group of functions that call each other
//! becomes one function for each of them that others call. This function has a stack with a frame
//! for each call that waits for another one.
//!
//! The bodies are split into basic blocks at the calls of the group ([`basic_blocks`]). A loop
//! around a switch runs the basic block whose number a variable holds. A call stores what is needed
//! after it ([`live`]) in a frame, with the number of the basic block to continue with. It assigns
//! the parameters, and makes the first basic block of the callee the next one. Where a function
//! ends, its caller's frame is popped. Frames lie in arrays that grow, one for each type of
//! element. So the result consists of commands of Loop that the verifier, the interpreter and the
//! emitter know. The number of frames is limited; beyond the limit the error is that of hosts.
//!
//! Frames hold numbers. Pointers that are needed after a call are recomputed ([`pointers`]):
//!
//! - Arrays that all calls pass on unchanged are parameters of the whole function.
//! - Arrays of nodes are read from their nodes again.
//! - Arrays that a function makes lie on stacks, one for each type of element. They are popped when
//!   calls and iterations of loops end.
//!
//! A group stays on the host if results, arguments or states of loops are other arrays.

mod again;
mod basic_blocks;
mod build;
pub(crate) mod copy;
mod group;
mod layout;
mod live;
mod pointers;
mod write;

use crate::obstacles::obstacle;
use nova_diag::deep;
use nova_flat::recursion::CallOrder;
use nova_loop::call_graph::called;
use nova_loop::call_graph::functions_with;
use nova_loop::ir::{Command, FunctionId, Level, Program};
use nova_loop::kernels::own_pointers;
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The functions of a program, grouped by mutual recursion.
struct Groups {
    order: CallOrder,
    callees: Vec<Vec<usize>>,
}

impl Groups {
    fn of(program: &Program) -> Groups {
        let bodies = program.functions.iter().map(|f| &f.body);
        let callees: Vec<Vec<usize>> = bodies
            .map(|body| {
                let mut found = Vec::new();
                each_command(body, |command| {
                    if let Command::Call { function, .. } = command {
                        found.push(function.index());
                    }
                });
                found.sort();
                found.dedup();
                found
            })
            .collect();
        Groups {
            order: CallOrder::new(&callees),
            callees,
        }
    }

    /// Returns the functions that a function calls and that call it.
    fn group(&self, id: FunctionId) -> BTreeSet<FunctionId> {
        let component = &self.order.component;
        let own = component.get(id.index());
        let all = (0..component.len()).filter(|k| component.get(*k) == own);
        all.map(|k| FunctionId(k as u32)).collect()
    }

    fn is_cyclic(&self, id: FunctionId) -> bool {
        self.order.cyclic.get(id.index()) == Some(&true)
    }
}

/// Returns the recursive functions that loops at the level of a grid reach and that can be written
/// without recursion.
pub(crate) fn convertible(program: &mut Program) -> BTreeSet<FunctionId> {
    let mut reached = BTreeSet::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For {
                level: Level::Grid,
                body,
                ..
            } = command
            {
                reached.extend(called(program, body));
            }
        });
    }
    let groups = Groups::of(program);
    reached.retain(|id| groups.is_cyclic(*id));
    let mut found = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for id in reached {
        if found.contains(&id) || refused.contains(&id) {
            continue;
        }
        let group = groups.group(id);
        match is_convertible(program, &group) {
            true => found.extend(group),
            false => refused.extend(group),
        }
    }
    found
}

/// True if all functions of a group can be written without recursion, as far as they themselves
/// allow it.
fn is_convertible(program: &mut Program, group: &BTreeSet<FunctionId>) -> bool {
    let none = BTreeSet::new();
    let types = program.clone_types();
    let count = program.variables.len();
    let fits = group.iter().all(|id| {
        let body = program.functions.get(id.index()).map(|f| &f.body);
        body.is_some_and(|body| obstacle(&types, &none, body).is_none())
            && build::build(program, group, *id, "".into())
                .is_some_and(|f| own_pointers(&program.clone_types(), &f.body).is_some())
    });
    program.variables.truncate(count);
    fits
}

/// Makes the loops at the level of a grid call functions without recursion.
pub fn run(program: &mut Program) {
    let groups = Groups::of(program);
    let recursive = functions_with(program, &|function| function.recursive);
    let mut instances = Instances {
        program,
        groups,
        recursive,
        made: BTreeMap::new(),
    };
    let mut functions = std::mem::take(&mut instances.program.functions);
    let mut wanted = BTreeSet::new();
    for function in &functions {
        each_command(&function.body, |command| {
            if let Command::For {
                level: Level::Grid,
                body,
                ..
            } = command
            {
                wanted.extend(direct(body));
            }
        });
    }
    instances.program.functions = functions;
    for id in wanted {
        instances.of(id);
    }
    functions = std::mem::take(&mut instances.program.functions);
    for function in &mut functions {
        redirect(&mut function.body, &instances.made);
    }
    instances.program.functions = functions;
}

/// Returns the functions that commands call directly.
fn direct(commands: &[Command]) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    each_command(commands, |command| {
        if let Command::Call { function, .. } = command {
            found.insert(*function);
        }
    });
    found
}

/// Redirects the calls in loops at the level of a grid.
fn redirect(commands: &mut [Command], made: &BTreeMap<FunctionId, FunctionId>) {
    for command in commands {
        if let Command::For {
            level: Level::Grid,
            body,
            ..
        } = command
        {
            copy::redirect(body, made);
            continue;
        }
        for list in command.lists_mut() {
            deep(|| redirect(list, made));
        }
    }
}

/// The functions that kernels call in the place of those that are recursive or call recursive ones.
struct Instances<'p> {
    program: &'p mut Program,
    groups: Groups,
    recursive: BTreeSet<FunctionId>,
    made: BTreeMap<FunctionId, FunctionId>,
}

impl Instances<'_> {
    /// Makes the replacements of a function and of all functions that it calls.
    fn of(&mut self, id: FunctionId) {
        if !self.recursive.contains(&id) || self.made.contains_key(&id) {
            return;
        }
        let group = self.groups.group(id);
        for member in &group {
            let callees = self.groups.callees.get(member.index()).cloned();
            for callee in callees.into_iter().flatten() {
                let callee = FunctionId(callee as u32);
                if !group.contains(&callee) {
                    deep(|| self.of(callee));
                }
            }
        }
        let is_cyclic = self.groups.is_cyclic(id);
        let name = self.name(
            id,
            if is_cyclic {
                "with_stack"
            } else {
                "in_kernels"
            },
        );
        let new = match is_cyclic {
            true => build::build(self.program, &group, id, name),
            false => copy::copy(self.program, id).map(|mut function| {
                function.name = name;
                function
            }),
        };
        if let Some(mut function) = new {
            copy::redirect(&mut function.body, &self.made);
            self.program.functions.push(function);
            let last = self.program.functions.len() - 1;
            self.made.insert(id, FunctionId(last as u32));
        }
    }

    /// Returns a new name for a function.
    fn name(&self, id: FunctionId, what: &str) -> Arc<str> {
        let functions = &self.program.functions;
        let old = functions.get(id.index()).map_or("function", |f| &f.name);
        let mut name = format!("{old}_{what}");
        while functions.iter().any(|f| *f.name == *name) {
            name.push('_');
        }
        name.into()
    }
}
