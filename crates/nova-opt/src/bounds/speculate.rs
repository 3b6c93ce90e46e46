//! Speculative reads. A read after a condition moves before it if it is in range whether the
//! condition holds or not, and its array is read before the condition anyway. So does a read of a filter's own
//! element, since branches on what survives are mispredicted. The condition then only selects. C compilers do not vectorise reads that may or may not be made, and neighbours of
//! elements that are read cost no more memory traffic.

use super::HashSet;
use super::state::Bounds;
use crate::cheap::is_cheap;
use crate::total::is_total;
use nova_flat::ir::{Atom, Expression, Statement, Type, Variable};
use nova_machine::PROCESSOR;

impl Bounds<'_> {
    /// Takes the statements out of the branches of a conditional, if all of them may be computed
    /// before it. `earlier` are the statements that already precede it.
    pub(super) fn speculate(
        &mut self,
        statement: &mut Statement,
        earlier: &[Statement],
    ) -> Vec<Statement> {
        let is_scalar = |v: &Variable| matches!(self.program.ty(*v), Type::Scalar(_));
        let scalars = statement.pattern.iter().all(is_scalar);
        let Expression::If {
            then, otherwise, ..
        } = &mut statement.expression
        else {
            return Vec::new();
        };
        let all = || then.statements.iter().chain(&otherwise.statements);
        let reads = all().any(|s| matches!(s.expression, Expression::Index { .. }));
        // More statements would cost more than the branch.
        if !self.speculates || !scalars || !reads || all().count() > PROCESSOR.branch_work as usize
        {
            return Vec::new();
        }
        let read: HashSet<Variable> = earlier.iter().filter_map(read_array).collect();
        // The values of integers were derived under the condition. They are derived again without
        // it. What follows from them holds without it only if the statements move.
        let mark = self.mark();
        for inner in all() {
            if let (
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                },
                [variable],
            ) = (&inner.expression, &inner.pattern[..])
            {
                self.scalar(*variable, *operation, *operand, arguments);
            }
        }
        let may_be_early = |inner: &Statement| match &inner.expression {
            Expression::Index { array, indices } => {
                let own = |i: &Atom| i.as_variable().is_some_and(|v| self.filtered.contains(&v));
                (read.contains(array) || indices.iter().all(own))
                    && self.are_in_range(*array, indices)
            }
            Expression::View { .. } => false,
            other => is_cheap(other) && is_total(inner),
        };
        if !all().all(may_be_early) {
            self.forget(mark);
            return Vec::new();
        }
        let mut early = std::mem::take(&mut then.statements);
        early.append(&mut otherwise.statements);
        early
    }

    fn are_in_range(&self, array: Variable, indices: &[Atom]) -> bool {
        let shape = self.program.ty(array).shape();
        let is_in_range = |(index, extent): (&Atom, &Atom)| {
            let (Some(index), Some(extent)) = (self.value(*index), self.value(*extent)) else {
                return false;
            };
            let last = extent.shifted(-1);
            self.facts.is_not_negative(&index)
                && last.is_some_and(|last| self.is_at_most(&index, &last))
        };
        shape.len() == indices.len() && indices.iter().zip(shape).all(is_in_range)
    }
}

/// Returns the array of which a statement reads an element.
fn read_array(statement: &Statement) -> Option<Variable> {
    match &statement.expression {
        Expression::Index { array, .. } => Some(*array),
        _ => None,
    }
}
