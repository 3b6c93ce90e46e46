//! Emits commands of Loop that are only calls of functions of the runtime. Arguments and results follow
//! from the table of commands.

use crate::context::function::Emitter;
use crate::emit::expression::{assigned, expression};
use crate::emit::variables::assign;
use nova_c_ast::ast::{Expression, Statement};
use nova_loop::ir::{Command, Operand, Role, operands};

/// Emits a command as a call. The arguments are the addresses that the command names, then constants,
/// then its other values.
pub(crate) fn runtime_call(
    code: &mut Emitter,
    function: &str,
    constants: Vec<Expression>,
    command: &Command,
) {
    let (mut addresses, mut values, mut result) = (Vec::new(), Vec::new(), None);
    operands(command, &mut |operand| match operand {
        Operand::Address(..) | Operand::Variable(_, Role::Stored(..)) => addresses.push(operand),
        Operand::Variable(variable, Role::Assigned(_)) => result = Some(*variable),
        others => values.push(others),
    });
    let addresses = addresses.into_iter().filter_map(|a| argument(code, a));
    let mut arguments: Vec<Expression> = addresses.chain(constants).collect();
    arguments.extend(values.into_iter().filter_map(|v| argument(code, v)));
    match result {
        Some(result) => assign(code, result, Expression::call(function, arguments)),
        None => code.push(Statement::call(function, arguments)),
    }
}

/// Returns the argument for an operand; `None` for a constant, which is part of the function's name.
fn argument(code: &mut Emitter, operand: Operand) -> Option<Expression> {
    match operand {
        Operand::Variable(variable, _) => Some(code.named(*variable)),
        Operand::Expression(value, _) => Some(assigned(code, value)),
        Operand::Address(address, ..) => Some(expression(code, address)),
        Operand::Place(place) => Some(Expression::text(place.to_string())),
        _constant => None,
    }
}
