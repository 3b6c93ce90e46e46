//! What the body of an operation costs, for deciding how many of its indices are worth a thread's
//! while. An estimate: it decides how work is cut, never what comes out.

use nova_core::ScalarOperation;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Lambda, Statement, Variable};
use nova_flat::visit::{binders, each_statement};
use std::collections::BTreeSet;

/// What one read of an array, or a cheap scalar operation, costs; a function of the mathematical
/// library; a call; and how many rounds a loop of unknown length is taken to have.
const CHEAP: i64 = 1;
const FUNCTION: i64 = 16;
const CALL: i64 = 64;
const ROUNDS: i64 = 16;

/// The cost of a body, in cheap scalar operations: a constant, and for each operation in it what a
/// round costs and the extents of its space, known outside of the body.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    pub(super) fixed: i64,
    pub(super) loops: Vec<(Vec<Atom>, i64)>,
}

impl Cost {
    /// Of the body of an operation, and all bodies in it.
    pub(super) fn of(operation: &ArrayOperation) -> Cost {
        let mut bound: BTreeSet<Variable> = operation.indices.iter().copied().collect();
        bound.extend(operation.carries.iter().map(|(carry, _)| carry));
        Cost::with(bound, &operation.body)
    }

    /// Of the body of a lambda, and all bodies in it.
    pub(super) fn of_lambda(lambda: &Lambda) -> Cost {
        let bound = lambda.parameters.iter().copied().collect();
        Cost::with(bound, &lambda.body)
    }

    /// Of a body, in which these variables are bound.
    fn with(mut bound: BTreeSet<Variable>, body: &Body) -> Cost {
        each_statement(body, &mut |statement| {
            bound.extend(statement.pattern.iter().copied());
            binders(&statement.expression, &mut |v| {
                bound.insert(*v);
            });
        });
        let mut cost = Cost::default();
        cost.add(body, &[], 1, &bound);
        cost
    }

    /// The cost where it is known.
    pub(super) fn constant(&self) -> Option<i64> {
        self.loops.is_empty().then_some(self.fixed)
    }

    /// Adds a body that runs `times` times for each index of a space of these extents.
    fn add(&mut self, body: &Body, extents: &[Atom], times: i64, bound: &BTreeSet<Variable>) {
        let mut own = 0i64;
        for statement in &body.statements {
            own = own.saturating_add(of_statement(statement));
            let mut space = extents.to_vec();
            let mut times = times;
            if let Expression::Operation(operation) = &statement.expression {
                for extent in &operation.shape {
                    match extent {
                        Atom::Variable(v) if bound.contains(v) => {
                            times = times.saturating_mul(ROUNDS);
                        }
                        Atom::Variable(_) | Atom::Constant(_) => space.push(*extent),
                    }
                }
            }
            nova_flat::visit::bodies(&statement.expression, &mut |inner| {
                nova_diag::deep(|| self.add(inner, &space, times, bound));
            });
        }
        let own = own.max(1).saturating_mul(times).min(1 << 30);
        if extents.is_empty() {
            self.fixed = self.fixed.saturating_add(own).min(1 << 30);
        } else {
            match self.loops.iter_mut().find(|(space, _)| space == extents) {
                Some((_, each)) => *each = each.saturating_add(own).min(1 << 30),
                None => self.loops.push((extents.to_vec(), own)),
            }
        }
    }
}

/// What a statement costs apart from the bodies in it.
fn of_statement(statement: &Statement) -> i64 {
    match &statement.expression {
        Expression::Scalar {
            operation, operand, ..
        } => match operation {
            ScalarOperation::Divide | ScalarOperation::Remainder => 4 * CHEAP,
            _ if operation.is_cheap(*operand) => CHEAP,
            _ => FUNCTION,
        },
        Expression::Atom(_) | Expression::View { .. } => 0,
        Expression::Call { .. } => CALL,
        Expression::Sort { .. } => CALL * ROUNDS,
        _ => CHEAP,
    }
}
