//! Uses of variables by commands. A pointer through which a command only reads or writes elements does not
//! escape, so all other pointers to its memory stay known.

use crate::ir::{Command, Expression, Extent, Operand, Role, Type, Use, Variable, Wants, operands};
use crate::walk;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Calls `visit` for every variable in the expressions of a command, without those of inner lists.
pub fn uses(command: &Command, visit: &mut dyn FnMut(Variable, Use)) {
    operands(command, &mut |operand| match operand {
        Operand::Address(expression, used, ..) => address(expression, used, visit),
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

/// Elements that a command itself reads or writes, without those of loads in its operands.
pub struct Access<'a> {
    /// The pointer to the first of them.
    pub pointer: Expression,
    /// The use of these elements.
    pub used: Use,
    /// Which of the elements from the pointer on.
    pub extent: Extent<'a>,
}

/// Returns the elements that a command itself reads or writes, in the order of its operands.
pub fn accesses(command: &Command) -> Vec<Access<'_>> {
    let mut found = Vec::new();
    let mut add = |pointer, used, extent| {
        found.push(Access {
            pointer,
            used,
            extent,
        });
    };
    operands(command, &mut |operand| match operand {
        Operand::Address(pointer, used, _, extent) => add(pointer.clone(), used, extent),
        Operand::Variable(pointer, Role::Stored(_, extent)) => {
            add(Expression::Variable(*pointer), Use::Written, extent);
        }
        Operand::Variables(fields, Role::Stored(_, extent)) => {
            let fields = fields.iter().copied().map(Expression::Variable);
            fields.for_each(|field| add(field, Use::Written, extent));
        }
        _others => {}
    });
    found
}

/// Returns the pointers through which a command itself writes elements.
pub fn written(command: &Command) -> Vec<Expression> {
    let mut found = accesses(command);
    found.retain(|access| access.used == Use::Written);
    found.into_iter().map(|access| access.pointer).collect()
}

/// Calls `visit` on the pointers to which a command gives new memory: those that it declares as arrays, and
/// those that it assigns together with their handles.
pub fn made(command: &Command, visit: &mut dyn FnMut(Variable)) {
    let (mut pointers, mut has_handle) = (Vec::new(), false);
    operands(command, &mut |operand| match operand {
        Operand::Declared(pointer) => {
            pointers.push(*pointer);
            has_handle = true;
        }
        // A declaration of a variable.
        Operand::Optional(_) => has_handle = false,
        Operand::Variable(variable, Role::Assigned(wants) | Role::Updated(wants)) => match wants {
            Wants::Is(Type::Block) => has_handle = true,
            Wants::Is(Type::Pointer(_)) => pointers.push(*variable),
            _others => {}
        },
        _others => {}
    });
    pointers.into_iter().filter(|_| has_handle).for_each(visit);
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
