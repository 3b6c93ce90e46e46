//! Uses of variables by commands. A pointer through which a command only reads or writes elements does not
//! escape, so all other pointers to its memory stay known.

use crate::ir::{Command, Expression, Gather, Variable, errors, jumps, remarks};
use crate::walk;
use nova_diag::deep;
use std::collections::BTreeSet;

/// The use of a variable's value by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The command reads elements through the pointer.
    Read,
    /// The command writes elements through the pointer.
    Written,
    /// Any other use.
    Value,
}

/// Calls `visit` for every variable in the expressions of a command, without those of inner lists.
pub fn uses(command: &Command, visit: &mut dyn FnMut(Variable, Use)) {
    match command {
        Command::Copy {
            to, from, count, ..
        }
        | Command::LaneReduce {
            to, from, count, ..
        } => {
            copied(to, from, visit);
            value(count, visit);
        }
        Command::PaddedCopy {
            to,
            from,
            count,
            pad,
            ..
        } => {
            copied(to, from, visit);
            value(count, visit);
            value(pad, visit);
        }
        Command::PrefixScan { to, from, .. }
        | Command::Gather(Gather::Strided { to, from, .. }) => {
            copied(to, from, visit);
        }
        Command::Gather(Gather::Precheck { indices, limit, .. }) => {
            address(indices, Use::Read, visit);
            value(limit, visit);
        }
        Command::Gather(Gather::Indexed {
            to, from, indices, ..
        }) => {
            copied(to, from, visit);
            address(indices, Use::Read, visit);
        }
        other => walk::reads(other, &mut |expression| value(expression, visit)),
    }
}

/// Visits the pointers of a command that copies elements.
fn copied(to: &Expression, from: &Expression, visit: &mut dyn FnMut(Variable, Use)) {
    address(to, Use::Written, visit);
    address(from, Use::Read, visit);
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
    match command {
        Command::Store { pointer, .. }
        | Command::Contend { pointer, .. }
        | Command::TreeReduce { pointer, .. } => vec![Expression::Variable(*pointer)],
        Command::Copy { to, .. }
        | Command::PaddedCopy { to, .. }
        | Command::LaneReduce { to, .. }
        | Command::PrefixScan { to, .. }
        | Command::Gather(Gather::Strided { to, .. } | Gather::Indexed { to, .. }) => {
            vec![to.clone()]
        }
        Command::NonTemporalStore { fields, .. } => {
            fields.iter().copied().map(Expression::Variable).collect()
        }
        Command::Gather(Gather::Precheck { .. })
        | Command::PlanNonTemporal { .. }
        | Command::PlanRows { .. }
        | Command::Allocate { .. }
        | Command::Reserve { .. }
        | Command::Unique { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | crate::result_buffer_commands!()
        | crate::variable_commands!()
        | crate::structures!()
        | crate::calls!()
        | jumps!()
        | errors!()
        | remarks!() => Vec::new(),
    }
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
            walk::reads(inner, &mut |e| {
                e.each_variable(&mut |variable| {
                    used.insert(variable);
                });
            });
            walk::writes(inner, &mut |variable| {
                used.insert(variable);
            });
        });
        rest.push(command);
    }
    rest.reverse();
    *list = rest;
}
