//! Names for the costly parts of expressions, so that each can be computed where its operands are known.

use super::Strips;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Type};
use nova_loop::walk;
use nova_machine::cost::is_simple;

/// Returns commands with the same effect, where each costly operation that is part of an expression has a name. Those
/// that are only computed under a condition have none.
pub(super) fn with_names(strips: &mut Strips, commands: &[Command]) -> Vec<Command> {
    let mut made = Vec::with_capacity(commands.len());
    for command in commands {
        let mut command = command.clone();
        match &command {
            Command::If { .. } => {
                for list in command.lists_mut() {
                    *list = deep(|| with_names(strips, list));
                }
            }
            Command::Declare { .. } | Command::Assign { .. } | Command::Store { .. } => {
                let keeps_whole = matches!(command, Command::Declare { .. });
                walk::reads_mut(&mut command, &mut |value| {
                    name(strips, value, keeps_whole, &mut made);
                });
            }
            _others => {}
        }
        made.push(command);
    }
    made
}

/// Declares the costly operations of an expression, those inside first.
fn name(strips: &mut Strips, value: &mut Expression, keeps: bool, made: &mut Vec<Command>) {
    let inside = match &mut *value {
        Expression::Select { condition, .. } => vec![&mut **condition],
        other => other.children_mut(),
    };
    for child in inside {
        deep(|| name(strips, child, false, made));
    }
    if let Expression::Scalar {
        operation, operand, ..
    } = value
        && !keeps
        && operand.is_float()
        && !is_simple(*operation, *operand)
    {
        let ty = Type::Scalar(operation.result(*operand));
        let variable = strips.program.add_variable("t", ty);
        let part = std::mem::replace(value, Expression::Variable(variable));
        made.push(Command::declare(variable, part));
    }
}
