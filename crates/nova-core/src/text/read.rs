//! The reader of values, guided by the type. It makes no value, but calls a builder for each part. Errors
//! have the offset at which they are noticed.

use super::build::{Build, Values};
use super::scalar::{Wrong, parse_scalar};
use super::stack::Stack;
use crate::{OutOfMemory, Scalar, ScalarValue, SumType, Type, Value};
use std::fmt;
use std::str::FromStr;

/// The reason why a text is no value of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// The byte of the text at which the error is noticed.
    pub offset: usize,
    /// The error message.
    pub message: String,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for ValueError {}

/// Parses a value of type `ty` that takes the whole text.
pub fn read_value(text: &str, ty: &Type, sums: &[SumType]) -> Result<Value, ValueError> {
    let mut values = Values::default();
    read_into(text, ty, sums, &mut values)?;
    Ok(values.finish())
}

/// Parses a value of type `ty` that takes the whole text. A builder gets its parts.
pub fn read_into(
    text: &str,
    ty: &Type,
    sums: &[SumType],
    builder: &mut impl Build,
) -> Result<(), ValueError> {
    let mut reader = Reader::new(text, sums, builder);
    reader.read(ty)?;
    reader.skip_space();
    match reader.at < text.len() {
        true => Err(reader.error("something follows the value")),
        false => Ok(()),
    }
}

/// Parses a value of type `ty` at the start of the text. Also returns the offset after it.
pub fn read_value_prefix(
    text: &str,
    ty: &Type,
    sums: &[SumType],
) -> Result<(Value, usize), ValueError> {
    let mut values = Values::default();
    let mut reader = Reader::new(text, sums, &mut values);
    reader.read(ty)?;
    let end = reader.at;
    Ok((values.finish(), end))
}

/// Parses a value of each type, one after another, perhaps with `|` in between. They take the whole
/// text.
pub fn read_values<'t>(
    text: &str,
    types: impl IntoIterator<Item = &'t Type>,
    sums: &[SumType],
) -> Result<Vec<Value>, ValueError> {
    let mut at = 0;
    let mut values = Vec::new();
    for ty in types {
        let mut builder = Values::default();
        let mut reader = Reader::new(text, sums, &mut builder);
        reader.at = at;
        reader.read(ty)?;
        reader.skip_space();
        at = reader.at;
        if text.as_bytes().get(at) == Some(&b'|') {
            at += 1;
        }
        values.push(builder.finish());
    }
    let mut nothing = Values::default();
    let mut reader = Reader::new(text, sums, &mut nothing);
    reader.at = at;
    reader.skip_space();
    match reader.at < text.len() {
        true => Err(reader.error("something follows the values")),
        false => Ok(values),
    }
}

/// A value to be parsed: of type `ty`, or of `vector#rank ty` if `rank` is not 0.
#[derive(Clone, Copy)]
struct Goal<'a> {
    rank: u32,
    ty: &'a Type,
}

impl<'a> Goal<'a> {
    fn of(ty: &'a Type) -> Self {
        match ty {
            Type::Array(rank, element) => Goal {
                rank: *rank,
                ty: element,
            },
            Type::Scalar(_) | Type::Unit | Type::Tuple(_) => Goal { rank: 0, ty },
            Type::Vector(_) | Type::Function(..) | Type::Sum(_) => Goal { rank: 0, ty },
        }
    }
}

/// What is still to come of the values whose components are being parsed.
enum Open<'a> {
    /// The components of a tuple from this position on.
    Tuple(&'a [Type], usize),
    /// Elements of this type.
    Vector(&'a Type),
    /// An array or a row of one.
    Array(Box<Rows<'a>>),
    /// An array whose extents precede its elements.
    Shaped(Box<Shaped<'a>>),
}

/// An array of which the rows are parsed.
struct Rows<'a> {
    goal: Goal<'a>,
    /// The extents of its rows, once known.
    extents: Option<Vec<usize>>,
    /// The number of its rows so far.
    count: usize,
}

impl<'a> Rows<'a> {
    /// Counts the next component, a row or an element, and returns it.
    fn next(&mut self) -> Goal<'a> {
        self.count += 1;
        match self.goal.rank {
            0 | 1 => Goal::of(self.goal.ty),
            rank => Goal {
                rank: rank - 1,
                ty: self.goal.ty,
            },
        }
    }
}

/// An array with given extents of which the elements are parsed.
struct Shaped<'a> {
    extents: Vec<usize>,
    ty: &'a Type,
    /// The number of its elements so far.
    count: usize,
}

