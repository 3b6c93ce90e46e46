//! Conjunctions and disjunctions in innermost loops compute both sides, where the second one is
//! cheap and defined whatever the first one is. C's `a && b` is a branch, which compilers turn into
//! vector instructions only sometimes; `a & b` of two bools is not a branch.

use super::Splitter;
use super::expressions::expression_size;
use super::straighten::Readable;
use crate::limits::NODES_OF_A_SIDE;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression};
use nova_loop::walk;

impl Splitter<'_> {
    /// Joins the conditions in the body of an innermost loop without branches.
    pub(super) fn join_conditions(&self, body: &mut [Command], readable: &Readable) {
        for command in body {
            walk::reads_mut(command, &mut |value| self.join(value, readable));
        }
    }

    fn join(&self, expression: &mut Expression, readable: &Readable) {
        for child in expression.children_mut() {
            deep(|| self.join(child, readable));
        }
        let Expression::Select {
            condition,
            then,
            otherwise,
        } = expression
        else {
            return;
        };
        // The operation, whether the condition is negated, and the other side.
        let (operation, negated, side) = match (truth(then), truth(otherwise)) {
            (None, Some(false)) => (ScalarOperation::BitAnd, false, then),
            (Some(true), None) => (ScalarOperation::BitOr, false, otherwise),
            (Some(false), None) => (ScalarOperation::BitAnd, true, otherwise),
            (None, Some(true)) => (ScalarOperation::BitOr, true, then),
            (None, None) | (Some(_), Some(_)) => return,
        };
        if expression_size(side) > NODES_OF_A_SIDE || !self.is_defined(side, readable) {
            return;
        }
        let condition = std::mem::replace(&mut **condition, Expression::NullBlock);
        let side = std::mem::replace(&mut **side, Expression::NullBlock);
        let condition = match negated {
            true => condition.negated(),
            false => condition,
        };
        *expression = Expression::Scalar {
            operation,
            operand: Scalar::Bool,
            arguments: vec![condition, side],
        };
    }
}

/// Returns the truth value of a constant condition.
fn truth(expression: &Expression) -> Option<bool> {
    match expression {
        Expression::Constant(ScalarValue::Bool(value)) => Some(*value),
        _ => None,
    }
}
