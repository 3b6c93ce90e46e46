//! Recurrences that multiply, add and mask integers, as linear generators of random numbers do: `r' = (a r + b) & m`,
//! where `m` has the lowest bits. Since integers wrap, the value after some iterations has this form, too. So each
//! iteration of a strip computes its value from that at the beginning of the strip, by tables of the numbers `a` and
//! `b` after each number of iterations.

use crate::limits::NESTED_DEFINITIONS;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// A recurrence of this form.
pub(super) struct Affine {
    pub(super) carried: Variable,
    pub(super) scalar: Scalar,
    factor: Expression,
    /// The summand, if there is one.
    pub(super) summand: Option<Expression>,
    mask: Option<ScalarValue>,
}

/// `factor * carried + summand`, where `None` is 0.
#[derive(Clone)]
struct Form {
    factor: Option<Expression>,
    summand: Option<Expression>,
}

/// The search for the form of a value.
struct Search<'a> {
    carried: Variable,
    scalar: Scalar,
    /// The values that the body declares, and what changes between iterations.
    values: BTreeMap<Variable, &'a Expression>,
    varying: &'a BTreeSet<Variable>,
    /// The bits of the result: masks inside must keep them.
    bits: Option<i128>,
}

impl Affine {
    /// Returns the form of the recurrence of a variable, where `varying` may change between iterations.
    pub(super) fn of(
        carried: Variable,
        scalar: Scalar,
        commands: &[Command],
        varying: &BTreeSet<Variable>,
    ) -> Option<Affine> {
        if !scalar.is_integer() || scalar.bits() < 32 {
            return None;
        }
        let mut values = BTreeMap::new();
        let mut assigned = None;
        for command in commands {
            match command {
                Command::Declare {
                    variable,
                    value: Some(value),
                } => {
                    values.insert(*variable, value);
                }
                Command::Assign { variable, value } if *variable == carried => {
                    assigned = Some(value);
                }
                _others => {}
            }
        }
        let mut value = assigned?;
        while let Expression::Variable(variable) = value
            && let Some(known) = values.get(variable)
        {
            value = known;
        }
        let (value, mask) = match masked(value) {
            Some((inside, mask)) => (inside, Some(mask)),
            None => (value, None),
        };
        let search = Search {
            carried,
            scalar,
            values,
            varying,
            bits: mask.and_then(ScalarValue::as_integer),
        };
        let form = search.form(value, NESTED_DEFINITIONS)?;
        Some(Affine {
            carried,
            scalar,
            factor: form.factor?,
            summand: form.summand,
            mask,
        })
    }

    /// Returns `factor * value + summand`, masked.
    fn apply(
        &self,
        factor: Expression,
        value: Expression,
        summand: Option<Expression>,
    ) -> Expression {
        let product = self.on(ScalarOperation::Multiply, factor, value);
        let sum = match summand {
            Some(summand) => self.on(ScalarOperation::Add, product, summand),
            None => product,
        };
        match self.mask {
            Some(mask) => self.on(ScalarOperation::BitAnd, sum, Expression::Constant(mask)),
            None => sum,
        }
    }

    /// Returns the factor after one more iteration.
    pub(super) fn next_factor(&self, factor: Expression) -> Expression {
        self.apply(self.factor.clone(), factor, None)
    }

    /// Returns the summand after one more iteration.
    pub(super) fn next_summand(&self, summand: Expression) -> Expression {
        self.apply(self.factor.clone(), summand, self.summand.clone())
    }

    /// Returns the value after some iterations, at least one.
    pub(super) fn after(&self, factor: Expression, summand: Option<Expression>) -> Expression {
        self.apply(factor, Expression::Variable(self.carried), summand)
    }

    /// Returns an integer of the recurrence's type.
    pub(super) fn number(&self, value: i128) -> Expression {
        Expression::Constant(ScalarValue::from_integer_wrapping(self.scalar, value))
    }

    fn on(&self, operation: ScalarOperation, left: Expression, right: Expression) -> Expression {
        Expression::Scalar {
            operation,
            operand: self.scalar,
            arguments: vec![left, right],
        }
    }
}

impl Search<'_> {
    fn form(&self, value: &Expression, left: u32) -> Option<Form> {
        if left == 0 {
            return None;
        }
        if self.is_invariant(value) {
            return Some(Form {
                factor: None,
                summand: Some(value.clone()),
            });
        }
        if let Some((inside, mask)) = masked(value) {
            let kept = self
                .bits
                .is_some_and(|bits| mask.as_integer() >= Some(bits));
            return if kept {
                deep(|| self.form(inside, left - 1))
            } else {
                None
            };
        }
        match value {
            Expression::Variable(variable) if *variable == self.carried => Some(Form {
                factor: Some(Expression::Constant(ScalarValue::from_integer_wrapping(
                    self.scalar,
                    1,
                ))),
                summand: None,
            }),
            Expression::Variable(variable) => {
                let value = self.values.get(variable)?;
                deep(|| self.form(value, left - 1))
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if *operand == self.scalar => {
                let [a, b] = &arguments[..] else {
                    return None;
                };
                let (a, b) = (
                    deep(|| self.form(a, left - 1))?,
                    deep(|| self.form(b, left - 1))?,
                );
                self.combined(*operation, a, b)
            }
            _others => None,
        }
    }

    fn combined(&self, operation: ScalarOperation, a: Form, b: Form) -> Option<Form> {
        let on = |operation, left, right| Expression::Scalar {
            operation,
            operand: self.scalar,
            arguments: vec![left, right],
        };
        let add = |a: Option<Expression>, b: Option<Expression>| match (a, b) {
            (Some(a), Some(b)) => Some(on(ScalarOperation::Add, a, b)),
            (a, b) => a.or(b),
        };
        match operation {
            ScalarOperation::Add => Some(Form {
                factor: add(a.factor, b.factor),
                summand: add(a.summand, b.summand),
            }),
            ScalarOperation::Multiply => {
                let (scale, form) = match (a.factor.is_none(), b.factor.is_none()) {
                    (true, _) => (a.summand?, b),
                    (false, true) => (b.summand?, a),
                    (false, false) => return None,
                };
                let scaled = |e: Expression| on(ScalarOperation::Multiply, scale.clone(), e);
                Some(Form {
                    factor: form.factor.map(scaled),
                    summand: form.summand.map(scaled),
                })
            }
            _others => None,
        }
    }

    fn is_invariant(&self, value: &Expression) -> bool {
        let mut invariant = !value.reads_memory();
        value.each_variable(&mut |v| invariant &= !self.varying.contains(&v));
        invariant
    }
}

/// Returns what a mask of the lowest bits is applied to, and the mask.
fn masked(value: &Expression) -> Option<(&Expression, ScalarValue)> {
    let Expression::Scalar {
        operation: ScalarOperation::BitAnd,
        arguments,
        ..
    } = value
    else {
        return None;
    };
    let (inside, mask) = match &arguments[..] {
        [inside, Expression::Constant(mask)] | [Expression::Constant(mask), inside] => {
            (inside, *mask)
        }
        _others => return None,
    };
    let bits = mask.as_integer()?;
    let lowest = bits > 0 && bits & bits.wrapping_add(1) == 0;
    lowest.then_some((inside, mask))
}
