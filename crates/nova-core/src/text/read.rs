//! The reader of values, guided by the type. It makes no value, but calls a builder for each part. Errors
//! have the offset at which they are noticed.

use super::build::{Build, Values};
use super::cursor::{Cursor, ValueError};
use super::stack::Stack;
use crate::{OutOfMemory, Scalar, SumType, Type, Value};

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
    reader.cursor.skip_space();
    match reader.cursor.at < text.len() {
        true => Err(reader.cursor.error("something follows the value")),
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
    let end = reader.cursor.at;
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
        reader.cursor.at = at;
        reader.read(ty)?;
        reader.cursor.skip_space();
        at = reader.cursor.at;
        if text.as_bytes().get(at) == Some(&b'|') {
            at += 1;
        }
        values.push(builder.finish());
    }
    let mut nothing = Values::default();
    let mut reader = Reader::new(text, sums, &mut nothing);
    reader.cursor.at = at;
    reader.cursor.skip_space();
    match reader.cursor.at < text.len() {
        true => Err(reader.cursor.error("something follows the values")),
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

/// A value whose components are being parsed, with those that are still to come.
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
    cursor: Cursor<'a>,
    sums: &'a [SumType],
    builder: &'b mut B,
    /// The open values, the innermost last. Each has the number of closing parentheses after it.
    open: Stack<(Open<'a>, usize)>,
    /// The number of closing parentheses after the value that is being parsed. A list nests as deep as it
    /// is long, and opens nothing else.
    closing: usize,
}

impl<'a, 'b, B: Build> Reader<'a, 'b, B> {
    fn new(text: &'a str, sums: &'a [SumType], builder: &'b mut B) -> Self {
        Reader {
            cursor: Cursor { text, at: 0 },
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
        self.cursor.skip_space();
        if goal.rank > 0 {
            self.start_array(goal)?;
            return Ok(None);
        }
        match goal.ty {
            Type::Scalar(scalar) => {
                let value = self.cursor.scalar(*scalar)?;
                self.built(|builder| builder.scalar(value))?;
            }
            Type::Unit => {
                self.cursor.unit()?;
                self.built(B::unit)?;
            }
            Type::Tuple(types) => {
                self.cursor.expect('(', "expected (")?;
                self.built(|builder| builder.tuple(types.len()))?;
                self.push(Open::Tuple(types, 0))?;
            }
            Type::Vector(element) => {
                if **element == Type::Scalar(Scalar::U8) && self.cursor.peek() == Some('"') {
                    let bytes = self.cursor.string()?;
                    self.built(|builder| builder.bytes(bytes))?;
                    return Ok(None);
                }
                self.cursor.expect('[', "expected [")?;
                self.built(|builder| builder.vector(element))?;
                self.push(Open::Vector(element))?;
            }
            Type::Sum(id) => {
                return match self.sums.get(id.index()) {
                    Some(sum) => self.constructor(sum),
                    None => Err(self.cursor.error("a value of a type that is not known")),
                };
            }
            // `Goal::of` has split arrays into rank and element.
            Type::Array(..) | Type::Function(..) => {
                return Err(self.cursor.error("a function cannot be written as a value"));
            }
        }
        Ok(None)
    }

    /// Opens an array or a row of one.
    fn start_array(&mut self, goal: Goal<'a>) -> Result<(), ValueError> {
        let open = match self.cursor.peek() {
            Some('(') => Open::Shaped(Box::new(Shaped {
                extents: self.cursor.extents(goal.rank)?,
                ty: goal.ty,
                count: 0,
            })),
            _ => {
                self.cursor.expect('[', "expected [")?;
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
                self.cursor.expect(')', "expected )")?;
            }
            let Some((open, closing)) = self.open.pop() else {
                return Ok(None);
            };
            self.closing = closing;
            self.cursor.skip_space();
            let next = self.cursor.peek();
            match open {
                Open::Tuple(types, position) => {
                    return self.component(types, position).map(Some);
                }
                Open::Vector(element) => match next {
                    Some(']') => {
                        self.cursor.at += 1;
                        self.built(B::end_vector)?;
                    }
                    Some(_) => {
                        self.push(Open::Vector(element))?;
                        return Ok(Some(Goal::of(element)));
                    }
                    None => return Err(self.cursor.error("the vector is not closed")),
                },
                Open::Array(mut rows) => match next {
                    Some(']') => {
                        self.cursor.at += 1;
                        self.end_rows(*rows)?;
                    }
                    Some(_) => {
                        let goal = rows.next();
                        self.push(Open::Array(rows))?;
                        return Ok(Some(goal));
                    }
                    None => return Err(self.cursor.error("the array is not closed")),
                },
                Open::Shaped(mut shaped) => match next {
                    Some(']') => self.end_shaped(*shaped)?,
                    Some(_) => {
                        shaped.count += 1;
                        let goal = Goal::of(shaped.ty);
                        self.push(Open::Shaped(shaped))?;
                        return Ok(Some(goal));
                    }
                    None => return Err(self.cursor.error("the array is not closed")),
                },
            }
        }
    }

    /// Starts a component of a tuple.
    fn component(&mut self, types: &'a [Type], position: usize) -> Result<Goal<'a>, ValueError> {
        if position > 0 && self.cursor.peek() != Some(',') {
            let count = types.len();
            return Err(self
                .cursor
                .error(&format!("expected a tuple of {count} elements")));
        }
        self.cursor.at += usize::from(position > 0);
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
        pushed.map_err(|OutOfMemory| self.cursor.error("out of memory"))
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
            return Err(self
                .cursor
                .error("the extents ask for another number of elements"));
        }
        self.cursor.at += 1;
        self.cursor.skip_space();
        self.cursor.expect(')', "expected )")?;
        self.end_array(extents)
    }

    /// Ends an array, or adds it as a row to the array that contains it.
    fn end_array(&mut self, extents: Vec<usize>) -> Result<(), ValueError> {
        match self.open.last_mut() {
            Some((Open::Array(rows), _)) if rows.goal.rank > 1 => {
                match rows.extents.get_or_insert_with(|| extents.clone()) == &extents {
                    true => Ok(()),
                    false => Err(self.cursor.error("rows of different lengths")),
                }
            }
            _ => self.built(|builder| builder.end_array(&extents)),
        }
    }

    /// Parses a constructor without payload, or opens one with a payload. Returns the payload, which is
    /// to be parsed next.
    fn constructor(&mut self, sum: &'a SumType) -> Result<Option<Goal<'a>>, ValueError> {
        let parenthesis = self.cursor.peek() == Some('(');
        if parenthesis {
            self.cursor.at += 1;
            self.cursor.skip_space();
        }
        let start = self.cursor.at;
        let name = self.cursor.token();
        let mut constructors = sum.constructors.iter().enumerate();
        let Some((tag, constructor)) = constructors.find(|(_, c)| *c.name == *name) else {
            self.cursor.at = start;
            return Err(match name {
                "" => self
                    .cursor
                    .error(&format!("expected a constructor of {}", sum.name)),
                name => self
                    .cursor
                    .error(&format!("{name} is no constructor of {}", sum.name)),
            });
        };
        let payload = &constructor.payload;
        if *payload != Type::Unit {
            if !parenthesis {
                self.cursor.at = start;
                return Err(self.cursor.error(&format!("expected ({name} …)")));
            }
            self.built(|builder| builder.sum(tag as u32))?;
            self.closing += 1;
            return Ok(Some(Goal::of(payload)));
        }
        if parenthesis {
            self.cursor.skip_space();
            if self.cursor.peek() != Some(')') {
                self.cursor.unit()?;
            }
            self.cursor.expect(')', "expected )")?;
        }
        self.built(|builder| builder.sum(tag as u32))?;
        self.built(B::unit)?;
        Ok(None)
    }

    /// Calls the builder.
    fn built(
        &mut self,
        call: impl FnOnce(&mut B) -> Result<(), OutOfMemory>,
    ) -> Result<(), ValueError> {
        call(self.builder).map_err(|OutOfMemory| self.cursor.error("out of memory"))
    }
}
