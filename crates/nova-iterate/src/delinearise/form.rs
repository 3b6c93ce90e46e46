//! Integers as `row · m + column`, where row and column are sums of symbols.

use nova_flat::ir::Variable;
use nova_symbolic::Affine;

/// A sum of symbols, which are variables of the program.
pub(super) type Sum = Affine<Variable>;

/// An integer that equals `row · m + column` modulo two to the power of its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) row: Sum,
    pub(super) column: Sum,
    /// True if only the lower 32 bits of an `i64` are known to equal those.
    pub(super) narrow: bool,
}

impl Form {
    /// Returns the form of an integer of which nothing is known.
    pub(super) fn symbol(variable: Variable) -> Form {
        Form::column(Sum::variable(variable))
    }

    pub(super) fn column(column: Sum) -> Form {
        Form {
            row: Sum::constant(0),
            column,
            narrow: false,
        }
    }

    /// Returns `self + factor · other`.
    pub(super) fn plus(&self, factor: i128, other: &Form) -> Option<Form> {
        Some(Form {
            row: self.row.plus(factor, &other.row)?,
            column: self.column.plus(factor, &other.column)?,
            narrow: self.narrow || other.narrow,
        })
    }

    pub(super) fn times(&self, factor: i128) -> Option<Form> {
        Some(Form {
            row: self.row.times(factor)?,
            column: self.column.times(factor)?,
            narrow: self.narrow,
        })
    }

    /// Returns the product of the number of columns and of a form in the first row.
    pub(super) fn of_row(self) -> Form {
        Form {
            row: self.column,
            column: Sum::constant(0),
            narrow: self.narrow,
        }
    }

    /// True if its row is the number 0.
    pub(super) fn is_in_first_row(&self) -> bool {
        self.row.as_constant() == Some(0)
    }
}

/// A position in a row around that of a map.
pub(super) struct Position {
    /// The index of the row.
    pub(super) row: Variable,
    pub(super) rows: i128,
    /// The index of the column.
    pub(super) column: Variable,
    pub(super) columns: i128,
}

/// Returns the product of the number of columns and of a form.
pub(super) fn product(factor: &Form, form: &Form) -> Option<Form> {
    let is_width = factor.row.as_constant() == Some(1) && factor.column.as_constant() == Some(0);
    (is_width && form.is_in_first_row()).then(|| form.clone().of_row())
}
