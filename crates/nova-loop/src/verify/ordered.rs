//! Turns are taken where nobody can wait for ever.

use crate::error::InternalError;
use crate::ir::{Command, Function, Level, Program, Variable};
use crate::ordered_regions::handed_on;
use crate::walk::{each_command, takes_turns};
use crate::{
    bulk_commands, calls, errors, jumps, ordered_commands, result_buffer_commands,
    variable_commands,
};

/// Reports turns that are taken where they must not be.
pub(super) fn check(program: &Program, errors: &mut Vec<InternalError>) {
    for function in &program.functions {
        let mut complain = |message: &str| errors.push(error(function, message));
        let mut paired = 0;
        each_command(&function.body, |command| {
            if let Command::For {
                variable,
                level: level @ (Level::Grid | Level::Block),
                body,
                ..
            } = command
                && takes_turns(body)
            {
                match is_paired(body, *variable) {
                    true => paired += 2,
                    false => complain("turns that do not begin and end once"),
                }
                if may_wait(*level, body) {
                    complain("a loop with turns that may wait or not end");
                }
                if *level == Level::Block && handed_on(body).is_none() {
                    complain("a turn of a group that does more than hand numbers on");
                }
            }
        });
        let mut all = 0;
        each_command(&function.body, |command| {
            all += usize::from(matches!(command, ordered_commands!()));
        });
        if all > paired {
            complain("a turn outside of a loop that threads share");
        }
    }
}

/// True if the turn of an iteration begins, then ends, and there is no other.
fn is_paired(body: &[Command], index: Variable) -> bool {
    let turns: Vec<&Command> = body
        .iter()
        .filter(|c| matches!(c, ordered_commands!()))
        .collect();
    matches!(turns[..], [Command::BeginOrdered(a), Command::EndOrdered(b)] if *a == index && *b == index)
}

/// True if an iteration may end before its end, or wait for others outside of its turn. Allocations of
/// groups become parts of their memory, and the threads of a group wait for each other only.
fn may_wait(level: Level, body: &[Command]) -> bool {
    let of_group = level == Level::Block;
    let mut waits = false;
    each_command(body, |command| {
        waits |= match command {
            Command::For { level, .. } => level.starts_kernel(),
            Command::Allocate { .. } | Command::Barrier(_) => !of_group,
            Command::Reserve { .. }
            | Command::Unique { .. }
            | Command::Loop { .. }
            | result_buffer_commands!()
            | jumps!()
            | errors!()
            | calls!() => true,
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::Retain(_)
            | Command::Release(_)
            | Command::If { .. }
            | Command::Switch { .. }
            | Command::StoreFence
            | Command::Prefetch { .. }
            | Command::OnHost { .. }
            | Command::Comment(_)
            | bulk_commands!()
            | variable_commands!()
            | ordered_commands!() => false,
        };
    });
    waits
}

fn error(function: &Function, message: &str) -> InternalError {
    InternalError {
        message: message.to_string(),
        function: Some(function.name.clone()),
        place: Some(function.place.clone()),
    }
}
