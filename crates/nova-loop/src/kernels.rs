//! Selects the loops at the level of a grid that become kernels of a device: those whose iterations
//! use nothing that only the host has. All other loops run on the host, in order.
//!
//! A kernel may compute, and may read and write arrays from outside it. It may make arrays of its
//! own in memory of the thread, and store them in per-iteration result buffers. It may append nodes
//! without arrays, call functions that do no more, and fail. [`Obstacle`] lists what it may not do.
//! Each pointer variable of a kernel leads either to memory that all threads see or to an array of
//! the thread's own ([`own_pointers`]), since kernel languages distinguish these in their types.

mod instances;
mod pointers;
mod writes;

use crate::ir::{Command, Expression, FunctionId, Level, Program, Type, Variable};
use crate::ir::{errors, fixed_block_commands, structures, variable_commands};
use crate::ordered_commands;
use crate::parallel_regions::{functions_with, keeps_to_itself, restrict};
use crate::walk::{each_command, has_ordered_region, reads, set_levels};
use crate::{call_stack, work_groups};
use nova_diag::deep;
use std::collections::BTreeSet;

use instances::Instances;
pub use pointers::{Types, own_pointers, shared_pointers};
pub(crate) use writes::writing_functions;
pub use writes::written;

/// Leaves the loops at the level of a grid that can be kernels as they are. All other such loops,
/// and those inside kernels, become sequential.
pub fn run(program: &mut Program) {
    program.nodes_by_threads = true;
    let instances = Instances::make(program);
    // Work-groups have no memory of threads, and so no explicit call stack. They are not run again,
    // so they append no nodes.
    let mut host = functions_for_the_host(program, &BTreeSet::new());
    host.extend(functions_with(program, &|f| appends_nodes(&f.body)));
    work_groups::run(program, &host);
    let with_call_stack = call_stack::convertible(program);
    let host = functions_for_the_host(program, &with_call_stack);
    let variables = program.clone_types();
    restrict(program, &|index, body| {
        // A loop over work-groups cannot start in a thread of a grid: the host runs the loops that
        // enclose it.
        keeps_to_itself(index, body)
            && !has_ordered_region(body)
            && !work_groups::has_group_loops(body)
            && obstacle(&variables, &host, body).is_none()
            && own_pointers(&variables, body).is_some()
    });
    for function in &mut program.functions {
        flatten(&mut function.body);
    }
    keep_readers_of_host_tables_on_host(program);
    instances.leave_to_kernels(program);
    if !with_call_stack.is_empty() {
        call_stack::run(program);
    }
}

/// Makes loops sequential that read result buffers which the host has stored, since the device has
/// no table of them. This is repeated until all other loops read buffers that kernels have stored.
fn keep_readers_of_host_tables_on_host(program: &mut Program) {
    let mut before = usize::MAX;
    loop {
        let tables = tables_of_kernels(program);
        if tables.len() == before {
            return;
        }
        before = tables.len();
        restrict(program, &|_, body| tables_in(body).is_subset(&tables));
    }
}

/// Makes loops inside kernels sequential, since one thread runs an iteration.
fn flatten(commands: &mut [Command]) {
    set_levels(commands, false, &|inside, _, level, _| {
        let level = match level {
            Level::Grid if inside => Level::Sequential,
            others => others,
        };
        (level, inside || level.starts_kernel())
    });
}

/// A reason why commands cannot run in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Memory of the result is allocated.
    Result,
    /// A table of per-iteration result buffers is made or freed.
    ResultBuffers,
    /// Nodes of a recursive type whose nodes hold arrays are appended to a table.
    Nodes,
    /// A foreign function of the host is called.
    Foreign,
    /// Something is written to standard error.
    Trace,
    /// A function is called that has one of these obstacles, or that is recursive and cannot have
    /// an explicit call stack.
    Call,
    /// Constant text is read.
    Text,
    /// A command is used that only processors support.
    Processor,
}

