//! The greatest values that numbers can have, as far as constants show them. An array with few elements at
//! the most needs no code for threads.

use crate::ir::{Atom, Expression, Statement, Variable};
use nova_core::{Scalar, ScalarOperation};
use std::collections::HashMap;

/// The greatest values of some variables, of integer types.
#[derive(Clone, Debug, Default)]
pub struct Greatest {
    known: HashMap<Variable, i64>,
}

impl Greatest {
    /// Takes note of what a statement gives. Those that it depends on come before it.
    pub fn note(&mut self, statement: &Statement) {
        let [variable] = statement.pattern[..] else {
            return;
        };
        if let Some(greatest) = self.of_expression(&statement.expression) {
            self.known.insert(variable, greatest);
        }
    }

    /// Returns the greatest value of an atom.
    pub fn of(&self, atom: Atom) -> Option<i64> {
        match atom {
            Atom::Constant(value) => value.as_integer().and_then(|value| value.try_into().ok()),
            Atom::Variable(variable) => self.known.get(&variable).copied(),
        }
    }

    fn of_expression(&self, expression: &Expression) -> Option<i64> {
        match expression {
            Expression::Atom(atom) => self.of(*atom),
            Expression::Scalar {
                operation,
                operand: Scalar::I64,
                arguments,
            } => self.of_scalar(*operation, arguments),
            _others => None,
        }
    }

    fn of_scalar(&self, operation: ScalarOperation, arguments: &[Atom]) -> Option<i64> {
        let [left, right] = *arguments else {
            return None;
        };
        let (a, b) = (self.of(left), self.of(right));
        match operation {
            ScalarOperation::Minimum => a.into_iter().chain(b).min(),
            ScalarOperation::Maximum => Some(a?.max(b?)),
            _others => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: u32, operation: ScalarOperation, arguments: [Atom; 2]) -> Statement {
        Statement {
            pattern: vec![Variable(name)],
            expression: Expression::Scalar {
                operation,
                operand: Scalar::I64,
                arguments: arguments.to_vec(),
            },
            place: nova_diag::Place::new("x", 1, 1),
        }
    }

    #[test]
    fn minima_are_known_by_either_operand_and_maxima_by_both() {
        let [unknown, least, most] = [0, 1, 2].map(Variable).map(Atom::Variable);
        let mut greatest = Greatest::default();
        let (minimum, maximum) = (ScalarOperation::Minimum, ScalarOperation::Maximum);
        greatest.note(&given(1, minimum, [unknown, Atom::index(7)]));
        greatest.note(&given(2, maximum, [least, Atom::index(9)]));
        greatest.note(&given(3, maximum, [unknown, Atom::index(9)]));
        greatest.note(&given(4, ScalarOperation::Add, [least, least]));
        let of = [
            unknown,
            least,
            most,
            Atom::Variable(Variable(3)),
            Atom::Variable(Variable(4)),
        ];
        let expected = [None, Some(7), Some(9), None, None];
        assert_eq!(of.map(|atom| greatest.of(atom)), expected);
    }
}
