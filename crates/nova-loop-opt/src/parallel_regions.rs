//! Parallel regions: the loops at the level of a grid whose iterations threads can share, and the
//! variables that these loops take from outside.
//!
//! The iterations of such a loop are independent, since it comes from a grid of Flat. But node
//! tables, traces and foreign functions with side effects belong to the whole call, so a loop that
//! uses those stays sequential. References are counted without atomic operations. So a loop only
//! borrows what it takes from outside, which lives until the loop ends. Inside the loop the handles
//! of such arrays are null, which needs no counting; code that stores such an array copies it.

use crate::functions::each_function;
use nova_diag::deep;
use nova_loop::call_graph::functions_with;
use nova_loop::captures::{captured, keeps_to_itself};
use nova_loop::ir::{Command, Expression, FunctionId, Level, Program, Type, Variable};
use nova_loop::ir::{bulk_commands, errors, jumps, remarks, structures, variable_commands};
use nova_loop::result_buffer_commands;
use nova_loop::walk::{each_command, reads_mut, set_level};
use std::collections::BTreeSet;

/// Makes loops sequential that threads cannot share. In the other loops, each iteration with
/// non-temporal stores ends with a fence.
pub fn run(program: &mut Program) {
    let apart = functions_for_one_thread(program);
    let ordered = ordered_foreigns(program);
    restrict(program, &|index, body| {
        is_shareable((&apart, &ordered), index, body)
    });
}

/// Makes the loops at the level of a grid sequential that `is_shared` refuses. The others borrow
/// what they take from outside.
pub(crate) fn restrict(program: &mut Program, is_shared: &dyn Fn(Variable, &[Command]) -> bool) {
    each_function(program, |program, function| {
        restrict_list(program, is_shared, &mut function.body);
    });
}

fn restrict_list(
    program: &Program,
    is_shared: &dyn Fn(Variable, &[Command]) -> bool,
    commands: &mut [Command],
) {
    for command in commands {
        if let Command::For {
            variable,
            level: level @ Level::Grid,
            body,
            ..
        } = command
        {
            if is_shared(*variable, body) {
                borrow(program, &captured(*variable, body), body);
                end_with_fence(body);
            } else {
                set_level(level, Level::Sequential, body);
            }
        }
        for list in command.lists_mut() {
            deep(|| restrict_list(program, is_shared, list));
        }
    }
}

/// Adds a fence at the end of an iteration: other threads see the non-temporal stores of a thread
/// only after it has executed one.
fn end_with_fence(body: &mut Vec<Command>) {
    let mut non_temporal = false;
    each_command(body, |command| {
        non_temporal |= matches!(command, Command::NonTemporalStore { .. });
    });
    if non_temporal {
        body.push(Command::StoreFence);
    }
}

/// Returns the functions that use what belongs to the whole call, directly or through functions
/// that they call.
fn functions_for_one_thread(program: &Program) -> BTreeSet<FunctionId> {
    let ordered = ordered_foreigns(program);
    functions_with(program, &|function| {
        uses_call(&function.body, (&BTreeSet::new(), &ordered))
    })
}

/// Returns the foreign functions that belong to the whole call, by number.
fn ordered_foreigns(program: &Program) -> BTreeSet<u32> {
    let all = 0..program.foreigns.len() as u32;
    all.filter(|foreign| program.is_ordered(*foreign)).collect()
}

/// True if commands use what belongs to the whole call: node tables to which they append, whole tables,
/// the result's memory, standard error, foreign functions with side effects. `apart` are the functions
/// and the foreign functions that do.
fn uses_call(commands: &[Command], apart: (&BTreeSet<FunctionId>, &BTreeSet<u32>)) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        found |= match command {
            Command::NodeNew { .. } | Command::Table(_) | Command::Trace { .. } => true,
            Command::Foreign { foreign, .. } => apart.1.contains(foreign),
            Command::Allocate { destination, .. } => destination.is_some(),
            Command::Call { function, .. } => apart.0.contains(function),
            Command::NodePayload { .. }
            | Command::Store { .. }
            | Command::Contend { .. }
            | Command::Reserve { .. }
            | Command::Unique { .. }
            | result_buffer_commands!()
            | Command::Retain(_)
            | Command::Release(_)
            | bulk_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | remarks!() => false,
        };
    });
    found
}

/// True if threads can share the iterations of a loop: they do not use what belongs to the whole
/// call, do not leave the function, and assign nothing from outside.
fn is_shareable(
    apart: (&BTreeSet<FunctionId>, &BTreeSet<u32>),
    index: Variable,
    body: &[Command],
) -> bool {
    !uses_call(body, apart) && keeps_to_itself(index, body)
}

/// Makes the handles that commands take from outside null.
pub(crate) fn borrow(program: &Program, captured: &[Variable], commands: &mut Vec<Command>) {
    let handles = captured.iter().copied();
    let handles: BTreeSet<Variable> = handles
        .filter(|v| program.variable(*v).ty == Type::Block)
        .collect();
    if !handles.is_empty() {
        forget(&handles, commands);
    }
}

pub(crate) fn forget(handles: &BTreeSet<Variable>, commands: &mut Vec<Command>) {
    commands.retain(|command| match command {
        Command::Retain(handle) | Command::Release(handle) => !handles.contains(handle),
        _others => true,
    });
    for command in commands {
        reads_mut(command, &mut |expression| forget_in(handles, expression));
        for list in command.lists_mut() {
            deep(|| forget(handles, list));
        }
    }
}

fn forget_in(handles: &BTreeSet<Variable>, expression: &mut Expression) {
    match expression {
        Expression::Variable(v) if handles.contains(v) => *expression = Expression::NullBlock,
        others => {
            for child in others.children_mut() {
                deep(|| forget_in(handles, child));
            }
        }
    }
}
