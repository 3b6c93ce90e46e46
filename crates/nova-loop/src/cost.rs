//! The cost of code: its amount of work, and the length of its longest chain of dependent operations.

use crate::ir::{Command, Expression, Variable};
use crate::walk;
use nova_diag::deep;
use nova_machine::cost::{LOAD, SIMPLE, price_of};
use std::collections::BTreeMap;

/// Returns the number of instructions of an expression, without those that compute addresses.
pub fn work(expression: &Expression) -> u32 {
    let itself = match expression {
        Expression::Scalar {
            operation, operand, ..
        } => price_of(*operation, *operand).work,
        Expression::Load { .. } => return LOAD.work,
        Expression::Select { .. } => SIMPLE.work,
        _ => 0,
    };
    let inside = expression.children().into_iter();
    itself + inside.map(|e| deep(|| work(e))).sum::<u32>()
}

/// Returns the length in cycles of the longest chain in straight-line code. What the commands do
/// not declare is available at once.
pub fn latency(body: &[Command]) -> u32 {
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

/// Returns the cycle in which the value of an expression is available.
fn path(expression: &Expression, ready: &BTreeMap<Variable, u32>) -> u32 {
    let itself = match expression {
        Expression::Variable(variable) => return ready.get(variable).copied().unwrap_or(0),
        Expression::Scalar {
            operation, operand, ..
        } => price_of(*operation, *operand).latency,
        Expression::Select { .. } => SIMPLE.latency,
        Expression::Load { .. } => LOAD.latency,
        _ => 0,
    };
    let inside = expression.children().into_iter();
    itself + inside.map(|e| deep(|| path(e, ready))).max().unwrap_or(0)
}
