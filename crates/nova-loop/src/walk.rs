//! What single commands read and write, without looking into the lists inside them.

use crate::ir::{Command, Expression, Variable, errors, jumps};

/// Calls `see` for every command of a list, at any depth.
pub fn each_command<'p>(commands: &'p [Command], mut see: impl FnMut(&'p Command)) {
    let mut left: Vec<&'p [Command]> = vec![commands];
    while let Some(commands) = left.pop() {
        for command in commands {
            see(command);
            left.extend(command.lists().into_iter().map(Vec::as_slice));
        }
    }
}

/// Calls `visit` on every expression that a command evaluates.
pub fn reads<'a>(command: &'a Command, visit: &mut dyn FnMut(&'a Expression)) {
    match command {
        Command::Declare { value, .. } => value.iter().for_each(visit),
        Command::Assign { value, .. } => visit(value),
        Command::Store { index, value, .. } => {
            visit(index);
            visit(value);
        }
        Command::Allocate { count, .. } | Command::Unique { count, .. } => visit(count),
        Command::Reserve { used, count, .. } => {
            visit(used);
            visit(count);
        }
        Command::Copy {
            to, from, count, ..
        } => {
            visit(to);
            visit(from);
            visit(count);
        }
        Command::If { condition, .. } => visit(condition),
        Command::Switch { scrutinee, .. } => visit(scrutinee),
        Command::For { count, .. } => visit(count),
        Command::Call { arguments, .. }
        | Command::Foreign { arguments, .. }
        | Command::Fail { arguments, .. } => arguments.iter().for_each(visit),
        Command::Check {
            condition,
            arguments,
            ..
        } => {
            visit(condition);
            arguments.iter().for_each(visit);
        }
        Command::NodeNew { payload, .. } => payload.iter().for_each(visit),
        Command::NodePayload { link, .. } => visit(link),
        Command::Trace { components, .. } => components.iter().for_each(visit),
        Command::Local { .. } | Command::Retain(_) | Command::Release(_) | Command::Loop { .. } => {
        }
        Command::Prefetch { index, .. } => visit(index),
        Command::Barrier(_) | Command::Comment(_) | jumps!() => {}
    }
}

/// As [`reads`], for changing the expressions.
pub fn reads_mut(command: &mut Command, visit: &mut dyn FnMut(&mut Expression)) {
    match command {
        Command::Declare { value, .. } => value.iter_mut().for_each(visit),
        Command::Assign { value, .. } => visit(value),
        Command::Store { index, value, .. } => {
            visit(index);
            visit(value);
        }
        Command::Allocate { count, .. } | Command::Unique { count, .. } => visit(count),
        Command::Reserve { used, count, .. } => {
            visit(used);
            visit(count);
        }
        Command::Copy {
            to, from, count, ..
        } => {
            visit(to);
            visit(from);
            visit(count);
        }
        Command::If { condition, .. } => visit(condition),
        Command::Switch { scrutinee, .. } => visit(scrutinee),
        Command::For { count, .. } => visit(count),
        Command::Call { arguments, .. }
        | Command::Foreign { arguments, .. }
        | Command::Fail { arguments, .. } => arguments.iter_mut().for_each(visit),
        Command::Check {
            condition,
            arguments,
            ..
        } => {
            visit(condition);
            arguments.iter_mut().for_each(visit);
        }
        Command::NodeNew { payload, .. } => payload.iter_mut().for_each(visit),
        Command::NodePayload { link, .. } => visit(link),
        Command::Trace { components, .. } => components.iter_mut().for_each(visit),
        Command::Local { .. } | Command::Retain(_) | Command::Release(_) | Command::Loop { .. } => {
        }
        Command::Prefetch { index, .. } => visit(index),
        Command::Barrier(_) | Command::Comment(_) | jumps!() => {}
    }
}

/// Calls `visit` on every variable that a command names itself, outside expressions: assigned,
/// stored through or prefetched, retained, released.
pub fn writes(command: &Command, visit: &mut dyn FnMut(Variable)) {
    match command {
        Command::Declare { variable, .. } | Command::Assign { variable, .. } => visit(*variable),
        Command::Local { pointer, .. }
        | Command::Store { pointer, .. }
        | Command::Prefetch { pointer, .. } => visit(*pointer),
        Command::Allocate { block, pointer, .. }
        | Command::Reserve { block, pointer, .. }
        | Command::Unique { block, pointer, .. } => {
            visit(*block);
            visit(*pointer);
        }
        Command::Retain(variable) | Command::Release(variable) => visit(*variable),
        Command::For { variable, .. } => visit(*variable),
        Command::Call { results, .. }
        | Command::Foreign { results, .. }
        | Command::NodePayload { results, .. } => results.iter().copied().for_each(visit),
        Command::NodeNew { link, .. } => visit(*link),
        Command::Copy { .. }
        | Command::If { .. }
        | Command::Switch { .. }
        | Command::Loop { .. }
        | Command::Trace { .. } => {}
        Command::Barrier(_) | Command::Comment(_) | jumps!() | errors!() => {}
    }
}
