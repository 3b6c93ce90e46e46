//! Writing tables: rows of cells as `read` reads them, without names of columns.

use super::{Cell, Form};
use csv::{QuoteStyle, Writer, WriterBuilder};
use nova_core::text::print_scalar;
use nova_core::{Elements, Type, Value};
use std::io::{self, Write};

/// Writes a value of type `ty` as a table.
///
/// # Errors
/// The writer fails, no table holds values of this type, or the value is no table: its rows or columns differ in
/// length, or its rows have no cells.
pub fn write(writer: &mut dyn Write, separator: u8, ty: &Type, value: &Value) -> io::Result<()> {
    let form = Form::of(ty).map_err(io::Error::other)?;
    let has_texts = match &form {
        Form::Column(_) | Form::Rows(_) | Form::Matrix(_) => false,
        Form::Tuples(cells) | Form::Columns(cells) => cells.contains(&Cell::Text),
    };
    let mut table = Table {
        // A text between quotation marks is read as it is, whatever it begins with.
        writer: WriterBuilder::new()
            .delimiter(separator)
            .quote_style(match has_texts {
                true => QuoteStyle::NonNumeric,
                false => QuoteStyle::Necessary,
            })
            .from_writer(writer),
        cell: Vec::new(),
    };
    match (&form, value) {
        (Form::Column(_), Value::Vector(elements)) => {
            for row in 0..elements.len() {
                table.cell(elements, row)?;
                table.end_row()?;
            }
        }
        (Form::Matrix(_), Value::Array(extents, elements)) => {
            let width = extents.get(1).copied().unwrap_or(0);
            for row in 0..extents.first().copied().unwrap_or(0) {
                table.row(elements, row * width..(row + 1) * width)?;
            }
        }
        (Form::Rows(_), Value::Vector(rows)) => table.rows(rows)?,
        (Form::Tuples(_), Value::Vector(rows)) => {
            for row in rows.iter() {
                if let Value::Tuple(cells) = row {
                    cells.iter().try_for_each(|cell| table.value(cell))?;
                }
                table.end_row()?;
            }
        }
        (Form::Columns(_), Value::Tuple(columns)) => table.columns(columns)?,
        _ => return Err(io::Error::other("the value is not of its type")),
    }
    table.writer.flush()
}

/// A table that is being written.
struct Table<'a> {
    writer: Writer<&'a mut dyn Write>,
    /// The text of a cell.
    cell: Vec<u8>,
}

impl Table<'_> {
    /// Writes element `k` as a cell.
    fn cell(&mut self, elements: &Elements, k: usize) -> io::Result<()> {
        match elements.get(k) {
            Some(value) => self.value(&value),
            None => Ok(()),
        }
    }

    fn value(&mut self, value: &Value) -> io::Result<()> {
        self.cell.clear();
        match value {
            Value::Scalar(scalar) => print_scalar(&mut self.cell, *scalar)?,
            Value::Vector(Elements::U8(text)) => self.cell.extend_from_slice(text),
            _ => {}
        }
        self.writer.write_field(&self.cell)?;
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.writer.write_record(None::<&[u8]>)?;
        Ok(())
    }

    fn row(&mut self, elements: &Elements, range: std::ops::Range<usize>) -> io::Result<()> {
        if range.is_empty() {
            return Err(io::Error::other("rows without cells cannot be written"));
        }
        for k in range {
            self.cell(elements, k)?;
        }
        self.end_row()
    }

    fn rows(&mut self, rows: &Elements) -> io::Result<()> {
        let mut width = None;
        for (number, row) in rows.iter().enumerate() {
            let Value::Vector(cells) = row else { continue };
            let first = *width.get_or_insert(cells.len());
            if cells.len() != first {
                return Err(io::Error::other(format!(
                    "row {} has {} elements and row 1 has {first}; rows of different lengths are no \
                     table (.npz holds them)",
                    number + 1,
                    cells.len()
                )));
            }
            self.row(&cells, 0..cells.len())?;
        }
        Ok(())
    }

    fn columns(&mut self, columns: &[Value]) -> io::Result<()> {
        let columns = columns.iter().filter_map(|column| match column {
            Value::Vector(elements) => Some(elements),
            _ => None,
        });
        let columns: Vec<&Elements> = columns.collect();
        let rows = columns.first().map_or(0, |column| column.len());
        if let Some(other) = columns.iter().find(|column| column.len() != rows) {
            return Err(io::Error::other(format!(
                "the columns differ in length: {rows} and {} (.npz holds them)",
                other.len()
            )));
        }
        for row in 0..rows {
            for column in &columns {
                self.cell(column, row)?;
            }
            self.end_row()?;
        }
        Ok(())
    }
}
