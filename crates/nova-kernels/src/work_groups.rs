//! Work-group lowering: loops at the level of a block, as a program's `map_workgroup` and
//! `map_local` ask for them, become code that the threads of a group can run (dpia.txt §6.2, §6.4).
//!
//! All threads of a group run the body of such a loop. Three things must be made explicit.
//!
//! - Each array that the body allocates is placed ([`memory`]): in the memory of the group, or as a
//!   chunk of one array in the memory of the device, which is allocated before the loop.
//! - A command that writes memory which other threads see is given to one thread, as a loop at the
//!   level of a thread with one iteration. An ordered region runs once for the group anyway.
//! - Threads wait for each other at barriers where they use what others have written ([`barriers`]).
//!
//! A loop that uses something which groups do not have stays a loop of the host.

mod accesses;
mod barriers;
mod live;
mod memory;
mod places;
mod states;

use crate::obstacles::{appends_nodes, functions_for_the_host, obstacle};
pub(crate) use accesses::Origins;
use accesses::Roots;
use nova_core::Scalar;
use nova_diag::{Place, deep};
use nova_loop::call_graph::functions_with;
use nova_loop::captures::{captured, keeps_to_itself};
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, FunctionId, Level, Program, Type, Variable};
use nova_loop::kernels::{
    functions_with_memory, own_pointers, shared_pointers, tables_in, takes_memory,
    writing_functions,
};
use nova_loop::ordered_commands;
use nova_loop::walk::set_levels;
use nova_loop_opt::parallel_regions::borrow;
use std::collections::BTreeSet;

/// Prepares the loops of work-groups. Loops that a device cannot run become sequential.
pub fn run(program: &mut Program) {
    let any = program
        .functions
        .iter()
        .any(|function| has_group_loops(&function.body));
    if !any {
        return;
    }
    // Work-groups have no memory of threads, and so no explicit call stack. They are not run again,
    // so they append no nodes.
    let mut host = functions_for_the_host(program, &BTreeSet::new());
    host.extend(functions_with(program, &|f| appends_nodes(&f.body)));
    let writing = writing_functions(program);
    let with_memory = functions_with_memory(program);
    each_function(program, |program, function| {
        let mut groups = Groups {
            origins: Origins::of(function),
            program,
            host: &host,
            writing: &writing,
            with_memory: &with_memory,
        };
        groups.list(&mut function.body);
    });
}

struct Groups<'a> {
    program: &'a mut Program,
    /// Functions that no kernel can call.
    host: &'a BTreeSet<FunctionId>,
    /// Functions that write through pointers that they are given.
    writing: &'a BTreeSet<FunctionId>,
    /// Functions that use memory of a thread, which threads of groups do not have.
    with_memory: &'a BTreeSet<FunctionId>,
    origins: Origins,
}

impl Groups<'_> {
    fn list(&mut self, commands: &mut Vec<Command>) {
        let mut out = Vec::with_capacity(commands.len());
        for mut command in std::mem::take(commands) {
            if let Command::For { level, .. } = &mut command {
                match level {
                    Level::Block => {
                        if let Some(lowered) = self.lower(&command) {
                            out.extend(lowered);
                            continue;
                        }
                        make_sequential(&mut command);
                    }
                    Level::Thread => *level = Level::Sequential,
                    Level::Sequential
                    | Level::Grid
                    | Level::Vector
                    | Level::Independent
                    | Level::Unrolled
                    | Level::Rank => {}
                }
            }
            for list in command.lists_mut() {
                deep(|| self.list(list));
            }
            out.push(command);
        }
        *commands = out;
    }

    /// Returns a loop over work-groups with the commands before and after it, if a device can run
    /// it.
    fn lower(&mut self, command: &Command) -> Option<Vec<Command>> {
        let Command::For {
            variable,
            count,
            body,
            place,
            ..
        } = command
        else {
            return None;
        };
        let mut body = body.clone();
        settle(&mut body);
        if !keeps_to_itself(*variable, &body) {
            return None;
        }
        states::settle(&mut body);
        let mut before = Vec::new();
        let count = self.simple_count(count, &mut before);
        let after = memory::place(
            self.program,
            &mut self.origins,
            (*variable, &count),
            &mut body,
            &mut before,
        )?;
        let roots = Roots::of(self.program, &body);
        share_locals(&mut body, &roots);
        let roots = Roots::of(self.program, &body);
        self.guard(&mut body, &roots, place)?;
        let taken = captured(*variable, &body);
        borrow(self.program, &taken, &mut body);
        barriers::place(&self.origins, &roots, self.writing, &mut body);
        let types = self.program.clone_types();
        let fits = obstacle(&types, self.host, &body).is_none()
            && !appends_nodes(&body)
            && !takes_memory(self.with_memory, &body)
            && tables_in(&body).is_empty()
            && own_pointers(&types, &body).is_some()
            && shared_pointers(&types, &body).is_some();
        if !fits {
            return None;
        }
        before.push(Command::For {
            variable: *variable,
            count,
            level: Level::Block,
            body,
            place: place.clone(),
        });
        before.extend(after);
        Some(before)
    }

    /// Returns a count that costs nothing to evaluate again.
    fn simple_count(&mut self, count: &Expression, before: &mut Vec<Command>) -> Expression {
        if count.is_simple() {
            return count.clone();
        }
        let groups = self.program.add_variable("groups", INDEX);
        before.push(Command::declare(groups, count.clone()));
        Expression::Variable(groups)
    }

    /// Gives commands that write memory which other threads see to one thread. Returns `None` if
    /// that cannot be done.
    fn guard(&mut self, commands: &mut Vec<Command>, roots: &Roots, place: &Place) -> Option<()> {
        let mut out: Vec<Command> = Vec::with_capacity(commands.len());
        let mut in_ordered_region = false;
        for mut command in std::mem::take(commands) {
            if let ordered_commands!() = command {
                in_ordered_region = !in_ordered_region;
            }
            // An ordered region runs once for the whole group.
            if in_ordered_region || is_of_threads(&command) {
                out.push(command);
                continue;
            }
            let touched = roots.touched(self.writing, std::slice::from_ref(&command));
            if touched.writes.is_empty() {
                out.push(command);
                continue;
            }
            if is_alone(&command) && !touched.writes_own {
                match out.last_mut() {
                    Some(Command::For {
                        count,
                        body,
                        level: Level::Thread,
                        ..
                    }) if count.as_index() == Some(1) && is_store(&command) => {
                        body.push(command);
                    }
                    _other => out.push(self.for_one(command, place)),
                }
                continue;
            }
            if command.lists().is_empty() {
                return None;
            }
            for list in command.lists_mut() {
                deep(|| self.guard(list, roots, place))?;
            }
            out.push(command);
        }
        *commands = out;
        Some(())
    }

    /// Returns a command that one thread of the group runs.
    fn for_one(&mut self, command: Command, place: &Place) -> Command {
        Command::For {
            variable: self.program.add_variable("first", INDEX),
            count: Expression::index(1),
            level: Level::Thread,
            body: vec![command],
            place: place.clone(),
        }
    }
}

