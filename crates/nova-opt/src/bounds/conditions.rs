//! Inequalities between integers: the comparisons that make them, the decision whether they follow
//! from the facts, and the facts that follow from them.

use super::affine::Affine;
use super::condition::Condition;
use super::state::Bounds;
use crate::limits::OPEN_CONDITIONS;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Expression, Type, Variable};

impl Bounds<'_> {
    pub(super) fn decide(&self, condition: &Condition) -> Option<bool> {
        let holds = |sum: &Affine| self.facts.is_not_negative(sum);
        let negative = |sum: &Affine| sum.negated().shifted(-1);
        match condition {
            Condition::NotNegative(sum) => match negative(sum) {
                _ if holds(sum) => Some(true),
                Some(contrary) if holds(&contrary) => Some(false),
                Some(_) | None => None,
            },
            Condition::Zero(sum) => {
                let opposite = sum.negated();
                if holds(sum) && holds(&opposite) {
                    return Some(true);
                }
                let apart = [sum.shifted(-1)?, opposite.shifted(-1)?];
                apart.iter().any(holds).then_some(false)
            }
            Condition::Not(inner) => self.decide(inner).map(|value| !value),
            Condition::Both(both) => {
                let [one, other] = both.each_ref().map(|one| self.decide(one));
                match (one, other) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    (_, _) => None,
                }
            }
            Condition::Unknown => None,
        }
    }

    /// Notes that a condition holds from here on.
    pub(super) fn assume(&mut self, condition: &Condition) {
        match condition {
            Condition::NotNegative(sum) => self.assume_not_negative(sum),
            Condition::Zero(sum) => {
                self.assume_not_negative(sum);
                self.assume_not_negative(&sum.negated());
            }
            Condition::Not(inner) => match &**inner {
                Condition::NotNegative(sum) => {
                    if let Some(contrary) = sum.negated().shifted(-1) {
                        self.assume_not_negative(&contrary);
                    }
                }
                Condition::Zero(sum) => self.assume_not_zero(sum),
                Condition::Not(condition) => self.assume(condition),
                Condition::Both(both) => {
                    if !self.assume_not_both(both) {
                        self.open.push((**both).clone());
                    }
                }
                Condition::Unknown => {}
            },
            Condition::Both(both) => both.iter().for_each(|one| self.assume(one)),
            Condition::Unknown => {}
        }
    }

    /// Notes that two conditions do not hold both, if one of them is known to hold or not to. Returns false
    /// otherwise.
    fn assume_not_both(&mut self, [one, other]: &[Condition; 2]) -> bool {
        for (known, not) in [(one, other), (other, one)] {
            match self.decide(known) {
                Some(true) => {
                    self.assume(&not.clone().contrary());
                    return true;
                }
                Some(false) => return true,
                None => {}
            }
        }
        false
    }

    /// Notes what follows by now from pairs of conditions that do not hold both. A check before an operation says
    /// something only if there are elements, and inside of the operation there are.
    pub(super) fn reconsider(&mut self) {
        let newest = self.open.iter().rev().take(OPEN_CONDITIONS);
        let newest: Vec<[Condition; 2]> = newest.cloned().collect();
        for pair in newest {
            self.assume_not_both(&pair);
        }
    }

    /// Returns a comparison of one variable with a number that has the same result as a comparison of sums. Later
    /// passes see from it which iterations differ from others.
    pub(super) fn direct(&self, result: Variable, comparison: &Expression) -> Option<Expression> {
        let Expression::Scalar {
            operation,
            arguments,
            ..
        } = comparison
        else {
            return None;
        };
        let is_direct = arguments.iter().any(|a| a.as_variable().is_none());
        if !self.converts || is_direct {
            return None;
        }
        let condition = self.conditions.get(&result)?;
        let (operation, sum) = match (operation, condition) {
            (ScalarOperation::Equal, Condition::Zero(sum)) => (ScalarOperation::Equal, sum),
            (ScalarOperation::NotEqual, Condition::Not(inner)) => match &**inner {
                Condition::Zero(sum) => (ScalarOperation::NotEqual, sum),
                Condition::NotNegative(_)
                | Condition::Not(_)
                | Condition::Both(_)
                | Condition::Unknown => return None,
            },
            (_, Condition::NotNegative(sum)) => (ScalarOperation::GreaterEqual, sum),
            (
                _,
                Condition::Zero(_) | Condition::Not(_) | Condition::Both(_) | Condition::Unknown,
            ) => {
                return None;
            }
        };
        let (operation, (variable, number)) = match sum.as_shifted_variable() {
            Some(shifted) => (operation, shifted),
            None => (opposite(operation), sum.negated().as_shifted_variable()?),
        };
        let number = number.checked_neg()?;
        let is_index = matches!(self.program.ty(variable), Type::Scalar(Scalar::I64));
        let number = i64::try_from(number).ok().filter(|_| is_index)?;
        Some(Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments: vec![Atom::Variable(variable), Atom::index(number)],
        })
    }

    /// Returns the condition under which a conditional gives true, as far as its own condition and
    /// its results tell. `and`, `or` and `not` are such conditionals. Variables that its branches
    /// bind, from `start` on, are not known after it.
    pub(super) fn of_choice(
        &self,
        asked: Atom,
        [then, otherwise]: [&Body; 2],
        start: usize,
    ) -> Option<Condition> {
        let is_known = |symbol| self.order.get(&symbol).is_some_and(|place| *place < start);
        let known = |atom: Atom| {
            let known = self.condition(atom).filter(|c| c.is_about(&is_known));
            known.unwrap_or(Condition::Unknown)
        };
        let ([then], [otherwise]) = (&then.results[..], &otherwise.results[..]) else {
            return None;
        };
        let truth = |atom: Atom| match atom {
            Atom::Constant(ScalarValue::Bool(value)) => Some(value),
            Atom::Constant(_) | Atom::Variable(_) => None,
        };
        let asked = known(asked);
        let found = match (truth(*then), truth(*otherwise)) {
            (None, Some(false)) => asked.and(known(*then)),
            (None, Some(true)) => asked.and(known(*then).contrary()).contrary(),
            (Some(false), None) => asked.contrary().and(known(*otherwise)),
            (Some(true), None) => {
                let neither = asked.contrary().and(known(*otherwise).contrary());
                neither.contrary()
            }
            (None, None) | (Some(_), Some(_)) => return None,
        };
        Some(found)
    }

    /// Notes bounds of the symbols of a sum that is not negative.
    pub(super) fn assume_not_negative(&mut self, sum: &Affine) {
        for (symbol, coefficient) in sum.terms().filter(|(_, c)| c.abs() == 1) {
            // symbol · ±1 + rest ≥ 0
            let rest = sum.without(symbol);
            match coefficient {
                1 => self.facts.at_least(*symbol, rest.negated()),
                _ => self.facts.at_most(*symbol, rest),
            }
            self.note_exact(*symbol);
        }
    }

    /// Notes that a sum is not 0. If it lies on one side of 0, it is at least 1 away from 0.
    pub(super) fn assume_not_zero(&mut self, sum: &Affine) {
        for side in [sum.clone(), sum.negated()] {
            if self.facts.is_not_negative(&side)
                && let Some(further) = side.shifted(-1)
            {
                self.assume_not_negative(&further);
            }
        }
    }
}

