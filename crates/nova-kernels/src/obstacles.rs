//! The obstacles that keep commands out of kernels: what only the host has.

use nova_diag::deep;
use nova_loop::call_graph::functions_with;
use nova_loop::ir::{Command, Expression, FunctionId, Program};
use nova_loop::ir::{errors, fixed_block_commands, structures, variable_commands};
use nova_loop::kernels::{Types, own_pointers};
use nova_loop::ordered_commands;
use nova_loop::walk::{each_command, reads};
use std::collections::BTreeSet;

/// A reason why commands cannot run in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Memory of the result is allocated.
    Result,
    /// A table of per-iteration result buffers is made or freed.
    ResultBuffers,
    /// Nodes of a recursive type whose nodes hold arrays are appended to a table.
    Nodes,
    /// Nodes of a whole table are numbered, reserved, filled or checked.
    Tables,
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
        Command::Table(_) => Some(Obstacle::Tables),
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
