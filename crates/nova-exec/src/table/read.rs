//! Reading tables: one record at a time, so that a file takes the memory of its values.

use super::cell::{is_name, number, shown};
use super::{Cell, Form};
use crate::nested::unflatten;
use csv::{ByteRecord, ReaderBuilder};
use nova_core::{Elements, OutOfMemory, Scalar, Type, Value};
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

/// The most names of columns that a message lists.
const LISTED: usize = 12;

/// Reads a table of type `ty`. `columns` are the names or numbers of its columns, separated as cells are; without
/// them all columns count.
///
/// # Errors
/// A sentence without the file's name, with the line and the column of the table.
pub fn read(
    reader: impl BufRead,
    separator: u8,
    columns: Option<&str>,
    ty: &Type,
) -> Result<Value, String> {
    let form = Form::of(ty)?;
    let mut records = Records::new(reader, separator)?;
    let wanted = match columns {
        Some(columns) => Some(selectors(columns, separator)?),
        None => None,
    };
    let mut record = ByteRecord::new();
    let mut line = records.next(&mut record)?;
    let head = Head::of(&record, wanted.as_deref(), &form)?;
    let mut content = Content::new(&form, ty);
    if head.is_first_line_names && line.is_some() {
        line = records.next(&mut record)?;
    }
    let mut rows = 0usize;
    while let Some(at) = line {
        if record.len() != head.width {
            return Err(ragged(at, &record, &head));
        }
        for (k, column) in head.chosen.iter().enumerate() {
            let cell = record.get(*column).unwrap_or_default();
            let value = value(cell, form.cell(k))
                .map_err(|error| head.complaint(at, *column, &record, separator, &error))?;
            content.push(k, value).map_err(out_of_memory)?;
        }
        content.end_row(head.chosen.len()).map_err(out_of_memory)?;
        rows += 1;
        line = records.next(&mut record)?;
    }
    records.end()?;
    content.finish(rows, head.chosen.len())
}

fn out_of_memory(_: OutOfMemory) -> String {
    "out of memory".to_string()
}

/// Returns the value of a cell.
fn value(cell: &[u8], content: Cell) -> Result<Value, String> {
    match content {
        Cell::Number(scalar) => number(cell, scalar).map(Value::Scalar),
        Cell::Text => Ok(Value::Vector(Elements::U8(Arc::new(cell.to_vec())))),
    }
}

/// The records of a file.
struct Records<R> {
    reader: csv::Reader<Lines<R>>,
}

impl<R: BufRead> Records<R> {
    fn new(mut reader: R, separator: u8) -> Result<Self, String> {
        let start = reader
            .fill_buf()
            .map_err(|error| crate::error::describe(&error))?;
        if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
            return Err("the file is UTF-16; UTF-8 is needed".to_string());
        }
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(Lines::new(reader));
        Ok(Records { reader })
    }

    /// Reads the next record. Returns its line. (The position of a record of `csv` is before the empty lines
    /// that are skipped.)
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, String> {
        match self.reader.read_byte_record(record) {
            Ok(true) => {
                let inside = record.as_slice().iter().filter(|byte| **byte == b'\n');
                let inside = inside.count() as u64;
                let end = self.reader.position().byte();
                let lines = self.reader.get_mut();
                if lines.is_at_end && lines.quotes % 2 == 1 {
                    let line = lines.line_of(end).saturating_sub(inside);
                    return Err(format!(
                        "a quotation mark is not closed, perhaps that of line {line}"
                    ));
                }
                let last = lines.line_of(end.saturating_sub(1));
                Ok(Some(last.saturating_sub(inside)))
            }
            Ok(false) => Ok(None),
            Err(error) => Err(match error.into_kind() {
                csv::ErrorKind::Io(error) => crate::error::describe(&error),
                kind => format!("{kind:?}"),
            }),
        }
    }

    /// Checks the end of the file.
    fn end(&self) -> Result<(), String> {
        match self.reader.get_ref().quotes % 2 {
            0 => Ok(()),
            _ => Err("a quotation mark is not closed".to_string()),
        }
    }
}

/// A reader that counts quotation marks and lines.
struct Lines<R> {
    reader: R,
    /// The number of bytes that were read.
    bytes: u64,
    quotes: usize,
    is_at_end: bool,
    /// The number of ends of lines that [`Lines::line_of`] has passed.
    passed: u64,
    /// The offsets of the others.
    ends: VecDeque<u64>,
}

impl<R> Lines<R> {
    fn new(reader: R) -> Self {
        Lines {
            reader,
            bytes: 0,
            quotes: 0,
            is_at_end: false,
            passed: 0,
            ends: VecDeque::new(),
        }
    }

