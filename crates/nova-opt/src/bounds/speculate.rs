//! Reads behind a condition that are in range whether it holds or not, of arrays that are read before it anyway.
//! They are made before the condition, which then only chooses: C compilers have no vectors for what may be read or
//! not, and neighbours of what is read cost no more memory.

use super::{Bounds, HashSet};
use crate::cheap::is_cheap;
use crate::total::is_total;
use nova_flat::ir::{Atom, Expression, Statement, Type, Variable};

/// How many statements may be made early: more of them cost more than a branch.
const MOST: usize = 8;

impl Bounds<'_> {
    /// What the branches of a conditional compute, if all of it may be computed before it; `earlier` stands there
    /// already.
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
        if !self.speculates || !scalars || !reads || all().count() > MOST {
            return Vec::new();
        }
        let read: HashSet<Variable> = earlier.iter().filter_map(read_array).collect();
        // What integers are was known under the condition.
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
                read.contains(array) && self.are_in_range(*array, indices)
            }
            Expression::View { .. } => false,
            other => is_cheap(other) && is_total(inner),
        };
        if !all().all(may_be_early) {
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

/// The array of which a statement reads an element.
fn read_array(statement: &Statement) -> Option<Variable> {
    match &statement.expression {
        Expression::Index { array, .. } => Some(*array),
        _ => None,
    }
}