/// Returns the condition under which a conditional that asks this one gives true without more, and the truth
/// value that it gives otherwise.
pub(super) fn exception(
    asked: Condition,
    [then, otherwise]: [&Body; 2],
) -> Option<(Condition, Variable)> {
    match (&then.results[..], &otherwise.results[..]) {
        ([Atom::Constant(ScalarValue::Bool(true))], [Atom::Variable(other)]) => {
            Some((asked, *other))
        }
        ([Atom::Variable(other)], [Atom::Constant(ScalarValue::Bool(true))]) => {
            Some((asked.contrary(), *other))
        }
        (_, _) => None,
    }
}

/// Returns the comparison of the negated operands.
fn opposite(operation: ScalarOperation) -> ScalarOperation {
    match operation {
        ScalarOperation::GreaterEqual => ScalarOperation::LessEqual,
        same => same,
    }
}

/// Returns the condition that a comparison of integers tests.
pub(super) fn comparison(operation: ScalarOperation, operands: &[Affine]) -> Option<Condition> {
    let [a, b] = operands else {
        return None;
    };
    let difference = |more: &Affine, less: &Affine, by: i128| more.plus(-1, less)?.shifted(by);
    match operation {
        ScalarOperation::Less => difference(b, a, -1).map(Condition::NotNegative),
        ScalarOperation::LessEqual => difference(b, a, 0).map(Condition::NotNegative),
        ScalarOperation::Greater => difference(a, b, -1).map(Condition::NotNegative),
        ScalarOperation::GreaterEqual => difference(a, b, 0).map(Condition::NotNegative),
        ScalarOperation::Equal => difference(a, b, 0).map(Condition::Zero),
        ScalarOperation::NotEqual => difference(a, b, 0).map(|d| Condition::Zero(d).contrary()),
        _ => None,
    }
}

/// Returns the smallest and the largest value of an integer type.
pub(super) fn range(scalar: Scalar) -> Option<(i128, i128)> {
    if !scalar.is_integer() {
        return None;
    }
    let bits = scalar.bits();
    Some(match scalar.is_signed() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    })
}
