//! The lists of commands inside commands, and drops of commands that may nest deeply.

use crate::ir::{Command, Expression, Function, Level, Variable};
use crate::{calls, errors, jumps, memory_commands, remarks, variable_commands};
use nova_diag::Place;

impl Drop for Function {
    /// Drops the body without recursion, since commands may nest deeply.
    fn drop(&mut self) {
        drop_commands(std::mem::take(&mut self.body));
    }
}

/// Drops commands without recursing over their nesting.
pub fn drop_commands(commands: Vec<Command>) {
    let mut left = vec![commands];
    while let Some(commands) = left.pop() {
        for mut command in commands {
            left.extend(command.lists_mut().into_iter().map(std::mem::take));
        }
    }
}

impl Command {
    /// Declares a variable with a value.
    pub fn declare(variable: Variable, value: Expression) -> Command {
        Command::Declare {
            variable,
            value: Some(value),
        }
    }

    /// Returns a loop of one thread.
    pub fn sequential(
        variable: Variable,
        count: Expression,
        body: Vec<Command>,
        place: &Place,
    ) -> Command {
        Command::For {
            variable,
            count,
            level: Level::Sequential,
            body,
            place: place.clone(),
        }
    }

    /// Returns the command lists directly inside.
    pub fn lists(&self) -> Vec<&Vec<Command>> {
        match self {
            Command::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Command::Switch { cases, .. } => cases.iter().collect(),
            Command::For { body, .. } | Command::Loop { body, .. } => vec![body],
            variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => Vec::new(),
        }
    }

    /// Returns the command lists directly inside.
    pub fn lists_mut(&mut self) -> Vec<&mut Vec<Command>> {
        match self {
            Command::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Command::Switch { cases, .. } => cases.iter_mut().collect(),
            Command::For { body, .. } | Command::Loop { body, .. } => vec![body],
            variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => Vec::new(),
        }
    }
}