/// Returns the first thing in commands that a kernel cannot do, if there is one. `host` are the
/// functions that it cannot call.
pub fn obstacle(
    types: &Types,
    host: &BTreeSet<FunctionId>,
    commands: &[Command],
) -> Option<Obstacle> {
    let mut found = None;
    each_command(commands, |command| {
        let mut own = of_command(types, host, command);
        reads(command, &mut |expression| {
            own = own.or(of_expression(expression));
        });
        found = found.or(own);
    });
    found
}

fn of_command(types: &Types, host: &BTreeSet<FunctionId>, command: &Command) -> Option<Obstacle> {
    match command {
        variable_commands!() | structures!() | errors!() => None,
        Command::Store { .. } | Command::Contend { .. } | Command::Copy { .. } => None,
        Command::Allocate { destination, .. } => destination.as_ref().map(|_| Obstacle::Result),
        Command::Reserve { .. }
        | Command::Unique { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | Command::StoreBuffer { .. }
        | Command::Buffer { .. } => None,
        Command::ResultBuffers { .. } | Command::DropBuffers { .. } => {
            Some(Obstacle::ResultBuffers)
        }
        Command::MaySplit { .. }
        | Command::PlanNonTemporal { .. }
        | Command::NonTemporalStore { .. }
        | fixed_block_commands!() => Some(Obstacle::Processor),
        // For work-groups only: threads of a grid would wait for each other.
        ordered_commands!() => None,
        Command::Call { function, .. } => host.contains(function).then_some(Obstacle::Call),
        Command::Foreign { foreign, .. } => {
            (!types.is_of_device(*foreign)).then_some(Obstacle::Foreign)
        }
        Command::NodeNew { sum, .. } => types.nodes_hold_arrays(*sum).then_some(Obstacle::Nodes),
        Command::NodePayload { .. } => None,
        Command::Trace { .. } => Some(Obstacle::Trace),
        Command::Break | Command::Continue | Command::Return => None,
        Command::Barrier(_)
        | Command::StoreFence
        | Command::Prefetch { .. }
        | Command::OnHost { .. }
        | Command::Comment(_) => None,
    }
}

fn of_expression(expression: &Expression) -> Option<Obstacle> {
    match expression {
        Expression::Bytes(_) | Expression::Data(..) => Some(Obstacle::Text),
        Expression::Constant(_)
        | Expression::Variable(_)
        | Expression::Scalar { .. }
        | Expression::Select { .. }
        | Expression::Load { .. }
        | Expression::Offset { .. }
        | Expression::NullPointer(_)
        | Expression::NullBlock
        | Expression::NodeTag { .. } => {
            let mut children = expression.children().into_iter();
            children.find_map(|child| deep(|| of_expression(child)))
        }
    }
}

/// Returns the functions that kernels cannot call: functions that use what only the host has, and
/// recursive functions without an explicit call stack. `with_call_stack` are the recursive
/// functions that can have one.
pub fn functions_for_the_host(
    program: &Program,
    with_call_stack: &BTreeSet<FunctionId>,
) -> BTreeSet<FunctionId> {
    let none = BTreeSet::new();
    let types = program.clone_types();
    let written: BTreeSet<&str> = with_call_stack
        .iter()
        .filter_map(|id| program.functions.get(id.index()))
        .map(|function| &*function.name)
        .collect();
    functions_with(program, &|function| {
        (function.recursive && !written.contains(&*function.name))
            || obstacle(&types, &none, &function.body).is_some()
            || own_pointers(&types, &function.body).is_none()
    })
}

/// True if commands append nodes to tables. Calls are ignored.
pub fn appends_nodes(commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        found |= matches!(command, Command::NodeNew { .. });
    });
    found
}

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

/// Returns the functions that commands call, directly or indirectly, callees before their callers.
pub fn called(program: &Program, commands: &[Command]) -> Vec<FunctionId> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    calls_of(program, commands, &mut seen, &mut found);
    found
}

fn calls_of(
    program: &Program,
    commands: &[Command],
    seen: &mut BTreeSet<FunctionId>,
    found: &mut Vec<FunctionId>,
) {
    each_command(commands, |command| {
        if let Command::Call { function, .. } = command
            && seen.insert(*function)
        {
            if let Some(callee) = program.functions.get(function.index()) {
                deep(|| calls_of(program, &callee.body, seen, found));
            }
            found.push(*function);
        }
    });
}