    /// Returns the line of a byte, from 1 on. Offsets rise from call to call.
    fn line_of(&mut self, offset: u64) -> u64 {
        while self.ends.front().is_some_and(|end| *end < offset) {
            self.ends.pop_front();
            self.passed += 1;
        }
        self.passed + 1
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        for (offset, byte) in (self.bytes..).zip(buffer.iter().take(length)) {
            match byte {
                b'"' => self.quotes += 1,
                b'\n' => self.ends.push_back(offset),
                _ => {}
            }
        }
        self.bytes += length as u64;
        self.is_at_end = length == 0;
        Ok(length)
    }
}

/// Splits the names or numbers of columns.
fn selectors(columns: &str, separator: u8) -> Result<Vec<String>, String> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator)
        .from_reader(columns.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) if record.iter().all(|name| !name.trim().is_empty()) => {
            Ok(record.iter().map(|name| name.trim().to_string()).collect())
        }
        Ok(_) => Err(format!("`{columns}` names no columns")),
        Err(error) => Err(error.to_string()),
    }
}

/// The first line of a table: what it says of the columns, and which are read.
struct Head {
    is_first_line_names: bool,
    /// The names, if the first line has them.
    names: Vec<String>,
    /// The number of cells of each record.
    width: usize,
    /// The columns that are read, in this order.
    chosen: Vec<usize>,
}

impl Head {
    fn of(first: &ByteRecord, wanted: Option<&[String]>, form: &Form) -> Result<Head, String> {
        let width = first.len();
        let by_name = |selectors: &[String]| selectors.iter().any(|s| number_of(s).is_none());
        let is_first_line_names = match wanted {
            Some(selectors) if by_name(selectors) => true,
            _ => has_names(first, wanted, form),
        };
        let names = match is_first_line_names {
            true => first.iter().map(name_of).collect(),
            false => Vec::new(),
        };
        let mut head = Head {
            is_first_line_names,
            names,
            width,
            chosen: (0..width).collect(),
        };
        if let Some(selectors) = wanted {
            let chosen = selectors.iter().map(|selector| head.find(selector));
            head.chosen = chosen.collect::<Result<_, String>>()?;
        }
        let is_empty = width == 0 && wanted.is_none();
        if let (Some(needed), false) = (form.width(), is_empty)
            && needed != head.chosen.len()
        {
            return Err(head.wrong_width(needed));
        }
        Ok(head)
    }

    /// Returns the column of this name, or of this number from 1 on.
    fn find(&self, selector: &str) -> Result<usize, String> {
        let mut named = self.names.iter().enumerate();
        let mut named = named.by_ref().filter(|(_, name)| *name == selector);
        match (named.next(), named.next()) {
            (Some((column, _)), None) => return Ok(column),
            (Some(_), Some(_)) => {
                return Err(format!(
                    "two columns are called {selector}; choose by number instead, from 1 on"
                ));
            }
            (None, _) => {}
        }
        match number_of(selector) {
            Some(number) if (1..=self.width).contains(&number) => Ok(number - 1),
            _ => Err(format!(
                "there is no column {selector}; the table has {}",
                self.columns()
            )),
        }
    }

    /// Returns the number of columns, with their names.
    fn columns(&self) -> String {
        let number = match self.width {
            1 => "1 column".to_string(),
            width => format!("{width} columns"),
        };
        if self.names.is_empty() {
            return number;
        }
        let listed: Vec<&str> = self.names.iter().map(String::as_str).take(LISTED).collect();
        let more = if self.width > LISTED { ", …" } else { "" };
        format!("{number}: {}{more}", listed.join(", "))
    }

    fn wrong_width(&self, needed: usize) -> String {
        let chosen = self.chosen.len();
        if chosen != self.width {
            let are = if chosen == 1 { "is" } else { "are" };
            return format!("{chosen} of the table's columns {are} chosen, {needed} must be");
        }
        let example = match needed {
            1 => "@FILE.csv:NAME",
            _ => "@FILE.csv:NAME,NAME",
        };
        let are = if needed == 1 { "is" } else { "are" };
        format!(
            "the table has {}; {needed} {are} needed (choose by name or number: {example})",
            self.columns()
        )
    }

    /// Returns the message about a cell.
    fn complaint(
        &self,
        line: u64,
        column: usize,
        record: &ByteRecord,
        separator: u8,
        error: &str,
    ) -> String {
        let name = match self.names.get(column) {
            Some(name) if !name.is_empty() => format!(" ({name})"),
            _ => String::new(),
        };
        let cell = record.get(column).unwrap_or_default();
        let help = if cell.contains(&0) {
            "; text has no byte 0"
        } else if record.len() == 1 && separator == b',' && cell.contains(&b';') {
            "; cells are separated by commas, not semicolons"
        } else if record.len() == 1 && separator == b',' && cell.contains(&b'\t') {
            "; cells are separated by commas; a file with tabs is called .tsv"
        } else if line == 1 && self.names.is_empty() && is_name(cell) {
            "; if the first line has the names of columns, choose some by name: @FILE.csv:NAME,NAME"
        } else {
            ""
        };
        format!("line {line}, column {}{name}: {error}{help}", column + 1)
    }
}

