//! Uses of variables by commands. A pointer through which a command only reads or writes elements does not
//! escape, so all other pointers to its memory stay known.

use crate::ir::{Command, Expression, Operand, Role, Use, Variable, operands};
use crate::walk;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Calls `visit` for every variable in the expressions of a command, without those of inner lists.
pub fn uses(command: &Command, visit: &mut dyn FnMut(Variable, Use)) {
    operands(command, &mut |operand| match operand {
        Operand::Address(expression, used, _) => address(expression, used, visit),
        Operand::Expression(expression, _) => value(expression, visit),
        Operand::Optional(expression) => expression.iter().for_each(|e| value(e, visit)),
        Operand::Expressions(expressions) => expressions.iter().for_each(|e| value(e, visit)),
        _others => {}
    });
}

/// Visits an expression that is the address of elements.
fn address(expression: &Expression, used: Use, visit: &mut dyn FnMut(Variable, Use)) {
    match expression {
        Expression::Variable(pointer) => visit(*pointer, used),
        Expression::Offset {
            pointer,
            index,
            extent,
        } => {
            deep(|| address(pointer, used, visit));
            value(index, visit);
            extent.iter().for_each(|extent| value(extent, visit));
        }
        other => value(other, visit),
    }
}

fn value(expression: &Expression, visit: &mut dyn FnMut(Variable, Use)) {
    match expression {
        Expression::Variable(variable) => visit(*variable, Use::Value),
        Expression::Load { pointer, index } => {
            deep(|| address(pointer, Use::Read, visit));
            deep(|| value(index, visit));
        }
        other => {
            for child in other.children() {
                deep(|| value(child, visit));
            }
        }
    }
}

/// Returns the pointers through which a command itself writes elements.
pub fn written(command: &Command) -> Vec<Expression> {
    let mut written = Vec::new();
    operands(command, &mut |operand| match operand {
        Operand::Address(to, Use::Written, _) => written.push(to.clone()),
        Operand::Variable(pointer, Role::Stored(_)) => {
            written.push(Expression::Variable(*pointer));
        }
        Operand::Variables(fields, Role::Stored(_)) => {
            written.extend(fields.iter().copied().map(Expression::Variable));
        }
        _others => {}
    });
    written
}

/// Removes the declarations of a list that neither the rest of the list nor `used` uses. Adds to `used`
/// the variables that the remaining commands use.
pub fn drop_unused(list: &mut Vec<Command>, used: &mut BTreeSet<Variable>) {
    let mut rest = Vec::with_capacity(list.len());
    for command in list.drain(..).rev() {
        if let Command::Declare { variable, .. } = &command
            && !used.contains(variable)
        {
            continue;
        }
        walk::each_command(std::slice::from_ref(&command), |inner| {
            walk::each_mentioned(inner, &mut |variable| {
                used.insert(variable);
            });
        });
        rest.push(command);
    }
    rest.reverse();
    *list = rest;
}
