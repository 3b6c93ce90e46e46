//! Parallel regions: the loops at the level of a grid whose iterations threads can share, and the
//! variables that these loops take from outside.
//!
//! The iterations of such a loop are independent, since it comes from a grid of Flat. But traces, foreign
//! functions with side effects and commands on whole node tables belong to the whole call, so a loop
//! that uses those stays sequential. So does a loop that appends nodes with arrays.
//!
//! References are counted without atomic operations. So a loop only borrows what it takes from outside,
//! which lives until the loop ends. Inside the loop the handles of such arrays are null, which needs no
//! counting; code that stores such an array copies it.

use nova_core::SumId;
use nova_diag::deep;
use nova_loop::call_graph::{functions_with, made_in_grids};
use nova_loop::captures::{captured, keeps_to_itself};
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, FunctionId, Level, Program, Type, Variable};
use nova_loop::ir::{bulk_commands, errors, jumps, remarks, structures, variable_commands};
use nova_loop::result_buffer_commands;
use nova_loop::walk::{each_command, reads_mut, set_level};
use std::collections::BTreeSet;

/// Makes loops sequential that threads cannot share. In the other loops, each iteration with
/// non-temporal stores ends with a fence. Threads may append nodes to one table if these hold no arrays.
pub fn run(program: &mut Program) {
    let apart = WholeCall::of(program);
    restrict(program, &|index, body| {
        !apart.is_used_by(body) && keeps_to_itself(index, body)
    });
    program.nodes_by_threads = !made_in_grids(program).is_empty();
}

/// Makes the loops at the level of a grid sequential that `is_shared` refuses. The others borrow
/// what they take from outside.
pub fn restrict(program: &mut Program, is_shared: &dyn Fn(Variable, &[Command]) -> bool) {
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

/// The resources of the whole call, which one thread must use: node tables to which threads cannot append,
/// whole tables, the result's memory, standard error, foreign functions with side effects.
struct WholeCall {
    /// The functions that use it, directly or through functions that they call.
    functions: BTreeSet<FunctionId>,
    /// The foreign functions that use it, by number.
    foreigns: BTreeSet<u32>,
    /// The sums whose nodes hold arrays, the references of which several threads would count.
    sums: BTreeSet<SumId>,
}

impl WholeCall {
    fn of(program: &Program) -> WholeCall {
        let foreigns = 0..program.foreigns.len() as u32;
        let sums = (0..program.sums.len()).map(|k| SumId(k as u32));
        let mut apart = WholeCall {
            functions: BTreeSet::new(),
            foreigns: foreigns
                .filter(|foreign| program.is_ordered(*foreign))
                .collect(),
            sums: sums.filter(|sum| program.nodes_hold_arrays(*sum)).collect(),
        };
        apart.functions = functions_with(program, &|function| apart.is_used_by(&function.body));
        apart
    }

    fn is_used_by(&self, commands: &[Command]) -> bool {
        let mut found = false;
        each_command(commands, |command| {
            found |= match command {
                Command::NodeNew { sum, .. } => self.sums.contains(sum),
                Command::Table(_) | Command::Trace { .. } => true,
                Command::Foreign { foreign, .. } => self.foreigns.contains(foreign),
                Command::Allocate { destination, .. } => destination.is_some(),
                Command::Call { function, .. } => self.functions.contains(function),
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
}

/// Makes the handles that commands take from outside null.
pub fn borrow(program: &Program, captured: &[Variable], commands: &mut Vec<Command>) {
    let handles = captured.iter().copied();
    let handles: BTreeSet<Variable> = handles
        .filter(|v| program.variable(*v).ty == Type::Block)
        .collect();
    if !handles.is_empty() {
        forget(&handles, commands);
    }
}

pub fn forget(handles: &BTreeSet<Variable>, commands: &mut Vec<Command>) {
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
