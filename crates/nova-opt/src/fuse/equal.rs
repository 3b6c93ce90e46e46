//! Extents that checks have found to be equal. Operations over them have the same space.

use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Statement, Variable};
use std::collections::HashMap;

/// Facts about extents at a place of a function.
#[derive(Default)]
pub(super) struct Equal {
    /// The comparisons of two `i64` for equality, by their result.
    comparisons: HashMap<Variable, (Atom, Atom)>,
    /// Extents that a check has found to be equal to another, in the enclosing bodies.
    equal: HashMap<Variable, Atom>,
    /// The keys of `equal`, oldest first.
    learnt: Vec<Variable>,
}

impl Equal {
    /// Returns the number of equal extents.
    pub(super) fn count(&self) -> usize {
        self.learnt.len()
    }

    /// Forgets all but the oldest `count`.
    pub(super) fn forget(&mut self, count: usize) {
        for variable in self.learnt.drain(count..) {
            self.equal.remove(&variable);
        }
    }

    /// Notes the extents that are equal from this statement on.
    pub(super) fn learn(&mut self, statement: &Statement) {
        match &statement.expression {
            Expression::Scalar {
                operation: ScalarOperation::Equal,
                operand: Scalar::I64,
                arguments,
            } => {
                if let ([result], [left, right]) = (&statement.pattern[..], &arguments[..]) {
                    self.comparisons.insert(*result, (*left, *right));
                }
            }
            Expression::Check {
                condition: Atom::Variable(condition),
                ..
            } => {
                if let Some((left, right)) = self.comparisons.get(condition).copied() {
                    let (left, right) = (self.extent(left), self.extent(right));
                    match (left, right) {
                        (Atom::Variable(variable), other) | (other, Atom::Variable(variable))
                            if left != right =>
                        {
                            self.equal.insert(variable, other);
                            self.learnt.push(variable);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the extent that stands for all that are equal to this one.
    fn extent(&self, mut atom: Atom) -> Atom {
        while let Atom::Variable(variable) = atom
            && let Some(other) = self.equal.get(&variable)
        {
            atom = *other;
        }
        atom
    }

    /// True if two operations have the same extents.
    pub(super) fn same_space(&self, a: &ArrayOperation, b: &ArrayOperation) -> bool {
        a.shape.len() == b.shape.len()
            && a.shape
                .iter()
                .zip(&b.shape)
                .all(|(a, b)| self.extent(*a) == self.extent(*b))
    }
}
