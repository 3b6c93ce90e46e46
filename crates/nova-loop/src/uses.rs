//! Uses of variables by commands. A pointer through which a command only reads or writes elements does not
//! escape, so all other pointers to its memory stay known.

use crate::ir::{Command, Expression, Gather, Variable};
use crate::walk;
use nova_diag::deep;

/// The use of a variable's value by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The command reads elements through the pointer.
    Read,
    /// The command writes elements through the pointer.
    Written,
    /// Any other use.
    Value,
}

/// Calls `visit` for every variable in the expressions of a command, without those of inner lists.
pub(crate) fn uses(command: &Command, visit: &mut dyn FnMut(Variable, Use)) {
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
