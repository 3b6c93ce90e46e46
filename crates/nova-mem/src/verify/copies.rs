//! The rules of copies. `Copy`, `Update` and `Scatter` copy an old array to the memory of a new one, all of it at
//! once. In one block, the two have the same LMAD, and nothing is copied, or no element in common.

use super::{Result, Verifier};
use crate::alias::are_disjoint;
use nova_flat::ir::{Expression, Output, Statement, Variable};

impl<'a> Verifier<'a> {
    /// Checks the copies that a statement makes.
    pub(super) fn copies(&self, statement: &'a Statement) -> Result<()> {
        let pattern = &statement.pattern;
        match &statement.expression {
            Expression::Copy(old) | Expression::Update { array: old, .. } => {
                pattern.iter().try_for_each(|new| self.copied(*old, *new))
            }
            Expression::Operation(operation) => {
                let mut given = &pattern[operation.carries.len()..];
                for output in &operation.outputs {
                    let (own, rest) = given.split_at(output.gives());
                    given = rest;
                    if let Output::Scatter { destinations, .. } = output {
                        let mut both = destinations.iter().zip(own);
                        both.try_for_each(|(old, new)| self.copied(*old, *new))?;
                    }
                }
                Ok(())
            }
            _no_copy => Ok(()),
        }
    }

    /// Checks that an old array and its copy share no elements, or all of them.
    fn copied(&self, old: Variable, new: Variable) -> Result<()> {
        let (from, to) = (self.memory(old)?, self.memory(new)?);
        let is_extent = |variable: Variable| self.extents[variable.index()];
        let apart = from.block != to.block
            || self.same_lmad(&from.lmad, &to.lmad)
            || are_disjoint(&from.lmad, &to.lmad, &is_extent);
        self.require(apart, || {
            let (old, new) = (self.show(old), self.show(new));
            format!("{new} is a copy of {old}, which overlaps it")
        })
    }
}
