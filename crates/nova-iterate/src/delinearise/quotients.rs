//! Quotients and remainders of positions are rows and columns.

use super::code::{Code, gives, scalar_of};
use super::state::Nest;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Statement};

impl Nest<'_> {
    /// Returns the quotient or remainder of the position of a map's element, or of one beside it, or of the number of
    /// elements, and the number of columns. It needs no division.
    pub(super) fn quotient(
        &mut self,
        operation: ScalarOperation,
        number: Atom,
        scalar: Scalar,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Expression> {
        let is_quotient = operation == ScalarOperation::Divide;
        if self.definitions.source(number) == self.matrix.count {
            let value = match is_quotient {
                true => self.matrix.rows,
                false => Atom::index(0),
            };
            return Some(as_scalar(value, scalar));
        }
        let form = self.form(number)?;
        let position = self.position(&form)?;
        // Quotients are rounded towards zero, so that positions must not be negative.
        let may_be_negative = match position.columns {
            0 | 1 => position.rows < 0,
            -1 => position.rows < 1,
            _ => true,
        };
        if may_be_negative {
            return None;
        }
        let (row, column) = (
            Atom::Variable(position.row),
            Atom::Variable(position.column),
        );
        let (width, shift) = (self.matrix.width, position.columns);
        let mut code = Code::new(self.program, self.definitions, place);
        let shifted = |code: &mut Code<'_>, atom: Atom, number: i128| {
            let number = Atom::index(i64::try_from(number).unwrap_or_default());
            code.scalar(ScalarOperation::Add, [atom, number])
        };
        let value = match (is_quotient, shift) {
            (true, 0) => shifted(&mut code, row, position.rows),
            (false, 0) => column,
            (_, _) => {
                let beside = shifted(&mut code, column, shift);
                let is_inside = match shift > 0 {
                    true => code.test(ScalarOperation::Less, [beside, width]),
                    false => code.test(ScalarOperation::LessEqual, [Atom::index(0), beside]),
                };
                let rows = shifted(&mut code, row, position.rows);
                let (inside, outside) = match (is_quotient, shift > 0) {
                    (true, _) => (gives(rows), (rows, Atom::index(shift as i64))),
                    (false, true) => (gives(beside), (Atom::index(0), Atom::index(0))),
                    (false, false) => (gives(beside), (width, Atom::index(-1))),
                };
                let place = code.place.clone();
                let mut other = Code::new(code.program, code.definitions, &place);
                let result = other.scalar(ScalarOperation::Add, [outside.0, outside.1]);
                let outside = Body {
                    statements: std::mem::take(&mut other.out),
                    results: vec![result],
                };
                let is_inside = Atom::Variable(is_inside);
                Atom::Variable(code.choice(is_inside, Scalar::I64, [inside, outside]))
            }
        };
        out.append(&mut code.out);
        if let (false, Atom::Variable(value)) = (is_quotient, value) {
            self.remainders.insert(value, (position.column, shift));
        }
        Some(as_scalar(value, scalar))
    }
}

/// Returns an `i64` that fits in a type as that.
fn as_scalar(value: Atom, scalar: Scalar) -> Expression {
    match scalar {
        Scalar::I64 => Expression::Atom(value),
        other => scalar_of(ScalarOperation::Convert(other), Scalar::I64, &[value]),
    }
}
