//! Integer expressions as polynomials over the variables that a nest of loops does not declare.
//!
//! There are two readings of an expression. The exact one is that of arithmetic that wraps: numbers
//! of 32 bits are polynomials modulo 2³². The guess ignores conversions between 32 and 64 bits. Of
//! a minimum, maximum or choice it takes the operand that depends on the row, which is the value of
//! a clamp away from the edges. If both operands of a choice depend on the row, it takes the
//! shorter one: an index that wraps to the other end of an array has this value there.

use super::atom::{Atom, Polynomial, mentions, product};
use crate::limits::NODES_OF_A_FORM;
use crate::strip_mining::linear::Definitions;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Expression, Variable};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The reading of expressions.
pub(super) struct Forms<'a> {
    /// The declarations of the nest.
    pub(super) definitions: &'a Definitions,
    /// Polynomials that replace variables.
    pub(super) given: BTreeMap<Variable, Polynomial>,
    /// The variable of the row, if expressions are guessed.
    pub(super) guess: Option<Variable>,
}

impl Forms<'_> {
    /// Returns the polynomial of an integer expression.
    pub(super) fn of(&self, expression: &Expression) -> Option<Polynomial> {
        self.read(expression, &Cell::new(NODES_OF_A_FORM))
    }

    fn read(&self, expression: &Expression, left: &Cell<usize>) -> Option<Polynomial> {
        left.set(left.get().checked_sub(1)?);
        match expression {
            Expression::Constant(ScalarValue::I64(value)) => Some(Polynomial::constant(*value)),
            Expression::Constant(ScalarValue::I32(value)) => {
                Some(Polynomial::constant(i64::from(*value)))
            }
            Expression::Variable(variable) => {
                match (self.given.get(variable), self.definitions.value(*variable)) {
                    (Some(given), _) => Some(given.clone()),
                    (None, Some(value)) => deep(|| self.read(value, left)),
                    (None, None) => Some(Polynomial::variable(Atom::Variable(*variable))),
                }
            }
            Expression::Scalar {
                operation,
                operand: operand @ (Scalar::I32 | Scalar::I64),
                arguments,
            } => {
                let read = |argument| deep(|| self.read(argument, left));
                let arguments: Option<Vec<Polynomial>> = arguments.iter().map(read).collect();
                self.operation(*operation, *operand, arguments?)
            }
            Expression::Select {
                then, otherwise, ..
            } if self.guess.is_some() => {
                let then = deep(|| self.read(then, left))?;
                let otherwise = deep(|| self.read(otherwise, left))?;
                let shorter = match then.terms() < otherwise.terms() {
                    true => &then,
                    false => &otherwise,
                };
                let moving = self.moving(&then, &otherwise);
                moving.or_else(|| Some(shorter.clone()))
            }
            _others => None,
        }
    }

    fn operation(
        &self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: Vec<Polynomial>,
    ) -> Option<Polynomial> {
        use ScalarOperation as O;
        let is_exact = self.guess.is_none();
        let sum = match (operation, &arguments[..]) {
            (O::Add, [a, b]) => a.plus(b),
            (O::Subtract, [a, b]) => a.minus(b),
            (O::Multiply, [a, b]) => product(a, b)?,
            (O::Convert(Scalar::I32), [a]) if is_exact => return Some(a.narrow()),
            (O::Convert(to), [a]) if to == operand => a.clone(),
            (O::Convert(Scalar::I32 | Scalar::I64), [a]) if !is_exact => a.clone(),
            (O::Minimum | O::Maximum | O::Remainder, [a, b])
                if !is_exact && self.moving(a, b).is_some() =>
            {
                self.moving(a, b)?
            }
            _ => {
                return Some(Polynomial::variable(Atom::Operation(
                    operation, operand, arguments,
                )));
            }
        };
        Some(match operand {
            Scalar::I32 if is_exact => sum.narrow(),
            _ => sum,
        })
    }

    /// Returns the one of two values that depends on the row, if exactly one does.
    fn moving(&self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let row = self.guess?;
        match (mentions(a, row), mentions(b, row)) {
            (true, false) => Some(a.clone()),
            (false, true) => Some(b.clone()),
            (true, true) | (false, false) => None,
        }
    }
}
