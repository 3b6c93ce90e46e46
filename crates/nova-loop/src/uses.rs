//! How commands use variables: a pointer through which a command only reads or writes elements has
//! not been handed on, so that what else leads to its memory stays known.

use crate::ir::{Command, Expression, Gather, Variable};
use crate::walk;
use nova_diag::deep;

/// What a command does with the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It reads elements from there on,
    Read,
    /// writes elements from there on,
    Written,
    /// or anything else.
    Value,
}

/// Calls `visit` for every variable in the expressions of a command, not of the lists in it.
pub(crate) fn uses(command: &Command, visit: &mut dyn FnMut(Variable, Use)) {
    match command {
        Command::Copy {
            to, from, count, ..
        }
        | Command::LaneReduce {
            to, from, count, ..
        } => {
            moved(to, from, visit);
            value(count, visit);
        }
        Command::PaddedCopy {
            to,
            from,
            count,
            pad,
            ..
        } => {
            moved(to, from, visit);
            value(count, visit);
            value(pad, visit);
        }
        Command::PrefixScan { to, from, .. }
        | Command::Gather(Gather::Strided { to, from, .. }) => {
            moved(to, from, visit);
        }
        Command::Gather(Gather::Precheck { indices, limit, .. }) => {
            place(indices, Use::Read, visit);
            value(limit, visit);
        }
        Command::Gather(Gather::Indexed {
            to, from, indices, ..
        }) => {
            moved(to, from, visit);
            place(indices, Use::Read, visit);
        }
        other => walk::reads(other, &mut |expression| value(expression, visit)),
    }
}

/// Elements go from one place to another.
fn moved(to: &Expression, from: &Expression, visit: &mut dyn FnMut(Variable, Use)) {
    place(to, Use::Written, visit);
    place(from, Use::Read, visit);
}

/// An expression that tells where elements lie.
fn place(expression: &Expression, used: Use, visit: &mut dyn FnMut(Variable, Use)) {
    match expression {
        Expression::Variable(pointer) => visit(*pointer, used),
        Expression::Offset {
            pointer,
            index,
            extent,
        } => {
            deep(|| place(pointer, used, visit));
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
            deep(|| place(pointer, Use::Read, visit));
            deep(|| value(index, visit));
        }
        other => {
            for child in other.children() {
                deep(|| value(child, visit));
            }
        }
    }
}
