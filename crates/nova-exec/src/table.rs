//! Tables of comma-separated values, `.csv`, and with tabs, `.tsv`.
//!
//! [`Form`] says which values are tables. `read` reads one record after the other into typed columns,
//! `write` writes records, and `cell` has the numbers in cells. The records themselves are the crate `csv`'s.

mod cell;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::write;

use nova_core::{Scalar, Type};

/// The content of a cell of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A number or a `bool`.
    Number(Scalar),
    /// A text, as a `vector uint8`.
    Text,
}

/// The form of the values that a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// `vector T`: one column.
    Column(Scalar),
    /// `vector (vector T)`: rows of equal length.
    Rows(Scalar),
    /// `vector#2 T`: rows.
    Matrix(Scalar),
    /// `vector (T, U, …)`: rows of cells of their own types.
    Tuples(Vec<Cell>),
    /// `(vector T, vector U, …)`: columns of their own types.
    Columns(Vec<Cell>),
}

impl Form {
    /// Returns the form of the values of a type.
    ///
    /// # Errors
    /// No table holds such values. The message says which a table holds.
    pub fn of(ty: &Type) -> Result<Form, String> {
        let form = match ty {
            Type::Vector(element) => match &**element {
                Type::Scalar(scalar) => Some(Form::Column(*scalar)),
                Type::Vector(inner) => inner.as_scalar().map(Form::Rows),
                Type::Tuple(types) => types
                    .iter()
                    .map(cell)
                    .collect::<Option<_>>()
                    .map(Form::Tuples),
                Type::Unit | Type::Array(..) | Type::Sum(_) | Type::Function(..) => None,
            },
            Type::Array(2, element) => element.as_scalar().map(Form::Matrix),
            Type::Tuple(types) => types
                .iter()
                .map(|ty| match ty {
                    Type::Vector(element) => cell(element),
                    Type::Unit
                    | Type::Scalar(_)
                    | Type::Tuple(_)
                    | Type::Array(..)
                    | Type::Sum(_)
                    | Type::Function(..) => None,
                })
                .collect::<Option<_>>()
                .map(Form::Columns),
            Type::Unit | Type::Scalar(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => {
                None
            }
        };
        form.ok_or_else(|| {
            "a table is a vector#2 or a vector of vectors of numbers, a vector of numbers (one column), \
             a vector of tuples or a tuple of vectors (of numbers and texts)"
                .to_string()
        })
    }

    /// Returns the content of the cells of column `k`.
    pub fn cell(&self, k: usize) -> Cell {
        match self {
            Form::Column(scalar) | Form::Rows(scalar) | Form::Matrix(scalar) => {
                Cell::Number(*scalar)
            }
            Form::Tuples(cells) | Form::Columns(cells) => {
                cells.get(k).copied().unwrap_or(Cell::Text)
            }
        }
    }

    /// Returns the number of columns, if the form has one.
    pub fn width(&self) -> Option<usize> {
        match self {
            Form::Column(_) => Some(1),
            Form::Rows(_) | Form::Matrix(_) => None,
            Form::Tuples(cells) | Form::Columns(cells) => Some(cells.len()),
        }
    }
}

/// Returns the content of the cells that hold values of a type.
fn cell(ty: &Type) -> Option<Cell> {
    match ty {
        Type::Scalar(scalar) => Some(Cell::Number(*scalar)),
        Type::Vector(element) if **element == Type::Scalar(Scalar::U8) => Some(Cell::Text),
        Type::Unit
        | Type::Tuple(_)
        | Type::Vector(_)
        | Type::Array(..)
        | Type::Sum(_)
        | Type::Function(..) => None,
    }
}
