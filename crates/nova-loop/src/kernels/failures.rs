//! The parts of kernels that fail whenever they run. What such a part would store after its failure does not
//! stand in the program, so neither do the arrays that it would store to.

use crate::call_graph::called;
use crate::ir::{Command, Program};
use crate::walk::each_command;
use nova_diag::deep;

/// True if every execution of a list of commands fails, unless it is left early.
fn always_fails(commands: &[Command]) -> bool {
    commands.iter().any(|command| match command {
        Command::Fail { .. } => true,
        Command::If {
            then, otherwise, ..
        } => deep(|| always_fails(then) && always_fails(otherwise)),
        Command::Switch { cases, .. } => deep(|| cases.iter().all(|case| always_fails(case))),
        _others => false,
    })
}

/// True if the body of a kernel, of a loop inside it, or of a function that it calls, always fails.
pub fn has_failing_part(program: &Program, body: &[Command]) -> bool {
    let has_failing_loop = |commands: &[Command]| {
        let mut found = always_fails(commands);
        each_command(commands, |command| {
            if let Command::For { body, .. } | Command::Loop { body, .. } = command {
                found |= always_fails(body);
            }
        });
        found
    };
    let functions = called(program, body);
    let mut callees = functions
        .iter()
        .filter_map(|id| program.functions.get(id.index()));
    has_failing_loop(body) || callees.any(|function| has_failing_loop(&function.body))
}
