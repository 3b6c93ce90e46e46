//! The forms of the integers of a program.

use super::definitions::is_index;
use super::form::{Form, Position, Sum, product};
use super::state::Nest;
use crate::limits::ROWS_AROUND;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{Atom, Type};

impl Nest<'_> {
    /// Notes the number of rows.
    pub(super) fn note_rows(&mut self) {
        let rows = self.matrix.rows;
        let form = self.form(rows).filter(Form::is_in_first_row);
        let symbol = rows.as_variable().map(Sum::variable);
        self.last = form.map(|f| f.column).or(symbol);
    }

    /// Returns the form of a number. A multiple of a known number of columns, and numbers beside it, are rows.
    fn number(&self, number: i128) -> Option<Form> {
        let width = self
            .matrix
            .width
            .as_i64()
            .map(i128::from)
            .filter(|w| *w > 2 * ROWS_AROUND);
        let rows = width.map_or(0, |w| (number + ROWS_AROUND).div_euclid(w));
        let rest = number - rows * width.unwrap_or(0);
        let (rows, rest) = match rest.abs() <= ROWS_AROUND {
            true => (rows, rest),
            false => (0, number),
        };
        Some(Form {
            row: Sum::integer(rows)?,
            ..Form::column(Sum::integer(rest)?)
        })
    }

    /// Returns the form of an integer in which programs compute indices.
    pub(super) fn form(&mut self, atom: Atom) -> Option<Form> {
        let Atom::Variable(variable) = atom else {
            return self.number(atom.as_constant()?.as_integer()?);
        };
        let scalar = match self.program.ty(variable) {
            Type::Scalar(scalar) if is_index(*scalar) => *scalar,
            _ => return None,
        };
        if let Some(known) = self.forms.get(&variable) {
            return Some(known.clone());
        }
        // What is computed from itself, by way of the number of rows, is a symbol.
        self.forms.insert(variable, Form::symbol(variable));
        let form = deep(|| self.computed(atom, scalar));
        if let Some(form) = &form {
            self.forms.insert(variable, form.clone());
        }
        Some(form.unwrap_or_else(|| Form::symbol(variable)))
    }

    fn computed(&mut self, atom: Atom, scalar: Scalar) -> Option<Form> {
        let one = Sum::constant(1);
        if atom == self.matrix.width || atom == self.matrix.extents.width {
            return Some(Form {
                row: one,
                ..Form::column(Sum::constant(0))
            });
        }
        if atom == self.matrix.count {
            let row = self.last.clone()?;
            return Some(Form {
                row,
                ..Form::column(Sum::constant(0))
            });
        }
        let definition = self.definitions.of(atom)?.clone();
        let operand = Some(definition.operand).filter(|s| is_index(*s))?;
        match (definition.operation, &definition.arguments[..]) {
            (ScalarOperation::Convert(_) | ScalarOperation::Wrap(_), [from]) => {
                let is_wrap = matches!(definition.operation, ScalarOperation::Wrap(_));
                let form = self.form(*from)?;
                match (operand, scalar) {
                    (Scalar::I64, Scalar::I32) if is_wrap || form.narrow => Some(Form {
                        narrow: false,
                        ..form
                    })
                    .filter(|f| self.is_bounded(f)),
                    (Scalar::I32, Scalar::I64) if !self.is_exact(&form) => Some(Form {
                        narrow: true,
                        ..form
                    }),
                    (_, _) => Some(form),
                }
            }
            (ScalarOperation::Add, [a, b]) => self.sum(1, *a, *b),
            (ScalarOperation::Subtract, [a, b]) => self.sum(-1, *a, *b),
            (ScalarOperation::Negate, [a]) => self.form(*a)?.times(-1),
            (ScalarOperation::Multiply, [a, b]) => {
                let number = |atom: &Atom| atom.as_constant().and_then(|value| value.as_integer());
                let (factor, form) = match (number(a), number(b)) {
                    (Some(factor), _) => (factor, self.form(*b)?),
                    (None, Some(factor)) => (factor, self.form(*a)?),
                    (None, None) => {
                        let (a, b) = (self.form(*a)?, self.form(*b)?);
                        return product(&a, &b).or_else(|| product(&b, &a));
                    }
                };
                let is_width = self.matrix.width.as_i64().map(i128::from) == Some(factor);
                match is_width && form.is_in_first_row() {
                    true => Some(form.of_row()),
                    false => form.times(factor),
                }
            }
            _ => None,
        }
    }

    fn sum(&mut self, factor: i128, a: Atom, b: Atom) -> Option<Form> {
        let (a, b) = (self.form(a)?, self.form(b)?);
        a.plus(factor, &b)
    }

    /// True if an `i32` of this form is that integer.
    fn is_exact(&self, form: &Form) -> bool {
        let number = form.column.as_constant();
        let is_small = number.is_some_and(|number| i32::try_from(number).is_ok());
        let is_plain = is_small || form.column.as_variable().is_some();
        (form.is_in_first_row() && is_plain) || self.is_bounded(form)
    }

    /// True if an integer of this form is a position around the matrix, so that it fits.
    fn is_bounded(&self, form: &Form) -> bool {
        if form.column.as_constant() == Some(0) {
            return self.is_edge(&form.row);
        }
        self.position(form).is_some()
    }

    /// Returns row index, number of rows added, column index and number of columns added, if a form is the position of an
    /// element in a row around that of a map.
    pub(super) fn position(&self, form: &Form) -> Option<Position> {
        let (row, rows) = form.row.as_shifted_variable()?;
        let (column, columns) = form.column.as_shifted_variable()?;
        let is_near = |number: i128| number.abs() <= ROWS_AROUND;
        let is_index = self.columns.get(&row) == Some(&column) && !form.narrow;
        (is_index && is_near(rows) && is_near(columns)).then_some(Position {
            row,
            rows,
            column,
            columns,
        })
    }

    /// True if a row is a number, or the number of rows plus a number, and thus the position of its first element fits.
    pub(super) fn is_edge(&self, row: &Sum) -> bool {
        let distance = match row.as_constant() {
            Some(number) => Some(number),
            None => self
                .last
                .as_ref()
                .and_then(|last| row.plus(-1, last)?.as_constant()),
        };
        distance.is_some_and(|number| number.abs() <= ROWS_AROUND)
    }
}
