//! Comparisons of positions with the first elements of rows are comparisons of rows.

use super::code::{Code, scalar_of, sum};
use super::form::Form;
use super::state::Nest;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Expression, Statement};

impl Nest<'_> {
    /// Returns a comparison of rows or columns with the same result, if there is one.
    pub(super) fn comparison(
        &mut self,
        operation: ScalarOperation,
        one: Atom,
        other: Atom,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Expression> {
        use ScalarOperation::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        match operation {
            Equal | NotEqual => self.last_column(operation, one, other, place, out),
            Less | LessEqual | Greater | GreaterEqual => {
                let forms = [self.form(one)?, self.form(other)?];
                let [a, b] = &forms;
                match self.position(a).is_some() {
                    true => self.rows_compared(operation, a, b, place, out),
                    false => self.rows_compared(turned(operation), b, a, place, out),
                }
            }
            _ => None,
        }
    }

    /// Compares a position with the first element of a row, or with the last one.
    fn rows_compared(
        &mut self,
        operation: ScalarOperation,
        position: &Form,
        other: &Form,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Expression> {
        let at = self.position(position).filter(|p| p.columns == 0)?;
        // `k ≤ e` is `k < e + 1`, and `k > e` is not `k ≤ e`.
        let (rows, first) = match operation {
            ScalarOperation::Less | ScalarOperation::GreaterEqual => (operation, 0),
            ScalarOperation::LessEqual => (ScalarOperation::Less, -1),
            ScalarOperation::Greater => (ScalarOperation::GreaterEqual, -1),
            _ => return None,
        };
        let is_first = other.column.as_constant() == Some(first) && !other.narrow;
        if !is_first || !self.is_edge(&other.row) {
            return None;
        }
        let mut code = Code::new(self.program, self.definitions, place);
        let number = Atom::index(i64::try_from(at.rows).ok()?);
        let row = code.scalar(ScalarOperation::Add, [Atom::Variable(at.row), number]);
        let edge = sum(&mut code, &other.row);
        out.append(&mut code.out);
        Some(scalar_of(rows, Scalar::I64, &[row, edge]))
    }

    /// Compares the remainder of the position after that of a map's element with 0.
    fn last_column(
        &mut self,
        operation: ScalarOperation,
        one: Atom,
        other: Atom,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Expression> {
        let is_zero = |atom: Atom| atom.as_constant().and_then(ScalarValue::as_integer) == Some(0);
        let remainder = match (is_zero(one), is_zero(other)) {
            (true, false) => other,
            (false, true) => one,
            (_, _) => return None,
        };
        let source = self.definitions.source(remainder).as_variable()?;
        let (column, shift) = *self.remainders.get(&source)?;
        let mut code = Code::new(self.program, self.definitions, place);
        let number = match shift {
            0 => Atom::index(0),
            1 => code.scalar(
                ScalarOperation::Subtract,
                [self.matrix.width, Atom::index(1)],
            ),
            _ => return None,
        };
        out.append(&mut code.out);
        Some(scalar_of(
            operation,
            Scalar::I64,
            &[Atom::Variable(column), number],
        ))
    }
}

/// Returns the comparison with its operands in the other order.
fn turned(operation: ScalarOperation) -> ScalarOperation {
    match operation {
        ScalarOperation::Less => ScalarOperation::Greater,
        ScalarOperation::LessEqual => ScalarOperation::GreaterEqual,
        ScalarOperation::Greater => ScalarOperation::Less,
        ScalarOperation::GreaterEqual => ScalarOperation::LessEqual,
        same => same,
    }
}
