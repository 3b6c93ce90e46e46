//! The reader of values, guided by the type. Errors have the offset at which they are noticed.

use crate::{Elements, Scalar, ScalarValue, SumType, Type, Value, value::Link};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

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
    let mut reader = Reader::new(text, sums);
    let value = reader.read(ty)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.error("something follows the value"));
    }
    Ok(value)
}

/// Parses a value of type `ty` at the start of the text. Also returns the offset after it.
pub fn read_value_prefix(
    text: &str,
    ty: &Type,
    sums: &[SumType],
) -> Result<(Value, usize), ValueError> {
    let mut reader = Reader::new(text, sums);
    let value = reader.read(ty)?;
    Ok((value, reader.at))
}

/// Parses a value of each type, one after another, perhaps with `|` in between. They take the whole
/// text.
pub fn read_values<'t>(
    text: &str,
    types: impl IntoIterator<Item = &'t Type>,
    sums: &[SumType],
) -> Result<Vec<Value>, ValueError> {
    let mut reader = Reader::new(text, sums);
    let mut values = Vec::new();
    for ty in types {
        values.push(reader.read(ty)?);
        reader.skip_space();
        if text.as_bytes().get(reader.at) == Some(&b'|') {
            reader.at += 1;
        }
    }
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

/// A value whose components are being parsed.
enum Open<'a> {
    Tuple(&'a [Type], Vec<Value>),
    Vector(&'a Type, Elements),
    /// An array of this rank: the extents of its rows once known, their number, all elements.
    Array(Goal<'a>, Option<Vec<usize>>, usize, Elements),
    /// An array whose extents precede its elements: the extents, the element type, the elements.
    Shaped(Vec<usize>, &'a Type, Elements),
    /// A constructor and its payload, once parsed.
    Sum(u32, &'a Type, Option<Value>),
}

/// The next step.
enum Step<'a> {
    /// Parse a component.
    Next(Goal<'a>),
    /// The innermost open value is complete.
    Done(Value),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    sums: &'a [SumType],
    open: Vec<Open<'a>>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, sums: &'a [SumType]) -> Self {
        Reader {
            text,
            at: 0,
            sums,
            open: Vec::new(),
        }
    }

    fn read(&mut self, ty: &'a Type) -> Result<Value, ValueError> {
        let mut goal = Goal::of(ty);
        loop {
            let mut complete = self.start(goal)?;
            goal = loop {
                if let Some(value) = complete {
                    if self.open.is_empty() {
                        return Ok(value);
                    }
                    self.accept(value)?;
                }
                match self.resume()? {
                    Step::Next(next) => break next,
                    Step::Done(value) => complete = Some(value),
                }
            };
        }
    }

    /// Parses a value without components, or opens one that has components.
    fn start(&mut self, goal: Goal<'a>) -> Result<Option<Value>, ValueError> {
        self.skip_space();
        if goal.rank > 0 {
            if self.peek() == Some('(') {
                let extents = self.extents(goal.rank)?;
                let elements = Elements::new(goal.ty);
                self.open.push(Open::Shaped(extents, goal.ty, elements));
                return Ok(None);
            }
            self.expect('[', "expected [")?;
            let elements = Elements::new(goal.ty);
            self.open.push(Open::Array(goal, None, 0, elements));
            return Ok(None);
        }
        match goal.ty {
            Type::Scalar(scalar) => self.scalar(*scalar).map(|v| Some(Value::Scalar(v))),
            Type::Unit => self.unit().map(Some),
            Type::Tuple(types) => {
                self.expect('(', "expected (")?;
                self.open.push(Open::Tuple(types, Vec::new()));
                Ok(None)
            }
            Type::Vector(element) => {
                if **element == Type::Scalar(Scalar::U8) && self.peek() == Some('"') {
                    return self.string().map(Some);
                }
                self.expect('[', "expected [")?;
                self.open
                    .push(Open::Vector(element, Elements::new(element)));
                Ok(None)
            }
            Type::Sum(id) => match self.sums.get(id.index()) {
                Some(sum) => self.constructor(sum),
                None => Err(self.error("a value of a type that is not known")),
            },
            // `Goal::of` has split arrays into rank and element.
            Type::Array(..) | Type::Function(..) => {
                Err(self.error("a function cannot be written as a value"))
            }
        }
    }

    /// Returns the next goal of the innermost open value, or that value if it is complete.
    fn resume(&mut self) -> Result<Step<'a>, ValueError> {
        self.skip_space();
        let next = self.peek();
        match self.open.last() {
            Some(Open::Tuple(types, values)) => match types.get(values.len()) {
                Some(ty) => {
                    if !values.is_empty() {
                        let count = types.len();
                        self.expect(',', &format!("expected a tuple of {count} elements"))?;
                    }
                    return Ok(Step::Next(Goal::of(ty)));
                }
                None => self.expect(')', "expected )")?,
            },
            Some(Open::Vector(element, _)) => match next {
                Some(']') => self.at += 1,
                Some(_) => return Ok(Step::Next(Goal::of(element))),
                None => return Err(self.error("the vector is not closed")),
            },
            Some(Open::Array(goal, ..)) => match next {
                Some(']') => self.at += 1,
                Some(_) if goal.rank > 1 => {
                    return Ok(Step::Next(Goal {
                        rank: goal.rank - 1,
                        ty: goal.ty,
                    }));
                }
                Some(_) => return Ok(Step::Next(Goal::of(goal.ty))),
                None => return Err(self.error("the array is not closed")),
            },
            Some(Open::Shaped(extents, ty, elements)) => match next {
                Some(']') => {
                    let product = extents.iter().try_fold(1usize, |p, &n| p.checked_mul(n));
                    let agrees = match extents.contains(&0) {
                        true => elements.is_empty(),
                        false => product == Some(elements.len()),
                    };
                    if !agrees {
                        return Err(self.error("the extents ask for another number of elements"));
                    }
                    self.at += 1;
                    self.skip_space();
                    self.expect(')', "expected )")?;
                }
                Some(_) => return Ok(Step::Next(Goal::of(ty))),
                None => return Err(self.error("the array is not closed")),
            },
            Some(Open::Sum(_, payload, None)) => return Ok(Step::Next(Goal::of(payload))),
            Some(Open::Sum(_, _, Some(_))) => self.expect(')', "expected )")?,
            None => {}
        }
        Ok(Step::Done(match self.open.pop() {
            Some(Open::Tuple(_, values)) => Value::tuple(values),
            Some(Open::Vector(_, elements)) => Value::Vector(elements),
            Some(Open::Array(goal, rows, count, elements)) => {
                let mut extents = vec![count];
                extents.extend(rows.unwrap_or_default());
                extents.resize(goal.rank as usize, 0);
                Value::Array(extents.into(), elements)
            }
            Some(Open::Shaped(extents, _, elements)) => Value::Array(extents.into(), elements),
            Some(Open::Sum(tag, _, payload)) => {
                Value::Sum(tag, Link::new(payload.unwrap_or(Value::Unit)))
            }
            None => Value::Unit,
        }))
    }

    /// Adds a complete value to the innermost open one.
    fn accept(&mut self, value: Value) -> Result<(), ValueError> {
        let memory = ValueError {
            offset: self.at,
            message: "out of memory".into(),
        };
        let uneven = ValueError {
            offset: self.at,
            message: "rows of different lengths".into(),
        };
        match (self.open.last_mut(), value) {
            (Some(Open::Tuple(_, values)), value) => values.push(value),
            (Some(Open::Vector(_, elements)), value) => {
                elements.push(value).map_err(|_| memory)?;
            }
            (Some(Open::Array(goal, rows, count, elements)), value) if goal.rank > 1 => {
                *count += 1;
                if let Value::Array(extents, row) = value {
                    if rows.get_or_insert_with(|| extents.to_vec())[..] != extents[..] {
                        return Err(uneven);
                    }
                    elements.append(&row).map_err(|_| memory)?;
                }
            }
            (Some(Open::Array(_, _, count, elements)), value) => {
                *count += 1;
                elements.push(value).map_err(|_| memory)?;
            }
            (Some(Open::Shaped(_, _, elements)), value) => {
                elements.push(value).map_err(|_| memory)?;
            }
            (Some(Open::Sum(_, _, payload)), value) => *payload = Some(value),
            (None, _) => {}
        }
        Ok(())
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

    /// Parses a constructor without payload, or opens one with a payload.
    fn constructor(&mut self, sum: &'a SumType) -> Result<Option<Value>, ValueError> {
        let parenthesis = self.peek() == Some('(');
        if parenthesis {
            self.at += 1;
            self.skip_space();
        }
        let start = self.at;
        let name = self.token();
        let found = sum.constructors.iter().position(|c| *c.name == *name);
        let Some(tag) = found else {
            self.at = start;
            return Err(match name {
                "" => self.error(&format!("expected a constructor of {}", sum.name)),
                name => self.error(&format!("{name} is no constructor of {}", sum.name)),
            });
        };
        let payload = &sum.constructors[tag].payload;
        if *payload != Type::Unit {
            if !parenthesis {
                self.at = start;
                return Err(self.error(&format!("expected ({name} …)")));
            }
            self.open.push(Open::Sum(tag as u32, payload, None));
            return Ok(None);
        }
        if parenthesis {
            self.skip_space();
            if self.peek() != Some(')') {
                self.unit()?;
            }
            self.expect(')', "expected )")?;
        }
        Ok(Some(Value::Sum(tag as u32, Link::new(Value::Unit))))
    }

    fn unit(&mut self) -> Result<Value, ValueError> {
        self.skip_space();
        if self.peek() == Some('(') {
            self.at += 1;
            self.expect(')', "expected )")?;
            return Ok(Value::Unit);
        }
        let start = self.at;
        if self.token() != "nil" {
            self.at = start;
            return Err(self.error("expected nil"));
        }
        Ok(Value::Unit)
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
    fn string(&mut self) -> Result<Value, ValueError> {
        let start = self.at;
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            match rest {
                [] | [b'\n', ..] => {
                    self.at = start;
                    return Err(self.error("the text is not closed"));
                }
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(Value::Vector(Elements::U8(Arc::new(bytes))));
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

    fn error(&self, message: &str) -> ValueError {
        ValueError {
            offset: self.at,
            message: message.to_string(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
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
        let end = rest
            .find(|c: char| c.is_whitespace() || "()[],:;\"".contains(c))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Skips white space and comments to the end of the line.
    fn skip_space(&mut self) {
        loop {
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

/// The reason why a token is no scalar.
enum Wrong {
    Form,
    Range,
}

fn parse_scalar(token: &str, scalar: Scalar) -> Result<ScalarValue, Wrong> {
    match scalar {
        Scalar::Bool => match token {
            "true" => Ok(ScalarValue::Bool(true)),
            "false" => Ok(ScalarValue::Bool(false)),
            _ => Err(Wrong::Form),
        },
        Scalar::F32 => parse_float(token, 'f', scalar, |t| t.parse().map(ScalarValue::F32)),
        Scalar::F64 => parse_float(token, 'L', scalar, |t| t.parse().map(ScalarValue::F64)),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => parse_whole(token, scalar),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => parse_whole(token, scalar),
    }
}

/// Parses an integer, decimal or hexadecimal, perhaps with its type's suffix.
fn parse_whole(token: &str, scalar: Scalar) -> Result<ScalarValue, Wrong> {
    let digits = token.strip_suffix(scalar.info().short).unwrap_or(token);
    let value = parse_integer(digits)?;
    let wrapped = ScalarValue::from_integer_wrapping(scalar, value);
    match wrapped.as_integer() == Some(value) {
        true => Ok(wrapped),
        false => Err(Wrong::Range),
    }
}

fn parse_integer(token: &str) -> Result<i128, Wrong> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(Wrong::Form);
    }
    let value = i128::from_str_radix(digits, radix).map_err(|_| Wrong::Range)?;
    Ok(if negative { -value } else { value })
}

/// Parses a float with perhaps its suffix, an integer, `nan`, `inf` or `-inf`.
fn parse_float(
    token: &str,
    suffix: char,
    scalar: Scalar,
    parse: impl Fn(&str) -> Result<ScalarValue, std::num::ParseFloatError>,
) -> Result<ScalarValue, Wrong> {
    if matches!(token, "nan" | "inf" | "-inf") {
        return parse(token).map_err(|_| Wrong::Form);
    }
    if token.contains("0x") {
        let value = parse_integer(token)?;
        return Ok(ScalarValue::from_integer_wrapping(scalar, value));
    }
    let number = token.strip_suffix(suffix).unwrap_or(token);
    let digits = number.strip_prefix('-').unwrap_or(number);
    let plain = digits
        .chars()
        .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    if !plain || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Wrong::Form);
    }
    let value = parse(number).map_err(|_| Wrong::Form)?;
    let infinite = match value {
        ScalarValue::F32(v) => v.is_infinite(),
        ScalarValue::F64(v) => v.is_infinite(),
        _ => false,
    };
    if infinite {
        Err(Wrong::Range)
    } else {
        Ok(value)
    }
}
