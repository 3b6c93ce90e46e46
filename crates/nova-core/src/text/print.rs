//! The printer of values. It looks at a value through [`View`], so that all representations have one text.

use super::stack::Stack;
use crate::value::Extents;
use crate::{Elements, OutOfMemory, Scalar, ScalarValue, SumType, Type, Value};
use std::io::{self, Write};
use std::ops::Range;

/// The outermost part of a value.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A scalar.
    Scalar(ScalarValue),
    /// `nil`.
    Unit,
    /// A tuple of so many components.
    Tuple(usize),
    /// A vector of so many elements.
    Vector(usize),
    /// An array with these extents.
    Array(Extents),
    /// A value with this constructor.
    Sum(u32),
    /// A function.
    Function,
}

/// The way in which the elements of a `vector uint8` are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As numbers: `[104 105]`.
    Numbers,
    /// As texts: `"hi"`.
    Texts,
}

/// A value in some representation.
pub trait View: Copy {
    /// Returns its outermost part.
    fn shape(self) -> Shape;
    /// Returns a component of a tuple, an element of a vector or an array (all in row-major order), or
    /// the payload of a constructor, which is part 0.
    fn part(self, k: usize) -> Self;
}

/// A value, or a scalar of a packed vector.
#[derive(Clone, Copy)]
enum ValueView<'a> {
    Value(&'a Value),
    Scalar(ScalarValue),
}

impl View for ValueView<'_> {
    fn shape(self) -> Shape {
        let value = match self {
            ValueView::Value(value) => value,
            ValueView::Scalar(scalar) => return Shape::Scalar(scalar),
        };
        match value {
            Value::Scalar(scalar) => Shape::Scalar(*scalar),
            Value::Unit => Shape::Unit,
            Value::Tuple(values) => Shape::Tuple(values.len()),
            Value::Vector(elements) => Shape::Vector(elements.len()),
            Value::Array(extents, _) => Shape::Array(extents.clone()),
            Value::Sum(tag, _) => Shape::Sum(*tag),
            Value::Function(_) => Shape::Function,
        }
    }

    fn part(self, k: usize) -> Self {
        let part = match self {
            ValueView::Value(Value::Tuple(values)) => values.get(k),
            ValueView::Value(Value::Sum(_, payload)) => Some(payload.get()),
            ValueView::Value(Value::Vector(elements) | Value::Array(_, elements)) => match elements
            {
                Elements::Values(values) => values.get(k),
                packed => match packed.get(k) {
                    Some(Value::Scalar(scalar)) => return ValueView::Scalar(scalar),
                    _ => None,
                },
            },
            ValueView::Value(Value::Scalar(_) | Value::Unit | Value::Function(_))
            | ValueView::Scalar(_) => None,
        };
        ValueView::Value(part.unwrap_or(&Value::Unit))
    }
}

/// Returns the text of a value of type `ty`, which [`super::read_value`] parses to the same value.
pub fn print_value(value: &Value, ty: &Type, sums: &[SumType]) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and names are text.
    let _ = write_value(&mut text, value, ty, sums, Style::Numbers);
    String::from_utf8(text).unwrap_or_default()
}

/// Writes the text of a value of type `ty`.
pub fn write_value(
    out: &mut impl Write,
    value: &Value,
    ty: &Type,
    sums: &[SumType],
    style: Style,
) -> io::Result<()> {
    write_view(out, ValueView::Value(value), ty, sums, style)
}

/// Writes the text of a value of type `ty` in any representation.
pub fn write_view<V: View>(
    out: &mut impl Write,
    value: V,
    ty: &Type,
    sums: &[SumType],
    style: Style,
) -> io::Result<()> {
    let mut printer = Printer {
        out,
        sums,
        style,
        work: Stack::default(),
        closing: 0,
    };
    let mut next = Some((value, ty));
    loop {
        while let Some((value, ty)) = next {
            next = printer.value(value, ty)?;
        }
        for _ in 0..std::mem::take(&mut printer.closing) {
            printer.text(")")?;
        }
        let Some((item, closing)) = printer.work.pop() else {
            return Ok(());
        };
        printer.closing = closing;
        next = match item {
            Item::Fields(value, position, types) => printer.field(value, position, types)?,
            Item::Rest(value, range, ty) => {
                printer.text(if range.is_empty() { "]" } else { " " })?;
                printer.element(value, range, ty)?
            }
            Item::Rows(array, row) => {
                printer.text(if row == array.rows() { "]" } else { " " })?;
                printer.row(array, row)?
            }
        };
    }
}

