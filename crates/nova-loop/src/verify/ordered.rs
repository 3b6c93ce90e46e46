//! The rules of ordered regions: they stand where no thread can wait for ever.

use crate::error::InternalError;
use crate::ir::{Command, Function, Level, Program, Variable};
use crate::ordered_regions::propagated;
use crate::walk::{each_command, has_ordered_region};
use crate::{
    bulk_commands, calls, errors, jumps, ordered_commands, result_buffer_commands,
    variable_commands,
};

/// Reports ordered regions that stand where they must not.
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
                && has_ordered_region(body)
            {
                match is_paired(body, *variable) {
                    true => paired += 2,
                    false => complain("ordered regions that do not begin and end once"),
                }
                if may_wait(*level, body) {
                    complain("a loop with ordered regions that may wait or not end");
                }
                if *level == Level::Block && propagated(body).is_none() {
                    complain("an ordered region of a group that does more than propagate prefixes");
                }
            }
        });
        let mut all = 0;
        each_command(&function.body, |command| {
            all += usize::from(matches!(command, ordered_commands!()));
        });
        if all > paired {
            complain("an ordered region outside of a loop that threads share");
        }
    }
}

/// True if an iteration begins and then ends one ordered region, and has no other.
fn is_paired(body: &[Command], index: Variable) -> bool {
    let ordered: Vec<&Command> = body
        .iter()
        .filter(|c| matches!(c, ordered_commands!()))
        .collect();
    matches!(ordered[..], [Command::BeginOrdered(a), Command::EndOrdered(b)] if *a == index && *b == index)
}

/// True if an iteration may leave its body early, or wait for others outside of its ordered region.
/// Allocations of groups become parts of the groups' memory, and their barriers wait only for threads of the
/// same group.
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