struct Reader<'a, 'b, B> {
    text: &'a str,
    at: usize,
    sums: &'a [SumType],
    builder: &'b mut B,
    /// What is open, the innermost last. Each has the number of closing parentheses after it.
    open: Stack<(Open<'a>, usize)>,
    /// The number of closing parentheses after the value that is being parsed. A list nests as deep as it
    /// is long, and opens nothing else.
    closing: usize,
}

impl<'a, 'b, B: Build> Reader<'a, 'b, B> {
    fn new(text: &'a str, sums: &'a [SumType], builder: &'b mut B) -> Self {
        Reader {
            text,
            at: 0,
            sums,
            builder,
            open: Stack::default(),
            closing: 0,
        }
    }

    fn read(&mut self, ty: &'a Type) -> Result<(), ValueError> {
        let mut next = Some(Goal::of(ty));
        while let Some(goal) = next {
            next = match self.start(goal)? {
                Some(component) => Some(component),
                None => self.resume()?,
            };
        }
        Ok(())
    }

    /// Parses a value without components, or opens one that has components. Returns the payload of a
    /// constructor, which is to be parsed next.
    fn start(&mut self, goal: Goal<'a>) -> Result<Option<Goal<'a>>, ValueError> {
        self.skip_space();
        if goal.rank > 0 {
            self.start_array(goal)?;
            return Ok(None);
        }
        match goal.ty {
            Type::Scalar(scalar) => {
                let value = self.scalar(*scalar)?;
                self.built(|builder| builder.scalar(value))?;
            }
            Type::Unit => {
                self.unit()?;
                self.built(B::unit)?;
            }
            Type::Tuple(types) => {
                self.expect('(', "expected (")?;
                self.built(|builder| builder.tuple(types.len()))?;
                self.push(Open::Tuple(types, 0))?;
            }
            Type::Vector(element) => {
                if **element == Type::Scalar(Scalar::U8) && self.peek() == Some('"') {
                    let bytes = self.string()?;
                    self.built(|builder| builder.bytes(bytes))?;
                    return Ok(None);
                }
                self.expect('[', "expected [")?;
                self.built(|builder| builder.vector(element))?;
                self.push(Open::Vector(element))?;
            }
            Type::Sum(id) => {
                return match self.sums.get(id.index()) {
                    Some(sum) => self.constructor(sum),
                    None => Err(self.error("a value of a type that is not known")),
                };
            }
            // `Goal::of` has split arrays into rank and element.
            Type::Array(..) | Type::Function(..) => {
                return Err(self.error("a function cannot be written as a value"));
            }
        }
        Ok(None)
    }

    /// Opens an array or a row of one.
    fn start_array(&mut self, goal: Goal<'a>) -> Result<(), ValueError> {
        let open = match self.peek() {
            Some('(') => Open::Shaped(Box::new(Shaped {
                extents: self.extents(goal.rank)?,
                ty: goal.ty,
                count: 0,
            })),
            _ => {
                self.expect('[', "expected [")?;
                Open::Array(Box::new(Rows {
                    goal,
                    extents: None,
                    count: 0,
                }))
            }
        };
        if !self.in_rows() {
            self.built(|builder| builder.array(goal.ty))?;
        }
        self.push(open)
    }

    /// True if the components of the innermost open value are rows of an array.
    fn in_rows(&self) -> bool {
        matches!(self.open.last(), Some((Open::Array(rows), _)) if rows.goal.rank > 1)
    }

    /// Ends the open values that are complete. Returns the next component of the innermost one that is
    /// not, if there is one.
    fn resume(&mut self) -> Result<Option<Goal<'a>>, ValueError> {
        loop {
            for _ in 0..std::mem::take(&mut self.closing) {
                self.expect(')', "expected )")?;
            }
            let Some((open, closing)) = self.open.pop() else {
                return Ok(None);
            };
            self.closing = closing;
            self.skip_space();
            let next = self.peek();
            match open {
                Open::Tuple(types, position) => {
                    return self.component(types, position).map(Some);
                }
                Open::Vector(element) => match next {
                    Some(']') => {
                        self.at += 1;
                        self.built(B::end_vector)?;
                    }
                    Some(_) => {
                        self.push(Open::Vector(element))?;
                        return Ok(Some(Goal::of(element)));
                    }
                    None => return Err(self.error("the vector is not closed")),
                },
                Open::Array(mut rows) => match next {
                    Some(']') => {
                        self.at += 1;
                        self.end_rows(*rows)?;
                    }
                    Some(_) => {
                        let goal = rows.next();
                        self.push(Open::Array(rows))?;
                        return Ok(Some(goal));
                    }
                    None => return Err(self.error("the array is not closed")),
                },
                Open::Shaped(mut shaped) => match next {
                    Some(']') => self.end_shaped(*shaped)?,
                    Some(_) => {
                        shaped.count += 1;
                        let goal = Goal::of(shaped.ty);
                        self.push(Open::Shaped(shaped))?;
                        return Ok(Some(goal));
                    }
                    None => return Err(self.error("the array is not closed")),
                },
            }
        }
    }

