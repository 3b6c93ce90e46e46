//! Loops over a chunk of a whole range of indices. If `i` lies below a length of at most `whole -
//! first`, then `first + i` is an index of the whole range. So it is in bounds. Conditions on
//! whether it is one of the first or last few indices are decided, except at the ends of each
//! chunk.

use super::Splitter;
use super::facts::{Integer, from};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_loop::ir::{Expression, Variable};
use std::collections::BTreeMap;

/// Facts about chunks, by variables that never change.
#[derive(Default)]
pub(super) struct Chunks {
    /// For each length of a chunk: the first index of the chunk, and the number of indices in the
    /// whole range.
    lengths: BTreeMap<Variable, (Integer, Integer)>,
    /// For each index of a whole range: the index within the chunk, and the number of indices in
    /// the whole range.
    indices: BTreeMap<Variable, (Variable, Integer)>,
}

impl Chunks {
    /// Returns the number of indices in the whole range that `index` belongs to, if `own` is the
    /// index within the chunk.
    pub(super) fn whole(&self, index: Option<Variable>, own: Variable) -> Option<Integer> {
        let (within, whole) = self.indices.get(&index?)?;
        (*within == own).then_some(*whole)
    }
}

impl Splitter<'_> {
    /// Adds the facts that a declaration states about chunks: that a variable is not negative, that
    /// it is the length of a chunk, or that it is an index of the whole range.
    pub(super) fn learn_chunk(&mut self, variable: Variable, value: &Expression) {
        let Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } = value
        else {
            return;
        };
        let [left, right] = arguments.as_slice() else {
            return;
        };
        let itself = Integer::variable(variable);
        match operation {
            ScalarOperation::Maximum => {
                let constants = [left, right].into_iter().filter_map(|e| match e {
                    Expression::Constant(ScalarValue::I64(value)) => Some(i128::from(*value)),
                    _computed => None,
                });
                if let Some(least) = constants.max() {
                    self.facts.narrow(itself, from(least));
                }
            }
            ScalarOperation::Minimum => {
                let rest = [left, right].into_iter().find_map(|e| self.rest(e));
                if let Some(chunk) = rest {
                    self.chunks.lengths.insert(variable, chunk);
                }
            }
            ScalarOperation::Add => {
                let both = [(left, right), (right, left)];
                let found = both
                    .into_iter()
                    .find_map(|(a, b)| self.index_of_whole(a, b));
                if let Some((own, whole, low, last)) = found {
                    self.facts.narrow(itself, from(low));
                    self.facts.bound(variable, last);
                    self.chunks.indices.insert(variable, (own, whole));
                }
            }
            _others => {}
        }
    }

    /// Returns `first` and `whole` of an expression `whole - first`.
    fn rest(&self, expression: &Expression) -> Option<(Integer, Integer)> {
        match expression {
            Expression::Scalar {
                operation: ScalarOperation::Subtract,
                operand: Scalar::I64,
                arguments,
            } => match arguments.as_slice() {
                [whole, first] => Some((self.facts.affine(first)?, self.facts.affine(whole)?)),
                _others => None,
            },
            _others => None,
        }
    }

    /// Analyses the sum of `first`, the start of a chunk, and `own`, an index within it. Returns
    /// the loop's variable, the number of indices in the whole range, and the least and the
    /// greatest value of the sum.
    fn index_of_whole(
        &self,
        first: &Expression,
        own: &Expression,
    ) -> Option<(Variable, Integer, i128, Integer)> {
        let (first, own) = (self.facts.affine(first)?, self.facts.affine(own)?);
        let variable = own.root?;
        let last = self.facts.get(variable)?.at_most?.plus(own.offset)?;
        let (begins, whole) = self.chunks.lengths.get(&last.root?)?;
        let of_first = self.facts.range(first);
        let low = of_first.plus(self.facts.range(own)).least?;
        // So `whole - first` does not wrap.
        let natural = [of_first, self.facts.range(*whole)]
            .iter()
            .all(|range| range.least >= Some(0));
        let known = *begins == first && natural && low >= 0;
        let last = whole.plus(last.offset)?;
        known.then_some((variable, *whole, low, last))
    }
}
