//! Tests whether rows of a nest may be written together (see [`super`]), and finds the distance
//! between the elements that neighbouring rows write.

use super::Nest;
use super::atom::{Atom, Polynomial, expression, mentions, product};
use super::forms::Forms;
use crate::limits::ELEMENTS_BESIDE;
use nova_loop::ir::{Command, Expression};
use nova_loop::walk;
use std::collections::BTreeMap;

/// The elements that the inner loop writes, in terms of variables outside the nest.
pub(super) struct Written {
    /// The index of its first element in the first row.
    pub(super) first: Expression,
    /// The number of elements in each row.
    pub(super) count: Expression,
    /// The distance between rows.
    pub(super) distance: Expression,
}

impl Nest<'_> {
    /// Returns the elements that the inner loop writes, if rows may be written together.
    pub(super) fn written(&self) -> Option<Written> {
        let (index, column) = (self.index, self.inner.index);
        let here = self.form(index, 0, Some(0))?;
        let at_column = self.form(index, 0, None)?;
        let is_row = at_column.minus(&Polynomial::variable(Atom::Variable(column))) == here;
        let distance = self.form(index, 1, Some(0))?.minus(&here);
        let count = self.form(self.inner.count, 0, None)?;
        let beside = distance.minus(&count).as_constant()?;
        if !is_row || mentions(&distance, self.row) || !(0..=ELEMENTS_BESIDE).contains(&beside) {
            return None;
        }
        // The number of elements that the row reaches before those of the inner loop, and after
        // them.
        let (mut before, mut after) = (0, 0);
        for other in self.other_stores() {
            let there = self.form(other, 0, None)?;
            if self.form(other, 1, None)?.minus(&there) != distance {
                return None;
            }
            let from_first = there.minus(&here);
            let from_last = from_first.minus(&count).as_constant();
            match (from_first.as_constant(), from_last) {
                (Some(at), _) if (-ELEMENTS_BESIDE..0).contains(&at) => before = before.max(-at),
                (_, Some(at)) if (0..ELEMENTS_BESIDE).contains(&at) => after = after.max(at + 1),
                _ => return None,
            }
        }
        if before + after > beside {
            return None;
        }
        let first = here.minus(&product(&distance, &self.row_after(0))?);
        Some(Written {
            first: expression(&first)?,
            count: expression(&count)?,
            distance: expression(&distance)?,
        })
    }

    /// Returns the indices at which other commands write elements through the inner loop's pointer.
    fn other_stores(&self) -> Vec<&Expression> {
        let mut found = Vec::new();
        for (at, command) in self.body.iter().enumerate() {
            if at != self.at {
                walk::each_command(std::slice::from_ref(command), |command| {
                    if let Command::Store { pointer, index, .. } = command
                        && *pointer == self.pointer
                    {
                        found.push(index);
                    }
                });
            }
        }
        found
    }

    /// Returns the exact polynomial of an expression, in a row so many further on, and in a given
    /// column if there is one.
    fn form(&self, expression: &Expression, row: i64, column: Option<i64>) -> Option<Polynomial> {
        let mut given = BTreeMap::from([(self.row, self.row_after(row))]);
        given.extend(column.map(|column| (self.inner.index, Polynomial::constant(column))));
        let forms = Forms {
            definitions: &self.definitions,
            given,
            guess: None,
        };
        forms.of(expression)
    }

    /// Returns the number of the row that many rows further on.
    pub(super) fn row_after(&self, rows: i64) -> Polynomial {
        Polynomial::variable(Atom::Variable(self.row)).plus(&Polynomial::constant(rows))
    }
}