/// An item that is still to be written.
enum Item<'a, V> {
    /// The components of a tuple from this position on.
    Fields(V, usize, &'a [Type]),
    /// The elements of a vector in a range, each after a space, and the bracket.
    Rest(V, Range<usize>, &'a Type),
    /// The rows of an array from this one on, each after a space, and the bracket.
    Rows(Box<Array<'a, V>>, usize),
}

/// An array, or a sub-array.
#[derive(Clone)]
struct Array<'a, V> {
    /// All elements.
    value: V,
    element: &'a Type,
    extents: Extents,
    /// The dimension of its rows.
    dimension: usize,
    /// The index of its first element.
    start: usize,
}

impl<V> Array<'_, V> {
    fn rows(&self) -> usize {
        self.extents.get(self.dimension).copied().unwrap_or(0)
    }
}

struct Printer<'a, 'o, V, W> {
    out: &'o mut W,
    sums: &'a [SumType],
    style: Style,
    /// The items to be written, the next one last. Each has the number of closing parentheses after it.
    work: Stack<(Item<'a, V>, usize)>,
    /// The number of closing parentheses after the value that is being written. A list nests as deep as
    /// it is long, and takes no item.
    closing: usize,
}

/// A value to be written next.
type Next<'a, V> = io::Result<Option<(V, &'a Type)>>;

