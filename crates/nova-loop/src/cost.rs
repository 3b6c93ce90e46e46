//! The cost of code: its amount of work, and the length of its longest chain of dependent operations.

use crate::ir::{Command, Expression, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use nova_core::builtin::Cost;
use nova_diag::deep;
use std::collections::BTreeMap;

/// Cycles until a load from the first-level cache completes.
const LOAD: u32 = 5;

/// The cost of an operation.
struct Price {
    /// Instructions.
    work: u32,
    /// Cycles until its result is available.
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

/// Returns the number of instructions of an expression, without those that compute addresses.
pub fn work(expression: &Expression) -> u32 {
    let itself = match expression {
        Expression::Scalar { operation, .. } => price(*operation).work,
        Expression::Load { .. } => return 1,
        Expression::Select { .. } => 1,
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
        Expression::Scalar { operation, .. } => price(*operation).latency,
        Expression::Select { .. } => price(ScalarOperation::Minimum).latency,
        Expression::Load { .. } => LOAD,
        _ => 0,
    };
    let inside = expression.children().into_iter();
    itself + inside.map(|e| deep(|| path(e, ready))).max().unwrap_or(0)
}