/// Returns the number that a selector is.
fn number_of(selector: &str) -> Option<usize> {
    let is_number = selector.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| selector.parse().ok()).flatten()
}

/// Returns a cell as the name of a column.
fn name_of(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}

/// True if the first line has names: where numbers are needed it has names and perhaps empty cells, and nothing
/// else.
fn has_names(first: &ByteRecord, wanted: Option<&[String]>, form: &Form) -> bool {
    let chosen: Vec<usize> = match wanted {
        Some(selectors) => {
            let numbers = selectors.iter().filter_map(|s| number_of(s));
            numbers.map(|number| number.wrapping_sub(1)).collect()
        }
        None => (0..first.len()).collect(),
    };
    let numbers = chosen.iter().enumerate();
    let cells: Vec<&[u8]> = numbers
        .filter(|(k, _)| form.cell(*k) != Cell::Text)
        .filter_map(|(_, column)| first.get(*column))
        .collect();
    let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
    cells.iter().any(|cell| is_name(cell))
        && cells.iter().all(|cell| is_name(cell) || is_blank(cell))
}

fn ragged(line: u64, record: &ByteRecord, head: &Head) -> String {
    let cells = |n: usize| match n {
        1 => "1 cell".to_string(),
        _ => format!("{n} cells"),
    };
    let start = record.get(0).unwrap_or_default();
    format!(
        "line {line} has {}, {} needed as in the first line (it begins with {})",
        cells(record.len()),
        match head.width {
            1 => "1 is".to_string(),
            width => format!("{width} are"),
        },
        shown(start)
    )
}

/// The values read so far.
enum Content {
    /// The cells of all rows, of one type.
    Cells(Elements, Kind),
    /// A vector for each column.
    Columns(Vec<Elements>),
    /// The rows, and the cells of the one that is being read.
    Tuples(Elements, Vec<Value>),
}

/// The kind of value that cells of one type become.
#[derive(Clone, Copy)]
enum Kind {
    Vector,
    Rows,
    Matrix,
}

impl Content {
    fn new(form: &Form, ty: &Type) -> Content {
        let of = |scalar: Scalar| Elements::new(&Type::Scalar(scalar));
        match form {
            Form::Column(scalar) => Content::Cells(of(*scalar), Kind::Vector),
            Form::Rows(scalar) => Content::Cells(of(*scalar), Kind::Rows),
            Form::Matrix(scalar) => Content::Cells(of(*scalar), Kind::Matrix),
            Form::Columns(cells) => {
                let columns = cells.iter().map(|cell| match cell {
                    Cell::Number(scalar) => of(*scalar),
                    Cell::Text => Elements::Values(Arc::default()),
                });
                Content::Columns(columns.collect())
            }
            Form::Tuples(_) => {
                let element = match ty {
                    Type::Vector(element) => element,
                    _ => ty,
                };
                Content::Tuples(Elements::new(element), Vec::new())
            }
        }
    }

    /// Adds the cell of a column of those that are read.
    fn push(&mut self, column: usize, value: Value) -> Result<(), OutOfMemory> {
        match self {
            Content::Cells(elements, _) => elements.push(value),
            Content::Columns(columns) => match columns.get_mut(column) {
                Some(elements) => elements.push(value),
                None => Ok(()),
            },
            Content::Tuples(_, row) => {
                row.push(value);
                Ok(())
            }
        }
    }

    /// Ends a row of so many cells.
    fn end_row(&mut self, width: usize) -> Result<(), OutOfMemory> {
        match self {
            Content::Cells(..) | Content::Columns(_) => Ok(()),
            Content::Tuples(rows, row) => {
                let cells = std::mem::replace(row, Vec::with_capacity(width));
                rows.push(Value::tuple(cells))
            }
        }
    }

    fn finish(self, rows: usize, width: usize) -> Result<Value, String> {
        match self {
            Content::Cells(cells, Kind::Vector) => Ok(Value::Vector(cells)),
            Content::Cells(cells, Kind::Matrix) => {
                Ok(Value::Array(vec![rows, width].into(), cells))
            }
            Content::Cells(cells, Kind::Rows) => {
                let offsets: Vec<i64> = (0..=rows).map(|row| (row * width) as i64).collect();
                unflatten(&offsets, &cells).map(Value::Vector)
            }
            Content::Columns(columns) => Ok(Value::tuple(
                columns.into_iter().map(Value::Vector).collect(),
            )),
            Content::Tuples(rows, _) => Ok(Value::Vector(rows)),
        }
    }
}