const INDEX: Type = Type::Scalar(Scalar::I64);

/// True if a command is a loop that the threads of a group share.
fn is_of_threads(command: &Command) -> bool {
    matches!(
        command,
        Command::For {
            level: Level::Thread,
            ..
        }
    )
}

fn is_store(command: &Command) -> bool {
    matches!(command, Command::Store { .. })
}

/// True if nothing that a command assigns is used after it, and it contains no loop that threads
/// share.
fn is_alone(command: &Command) -> bool {
    match command {
        Command::Store { .. } | Command::Copy { .. } => true,
        Command::For { variable, body, .. } => {
            !holds_threads(body) && keeps_to_itself(*variable, body)
        }
        _others => false,
    }
}

/// True if commands contain a loop that the threads of a group share.
fn holds_threads(commands: &[Command]) -> bool {
    let mut found = false;
    nova_loop::walk::each_command(commands, |command| found |= is_of_threads(command));
    found
}

/// True if commands contain a loop over work-groups, or one that the threads of a group share.
pub(crate) fn has_group_loops(commands: &[Command]) -> bool {
    let mut found = false;
    nova_loop::walk::each_command(commands, |command| {
        found |= matches!(
            command,
            Command::For {
                level: Level::Block | Level::Thread,
                ..
            }
        );
    });
    found
}

/// Leaves in a group only loops that its threads can share. A loop inside another such loop, or one
/// that assigns variables from outside it, becomes sequential.
fn settle(commands: &mut [Command]) {
    set_levels(commands, false, &|in_thread, variable, level, body| {
        let shared = level == Level::Thread && !in_thread && keeps_to_itself(variable, body);
        let level = match level.is_parallel() && !shared {
            true => Level::Sequential,
            false => level,
        };
        (level, in_thread || shared)
    });
}

/// Makes loops over groups, and those of their threads, sequential.
fn make_sequential(command: &mut Command) {
    let commands = std::slice::from_mut(command);
    set_levels(commands, (), &|(), _, level, _| match level {
        Level::Block | Level::Thread => (Level::Sequential, ()),
        others => (others, ()),
    });
}

/// Makes small arrays on the stack arrays of the group, if the threads of a group write them
/// together.
fn share_locals(body: &mut [Command], roots: &Roots) {
    let mut written = BTreeSet::new();
    nova_loop::walk::each_command(body, |command| {
        if is_of_threads(command) {
            for list in command.lists() {
                written.extend(roots.written_own(list));
            }
        }
    });
    share_in(body, &written);
}

fn share_in(commands: &mut [Command], written: &BTreeSet<Variable>) {
    for command in commands {
        match command {
            Command::Local { pointer, count } if written.contains(pointer) => {
                *command = Command::Shared {
                    pointer: *pointer,
                    count: Expression::index(i64::from(*count)),
                };
            }
            command if is_of_threads(command) => {}
            others => {
                for list in others.lists_mut() {
                    deep(|| share_in(list, written));
                }
            }
        }
    }
}
