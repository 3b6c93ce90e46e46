//! What the body of a loop takes: how much work it is, and how long its longest chain of dependent
//! operations.

use super::Map;
use crate::ir::{Command, Expression, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use nova_core::builtin::Cost;
use nova_diag::deep;
use std::collections::BTreeMap;

/// Cycles until an element is there that lies in the first-level cache.
const LOAD: u32 = 5;

/// What an operation takes.
struct Price {
    /// Instructions.
    work: u32,
    /// Cycles until its result is there.
    latency: u32,
}

fn price(operation: ScalarOperation) -> Price {
    use ScalarOperation as O;
    let (work, latency) = match operation.info().map_or(Cost::Low, |info| info.cost) {
        Cost::Low => (1, 4),
        Cost::High => match operation {
            O::Divide | O::Remainder | O::Sqrt | O::Reciprocal => (4, 15),
            O::ReciprocalSqrt => (8, 30),
            _ => (20, 50),
        },
    };
    Price { work, latency }
}

/// The instructions of an expression, but for addresses.
pub(crate) fn work(expression: &Expression) -> u32 {
    let itself = match expression {
        Expression::Scalar { operation, .. } => price(*operation).work,
        Expression::Load { .. } => return 1,
        Expression::Select { .. } => 1,
        _ => 0,
    };
    let inside = expression.children().into_iter();
    itself + inside.map(|e| deep(|| work(e))).sum::<u32>()
}

/// The instructions of the body of a loop; what only makes addresses does not count.
pub(crate) fn work_of(map: &Map) -> u32 {
    let of = |command: &Command| match command {
        Command::Declare {
            value: Some(value), ..
        } if map.definitions.linear(value).is_none() => work(value),
        Command::Store { value, .. } => 1 + work(value),
        _ => 0,
    };
    map.body.iter().map(of).sum()
}

/// The longest chain of straight commands, in cycles; what they do not declare is there at once.
pub(super) fn latency(body: &[Command]) -> u32 {
    let mut ready = BTreeMap::new();
    let mut longest = 0;
    for command in body {
        let mut end = 0;
        walk::reads(command, &mut |e| end = end.max(path(e, &ready)));
        if let Command::Declare { variable, .. } = command {
            ready.insert(*variable, end);
        }
        longest = longest.max(end);
    }
    longest
}

/// When the value of an expression is there.
fn path(expression: &Expression, ready: &BTreeMap<Variable, u32>) -> u32 {
    let itself = match expression {
        Expression::Variable(variable) => return ready.get(variable).copied().unwrap_or(0),
        Expression::Scalar { operation, .. } => price(*operation).latency,
        Expression::Select { .. } => price(ScalarOperation::Minimum).latency,
        Expression::Load { .. } => LOAD,
        _ => 0,
    };
    let inside = expression.children().into_iter();
    itself + inside.map(|e| deep(|| path(e, ready))).max().unwrap_or(0)
}