    /// Starts a component of a tuple.
    fn component(&mut self, types: &'a [Type], position: usize) -> Result<Goal<'a>, ValueError> {
        if position > 0 && self.peek() != Some(',') {
            let count = types.len();
            return Err(self.error(&format!("expected a tuple of {count} elements")));
        }
        self.at += usize::from(position > 0);
        match position + 1 < types.len() {
            true => self.push(Open::Tuple(types, position + 1))?,
            false => self.closing += 1,
        }
        Ok(types.get(position).map_or(
            Goal {
                rank: 0,
                ty: &Type::Unit,
            },
            Goal::of,
        ))
    }

    /// Opens a value, or what is left of it.
    fn push(&mut self, open: Open<'a>) -> Result<(), ValueError> {
        let closing = std::mem::take(&mut self.closing);
        let pushed = self.open.push((open, closing));
        pushed.map_err(|OutOfMemory| self.error("out of memory"))
    }

    fn end_rows(&mut self, rows: Rows<'a>) -> Result<(), ValueError> {
        let mut extents = vec![rows.count];
        extents.extend(rows.extents.unwrap_or_default());
        extents.resize(rows.goal.rank as usize, 0);
        self.end_array(extents)
    }

    fn end_shaped(&mut self, shaped: Shaped<'a>) -> Result<(), ValueError> {
        let Shaped { extents, count, .. } = shaped;
        let product = extents.iter().try_fold(1usize, |p, &n| p.checked_mul(n));
        let agrees = match extents.contains(&0) {
            true => count == 0,
            false => product == Some(count),
        };
        if !agrees {
            return Err(self.error("the extents ask for another number of elements"));
        }
        self.at += 1;
        self.skip_space();
        self.expect(')', "expected )")?;
        self.end_array(extents)
    }

    /// Ends an array, or adds it as a row to the array that contains it.
    fn end_array(&mut self, extents: Vec<usize>) -> Result<(), ValueError> {
        match self.open.last_mut() {
            Some((Open::Array(rows), _)) if rows.goal.rank > 1 => {
                match rows.extents.get_or_insert_with(|| extents.clone()) == &extents {
                    true => Ok(()),
                    false => Err(self.error("rows of different lengths")),
                }
            }
            _ => self.built(|builder| builder.end_array(&extents)),
        }
    }

    /// Parses `(reshape (2, 0) [`: the extents of an array, which its rows do not show.
    fn extents(&mut self, rank: u32) -> Result<Vec<usize>, ValueError> {
        const FORM: &str = "expected [, or (reshape (n, m) [";
        self.expect('(', FORM)?;
        self.skip_space();
        let start = self.at;
        if self.token() != "reshape" {
            self.at = start;
            return Err(self.error(FORM));
        }
        self.skip_space();
        self.expect('(', FORM)?;
        let mut extents = Vec::new();
        for k in 0..rank {
            self.skip_space();
            if k > 0 {
                self.expect(',', &format!("expected {rank} extents"))?;
                self.skip_space();
            }
            let start = self.at;
            let extent = i64::from_str(self.token()).ok();
            match extent.and_then(|extent| usize::try_from(extent).ok()) {
                Some(extent) => extents.push(extent),
                None => {
                    self.at = start;
                    return Err(self.error("expected an extent, a number from 0 on"));
                }
            }
        }
        self.skip_space();
        self.expect(')', &format!("expected {rank} extents"))?;
        self.skip_space();
        self.expect('[', "expected [")?;
        Ok(extents)
    }

    /// Parses a constructor without payload, or opens one with a payload. Returns the payload, which is
    /// to be parsed next.
    fn constructor(&mut self, sum: &'a SumType) -> Result<Option<Goal<'a>>, ValueError> {
        let parenthesis = self.peek() == Some('(');
        if parenthesis {
            self.at += 1;
            self.skip_space();
        }
        let start = self.at;
        let name = self.token();
        let mut constructors = sum.constructors.iter().enumerate();
        let Some((tag, constructor)) = constructors.find(|(_, c)| *c.name == *name) else {
            self.at = start;
            return Err(match name {
                "" => self.error(&format!("expected a constructor of {}", sum.name)),
                name => self.error(&format!("{name} is no constructor of {}", sum.name)),
            });
        };
        let payload = &constructor.payload;
        if *payload != Type::Unit {
            if !parenthesis {
                self.at = start;
                return Err(self.error(&format!("expected ({name} …)")));
            }
            self.built(|builder| builder.sum(tag as u32))?;
            self.closing += 1;
            return Ok(Some(Goal::of(payload)));
        }
        if parenthesis {
            self.skip_space();
            if self.peek() != Some(')') {
                self.unit()?;
            }
            self.expect(')', "expected )")?;
        }
        self.built(|builder| builder.sum(tag as u32))?;
        self.built(B::unit)?;
        Ok(None)
    }

    fn unit(&mut self) -> Result<(), ValueError> {
        self.skip_space();
        if self.peek() == Some('(') {
            self.at += 1;
            self.expect(')', "expected )")?;
            return Ok(());
        }
        let start = self.at;
        if self.token() != "nil" {
            self.at = start;
            return Err(self.error("expected nil"));
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<ScalarValue, ValueError> {
        let start = self.at;
        let token = self.token();
        let end = self.at;
        self.at = start;
        if token.is_empty() {
            return Err(match self.peek() {
                Some(',') => self.error("elements are separated by spaces"),
                found => self.error(&format!(
                    "expected a value of type {scalar}, found {}",
                    found.map_or("the end".to_string(), String::from)
                )),
            });
        }
        let value = match parse_scalar(token, scalar) {
            Ok(value) => value,
            Err(Wrong::Form) => {
                return Err(self.error(&format!("{token} is no value of type {scalar}")));
            }
            Err(Wrong::Range) => return Err(self.error(&format!("{token} does not fit {scalar}"))),
        };
        self.at = end;
        Ok(value)
    }

    /// Parses a text, which is only allowed for `vector uint8`.
    fn string(&mut self) -> Result<Vec<u8>, ValueError> {
        let start = self.at;
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..);
            match rest.unwrap_or_default() {
                [] | [b'\n', ..] => {
                    self.at = start;
                    return Err(self.error("the text is not closed"));
                }
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(bytes);
                }
                [b'\\', b'x', high, low, ..] => match (hex(*high), hex(*low)) {
                    (Some(high), Some(low)) => {
                        bytes.push(high * 16 + low);
                        self.at += 4;
                    }
                    (_, _) => return Err(self.error("a bad escape")),
                },
                [b'\\', escape, ..] => {
                    bytes.push(match escape {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'\\' => b'\\',
                        b'"' => b'"',
                        _ => return Err(self.error("a bad escape")),
                    });
                    self.at += 2;
                }
                [byte, ..] => {
                    bytes.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Calls the builder.
    fn built(
        &mut self,
        call: impl FnOnce(&mut B) -> Result<(), OutOfMemory>,
    ) -> Result<(), ValueError> {
        call(self.builder).map_err(|OutOfMemory| self.error("out of memory"))
    }

    fn error(&self, message: &str) -> ValueError {
        ValueError {
            offset: self.at,
            message: message.to_string(),
        }
    }

    fn peek(&self) -> Option<char> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text.get(self.at..)?.chars().next(),
        }
    }

    fn expect(&mut self, expected: char, message: &str) -> Result<(), ValueError> {
        self.skip_space();
        if self.peek() != Some(expected) {
            return Err(self.error(message));
        }
        self.at += expected.len_utf8();
        Ok(())
    }

    /// Returns the characters up to the next space or separator, perhaps none.
    fn token(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let separates = |c: char| {
            matches!(c, '(' | ')' | '[' | ']' | ',' | ':' | ';' | '"') || c.is_whitespace()
        };
        let end = rest.find(separates).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Skips white space and comments to the end of the line.
    fn skip_space(&mut self) {
        loop {
            // Most values have no space here, or one.
            let bytes = self.text.as_bytes();
            self.at += usize::from(bytes.get(self.at) == Some(&b' '));
            if matches!(bytes.get(self.at), Some(b'!'..=b':' | b'<'..=b'~')) {
                return;
            }
            let rest = self.text.get(self.at..).unwrap_or("");
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with(';') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}