impl<'a, V: View, W: Write> Printer<'a, '_, V, W> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Adds an item after the value that is written next.
    fn push(&mut self, item: Item<'a, V>) -> io::Result<()> {
        let closing = std::mem::take(&mut self.closing);
        let pushed = self.work.push((item, closing));
        pushed.map_err(|OutOfMemory| io::ErrorKind::OutOfMemory.into())
    }

    /// Writes a value up to its first component, which is returned.
    fn value(&mut self, value: V, ty: &'a Type) -> Next<'a, V> {
        match (value.shape(), ty) {
            (Shape::Scalar(scalar), _) => print_scalar(self.out, scalar)?,
            (Shape::Tuple(count), Type::Tuple(types)) => {
                self.text("(")?;
                let types = types.get(..count).unwrap_or(types);
                match types.is_empty() {
                    true => self.text(")")?,
                    false => return self.field(value, 0, types),
                }
            }
            (Shape::Vector(count), Type::Vector(element))
                if self.style == Style::Texts && **element == Type::Scalar(Scalar::U8) =>
            {
                write_text(self.out, &bytes_of(value, count))?;
            }
            (Shape::Vector(count), Type::Vector(element)) => {
                return self.elements(value, 0..count, element);
            }
            (Shape::Array(extents), Type::Array(_, element)) => {
                return self.array(Array {
                    value,
                    element,
                    extents,
                    dimension: 0,
                    start: 0,
                });
            }
            (Shape::Sum(tag), Type::Sum(id)) => {
                let sum = self.sums.get(id.index());
                match sum.and_then(|s| s.constructors.get(tag as usize)) {
                    Some(constructor) if constructor.payload == Type::Unit => {
                        self.text(&constructor.name)?;
                    }
                    Some(constructor) => {
                        self.text("(")?;
                        self.text(&constructor.name)?;
                        self.text(" ")?;
                        self.closing += 1;
                        return Ok(Some((value.part(0), &constructor.payload)));
                    }
                    None => self.text("?")?,
                }
            }
            (Shape::Unit, _) => self.text("nil")?,
            (Shape::Function, _) => self.text("<function>")?,
            // These are values of another type than stated.
            (Shape::Tuple(_) | Shape::Vector(_) | Shape::Array(_) | Shape::Sum(_), _) => {
                self.text("?")?;
            }
        }
        Ok(None)
    }

    /// Returns a component of a tuple. The others follow.
    fn field(&mut self, value: V, position: usize, types: &'a [Type]) -> Next<'a, V> {
        if position > 0 {
            self.text(", ")?;
        }
        match position + 1 < types.len() {
            true => self.push(Item::Fields(value, position + 1, types))?,
            false => self.closing += 1,
        }
        Ok(types.get(position).map(|ty| (value.part(position), ty)))
    }

    fn elements(&mut self, value: V, range: Range<usize>, ty: &'a Type) -> Next<'a, V> {
        self.text("[")?;
        if ty.as_scalar().is_none() && !range.is_empty() {
            return self.element(value, range, ty);
        }
        let start = range.start;
        for k in range {
            if k > start {
                self.text(" ")?;
            }
            if let Shape::Scalar(scalar) = value.part(k).shape() {
                print_scalar(self.out, scalar)?;
            }
        }
        self.text("]")?;
        Ok(None)
    }

    /// Returns the first of some elements. The others follow.
    fn element(&mut self, value: V, range: Range<usize>, ty: &'a Type) -> Next<'a, V> {
        if range.is_empty() {
            return Ok(None);
        }
        let first = value.part(range.start);
        self.push(Item::Rest(value, range.start + 1..range.end, ty))?;
        Ok(Some((first, ty)))
    }

    /// Writes an array as its rows.
    fn array(&mut self, array: Array<'a, V>) -> Next<'a, V> {
        let rows = array.rows();
        if array.dimension + 1 >= array.extents.len() {
            let range = array.start..array.start + rows;
            return self.elements(array.value, range, array.element);
        }
        self.text("[")?;
        match rows {
            0 => {
                self.text("]")?;
                Ok(None)
            }
            _ => self.row(Box::new(array), 0),
        }
    }

    /// Writes a row of an array, if it is there. The others follow.
    fn row(&mut self, array: Box<Array<'a, V>>, row: usize) -> Next<'a, V> {
        if row >= array.rows() {
            return Ok(None);
        }
        let inner = array.extents.get(array.dimension + 1..).unwrap_or(&[]);
        // If an extent is 0, the product of the others may overflow.
        let size = inner.iter().fold(1usize, |n, &e| n.wrapping_mul(e));
        let sub = Array {
            dimension: array.dimension + 1,
            start: array.start.wrapping_add(row.wrapping_mul(size)),
            ..(*array).clone()
        };
        self.push(Item::Rows(array, row + 1))?;
        self.array(sub)
    }
}

/// Returns the elements of a `vector uint8`.
fn bytes_of<V: View>(value: V, count: usize) -> Vec<u8> {
    let bytes = (0..count).map(|k| match value.part(k).shape() {
        Shape::Scalar(ScalarValue::U8(byte)) => byte,
        _ => 0,
    });
    bytes.collect()
}

/// Writes a text between quotation marks, as the language writes it. What is no character, or none that a
/// screen shows, is `\xHH`.
fn write_text(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(b"\"")?;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => write!(out, "\\{c}")?,
                '\n' => out.write_all(b"\\n")?,
                '\t' => out.write_all(b"\\t")?,
                c if c.is_control() => write_escapes(out, c.encode_utf8(&mut [0; 4]).as_bytes())?,
                c => write!(out, "{c}")?,
            }
        }
        write_escapes(out, chunk.invalid())?;
    }
    out.write_all(b"\"")
}

/// Writes bytes as `\xHH`.
fn write_escapes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    bytes
        .iter()
        .try_for_each(|byte| write!(out, "\\x{byte:02x}"))
}

/// Writes a scalar. Floats have the fewest digits that parse to the same value, and always a `.` or an
/// exponent.
pub fn print_scalar(out: &mut impl Write, scalar: ScalarValue) -> io::Result<()> {
    match scalar {
        ScalarValue::I8(v) => write!(out, "{v}"),
        ScalarValue::I16(v) => write!(out, "{v}"),
        ScalarValue::I32(v) => write!(out, "{v}"),
        ScalarValue::I64(v) => write!(out, "{v}"),
        ScalarValue::U8(v) => write!(out, "{v}"),
        ScalarValue::U16(v) => write!(out, "{v}"),
        ScalarValue::U32(v) => write!(out, "{v}"),
        ScalarValue::U64(v) => write!(out, "{v}"),
        ScalarValue::F32(v) if v.is_nan() => write!(out, "nan"),
        ScalarValue::F64(v) if v.is_nan() => write!(out, "nan"),
        ScalarValue::F32(v) => write!(out, "{v:?}"),
        ScalarValue::F64(v) => write!(out, "{v:?}"),
        ScalarValue::Bool(v) => write!(out, "{v}"),
    }
}
