//! Facts about integers from conditions: those that hold where a condition does, or where it does not.

use super::Splitter;
use super::facts::{Integer, from};
use crate::limits::NAMES_FOLLOWED;
use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::Expression;
use nova_symbolic::Interval;

impl Splitter<'_> {
    /// Adds what is known of integers if a condition has this outcome.
    pub(super) fn assume(&mut self, condition: &Expression, holds: bool) {
        match condition {
            Expression::Variable(name) => {
                let named = self.named.get(name).cloned();
                if let Some(named) = named.filter(|_| self.followed < NAMES_FOLLOWED) {
                    self.followed += 1;
                    deep(|| self.assume(&named, holds));
                    self.followed -= 1;
                }
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => {
                // One of the sides is not the outcome, so that it was the other side.
                let other = Some(!holds);
                if constant(otherwise) == other {
                    deep(|| self.assume(condition, true));
                    deep(|| self.assume(then, holds));
                } else if constant(then) == other {
                    deep(|| self.assume(condition, false));
                    deep(|| self.assume(otherwise, holds));
                }
            }
            Expression::Scalar {
                operation,
                arguments,
                ..
            } => match (operation, &arguments[..]) {
                (ScalarOperation::Not, [argument]) => deep(|| self.assume(argument, !holds)),
                (ScalarOperation::BitAnd, [left, right]) if holds => {
                    self.assume_both(left, right, true);
                }
                (ScalarOperation::BitOr, [left, right]) if !holds => {
                    self.assume_both(left, right, false);
                }
                (_, [left, right]) => {
                    let values = self.facts.affine(left).zip(self.facts.affine(right));
                    if let Some((left, right)) = values {
                        self.assume_comparison(*operation, left, right, holds);
                    }
                }
                (_, _) => {}
            },
            _others => {}
        }
    }

    fn assume_both(&mut self, left: &Expression, right: &Expression, holds: bool) {
        deep(|| self.assume(left, holds));
        deep(|| self.assume(right, holds));
    }

    fn assume_comparison(
        &mut self,
        operation: ScalarOperation,
        left: Integer,
        right: Integer,
        holds: bool,
    ) {
        use ScalarOperation as O;
        match (operation, holds) {
            (O::Less, true) | (O::GreaterEqual, false) => self.assume_order(left, right, 1),
            (O::LessEqual, true) | (O::Greater, false) => self.assume_order(left, right, 0),
            (O::Greater, true) | (O::LessEqual, false) => self.assume_order(right, left, 1),
            (O::GreaterEqual, true) | (O::Less, false) => self.assume_order(right, left, 0),
            (O::Equal, true) | (O::NotEqual, false) => {
                self.assume_order(left, right, 0);
                self.assume_order(right, left, 0);
            }
            (O::Equal, false) | (O::NotEqual, true) => {
                self.assume_different(left, right);
                self.assume_different(right, left);
            }
            (_, _) => {}
        }
    }

    /// Adds that one value is less than another by at least `by`.
    fn assume_order(&mut self, low: Integer, high: Integer, by: i64) {
        let (range, above) = (self.facts.range(low), self.facts.range(high));
        let by_wide = i128::from(by);
        if let Some(most) = above.most.and_then(|most| most.checked_sub(by_wide)) {
            let below = Interval {
                least: None,
                most: Some(most),
            };
            self.facts.narrow(low, below);
        }
        if let Some(least) = range.least.and_then(|least| least.checked_add(by_wide)) {
            let above = Interval {
                least: Some(least),
                most: None,
            };
            self.facts.narrow(high, above);
        }
        let bound = by.checked_add(low.offset).and_then(i64::checked_neg);
        if let (Some(root), Some(bound)) = (low.root, bound.and_then(|by| high.plus(by)))
            && bound.root.is_some()
            && bound.root != Some(root)
            && self
                .facts
                .get(root)
                .is_some_and(|known| known.at_most.is_none())
        {
            self.facts.bound(root, bound);
        }
    }

    /// Adds that a value is not another one, where that is the least of its values.
    fn assume_different(&mut self, value: Integer, other: Integer) {
        if let (None, Some(least)) = (other.root, self.facts.range(value).least)
            && i128::from(other.offset) == least
        {
            self.facts.narrow(value, from(least + 1));
        }
    }
}

fn constant(expression: &Expression) -> Option<bool> {
    match expression {
        Expression::Constant(ScalarValue::Bool(value)) => Some(*value),
        _others => None,
    }
}
