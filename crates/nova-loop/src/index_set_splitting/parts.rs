//! Loops over a part of the indices of a whole: index `first + i` for `i` below a length of at most
//! `whole - first` is one of the whole, so that it is in range, and conditions on whether it is one
//! of the first or last few are decided but for the ends of each part.

use super::Indices;
use super::facts::Affine;
use crate::ir::{Expression, Variable};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use std::collections::BTreeMap;

/// What is known of parts, by variables that never change.
#[derive(Default)]
pub(super) struct Parts {
    /// Of the length of a part: where it begins, and of how many indices it is one.
    lengths: BTreeMap<Variable, (Affine, Affine)>,
    /// Of an index of a whole: the index within the part, and how many indices there are.
    indices: BTreeMap<Variable, (Variable, Affine)>,
}

impl Parts {
    /// The number of indices in the whole of which one is `index`, if that runs with `own`.
    pub(super) fn whole(&self, index: Option<Variable>, own: Variable) -> Option<Affine> {
        let (within, whole) = self.indices.get(&index?)?;
        (*within == own).then_some(*whole)
    }
}

impl Indices<'_> {
    /// Takes in what a declaration says of parts: that a variable is not negative, that it is the
    /// length of a part, or an index of the whole.
    pub(super) fn learn_part(&mut self, variable: Variable, value: &Expression) {
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
        let itself = Affine {
            root: Some(variable),
            offset: 0,
        };
        match operation {
            ScalarOperation::Maximum => {
                let constants = [left, right].into_iter().filter_map(|e| match e {
                    Expression::Constant(ScalarValue::I64(value)) => Some(i128::from(*value)),
                    _computed => None,
                });
                if let Some(least) = constants.max() {
                    self.facts.narrow(itself, least, i128::from(i64::MAX));
                }
            }
            ScalarOperation::Minimum => {
                let rest = [left, right].into_iter().find_map(|e| self.rest(e));
                if let Some(part) = rest {
                    self.parts.lengths.insert(variable, part);
                }
            }
            ScalarOperation::Add => {
                let both = [(left, right), (right, left)];
                let found = both
                    .into_iter()
                    .find_map(|(a, b)| self.index_of_whole(a, b));
                if let Some((own, whole, low, last)) = found {
                    self.facts.narrow(itself, low, i128::from(i64::MAX));
                    self.facts.bound(variable, last);
                    self.parts.indices.insert(variable, (own, whole));
                }
            }
            _others => {}
        }
    }

    /// Of `whole - first` both.
    fn rest(&self, expression: &Expression) -> Option<(Affine, Affine)> {
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

    /// If `first` begins a part and `own` is an index within it: the loop's variable, how many
    /// indices the whole has, and the least and the greatest value of the sum.
    fn index_of_whole(
        &self,
        first: &Expression,
        own: &Expression,
    ) -> Option<(Variable, Affine, i128, Affine)> {
        let (first, own) = (self.facts.affine(first)?, self.facts.affine(own)?);
        let variable = own.root?;
        let last = self.facts.get(variable)?.at_most?.plus(own.offset)?;
        let (begins, whole) = self.parts.lengths.get(&last.root?)?;
        let low = self.facts.range(first).0 + self.facts.range(own).0;
        let least = self.facts.range(first).0;
        // So `whole - first` does not wrap.
        let natural = least >= 0 && self.facts.range(*whole).0 >= 0;
        let known = *begins == first && natural && low >= 0;
        let last = whole.plus(last.offset)?;
        known.then_some((variable, *whole, low, last))
    }
}
