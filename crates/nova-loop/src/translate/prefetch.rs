//! Software prefetch: loops that read arrays from front to back ask for what they will read some
//! thousand bytes later, which processors do by themselves only where the arrays are long and have
//! no gaps.

use super::{INDEX, Machine, Translator};
use crate::ir::{Command, Expression, Program, Type, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use nova_diag::{Place, deep};
use std::collections::BTreeMap;

/// Bytes that go between memory and caches together.
pub(crate) const LINE: i64 = 64;
/// The distance in bytes at which an array is asked for beside other accesses: what memory gives in
/// the time that it takes to answer.
pub(crate) const AHEAD: i64 = 2048;
/// The sum of these distances in a loop that only reads arrays from front to back.
const AHEAD_OF_STREAMS: i64 = 8192;
/// Loops that read more arrays than this leave it to the processor.
const MOST: usize = 4;
/// Elements further apart than this are not neighbours.
const MOST_APART: i64 = 8;
/// More lines than this are asked for in a loop.
const WRITTEN_OUT: i64 = 4;

/// What a loop asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// As many elements of each array as this.
    pub(super) elements: i64,
    /// No more lines of an array than this.
    pub(super) most_lines: i64,
}

impl Ahead {
    /// All of so many elements, in rising order.
    pub(super) fn of(elements: i64) -> Self {
        Ahead {
            elements,
            most_lines: i64::MAX,
        }
    }
}

impl Translator<'_> {
    /// Asks for what the next rows will read: `row` is the body of a loop in which `index` runs over
    /// elements from `start` on.
    pub(super) fn prefetch_row(
        &mut self,
        row: &[Command],
        index: Variable,
        start: &Expression,
        ahead: Ahead,
        place: &Place,
    ) {
        if self.machine == Machine::Device {
            return;
        }
        let mut found = streams(row, index);
        if self.loops > 0 {
            // What every iteration of the loop outside reads again stays in a cache.
            found.retain(|stream| stream.before.is_some());
        }
        self.join_fields(&mut found);
        if ahead.elements < LINE / 4 || found.len() > MOST {
            return;
        }
        let arrays = found.len();
        for stream in &found {
            self.prefetch_stream(stream, start, ahead, stream.bytes(arrays), place);
        }
    }

    /// Leaves of the fields of the same structures one: the lines are the same.
    fn join_fields(&self, streams: &mut Vec<Stream>) {
        let mut joined: Vec<Stream> = Vec::with_capacity(streams.len());
        for mut stream in streams.drain(..) {
            if let Some(first) = self.structures.get(&stream.pointer) {
                stream.pointer = *first;
            }
            if joined.iter().all(|known| known.pointer != stream.pointer) {
                joined.push(stream);
            }
        }
        *streams = joined;
    }

    /// Asks for the elements of one array, so many bytes ahead.
    fn prefetch_stream(
        &mut self,
        stream: &Stream,
        start: &Expression,
        ahead: Ahead,
        bytes: i64,
        place: &Place,
    ) {
        let Some(size) = stream.element_size(&self.program) else {
            return;
        };
        let ask = |line: Expression| stream.ahead(start, line, size, bytes);
        let lines = stream.lines(ahead.elements, size).min(ahead.most_lines);
        if lines <= WRITTEN_OUT {
            for line in 0..lines {
                self.emit(ask(Expression::index(line)));
            }
            return;
        }
        let line = self.add_variable("line", INDEX);
        let body = vec![ask(Expression::Variable(line))];
        self.wrap(&[Expression::index(lines)], &[line], body, place);
    }
}

/// The distance in bytes at which a loop that only reads so many arrays asks for each: a whole number
/// of lines.
fn share(arrays: usize) -> i64 {
    AHEAD_OF_STREAMS / arrays.max(1) as i64 / LINE * LINE
}

/// The arrays that a loop over `index` with this body reads from front to back.
pub(crate) fn streams(body: &[Command], index: Variable) -> Vec<Stream> {
    let mut streams = Streams::of(index, body);
    for command in body {
        walk::reads(command, &mut |e| streams.look(e));
    }
    let alone = !streams.scattered;
    let mut found = streams.found;
    found.iter_mut().for_each(|stream| stream.alone = alone);
    found
}

/// The arrays of which a loop reads neighbouring elements.
pub(super) struct Streams<'e> {
    /// The loop's index.
    index: Variable,
    /// What is declared in the loop, with its value.
    inner: BTreeMap<Variable, Option<&'e Expression>>,
    found: Vec<Stream>,
    /// True where something else is read too.
    scattered: bool,
}

/// An array that is read from front to back.
pub(crate) struct Stream {
    pointer: Variable,
    /// What is added to the index.
    pub(crate) before: Option<Expression>,
    /// How many elements lie between one read and the next.
    stride: i64,
    /// True where the loop reads nothing but such arrays.
    alone: bool,
}

impl Stream {
    /// The number of bytes an element has.
    fn element_size(&self, program: &Program) -> Option<i64> {
        match program.variable(self.pointer).ty {
            Type::Pointer(element) => Some(i64::from(element.bits().max(8) / 8)),
            Type::Scalar(_) | Type::Block => None,
        }
    }

    /// The distance in bytes at which it is asked for, as one of so many arrays.
    pub(crate) fn bytes(&self, arrays: usize) -> i64 {
        match self.alone {
            true => share(arrays),
            false => AHEAD,
        }
    }

    /// The number of lines a row of so many elements has.
    fn lines(&self, width: i64, size: i64) -> i64 {
        (width * size * self.stride).div_euclid(LINE).max(1)
    }

    /// Asks for what a short row of `width` elements from `start` on will read so many bytes later.
    pub(crate) fn ahead_of_row(
        &self,
        program: &Program,
        start: &Expression,
        width: i64,
        bytes: i64,
    ) -> Vec<Command> {
        match self.element_size(program) {
            Some(size) if self.lines(width, size) <= WRITTEN_OUT => (0..self.lines(width, size))
                .map(|line| self.ahead(start, Expression::index(line), size, bytes))
                .collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Asks for a line of what a row from `start` on will read so many bytes later.
    fn ahead(&self, start: &Expression, line: Expression, size: i64, bytes: i64) -> Command {
        let first = start.clone().times(Expression::index(self.stride));
        let first = match &self.before {
            Some(before) => before.clone().plus(first),
            None => first,
        };
        let elements = line.times(Expression::index(LINE / size));
        Command::Prefetch {
            pointer: self.pointer,
            index: first.plus(elements.plus(Expression::index(bytes / size))),
            only_streams: self.alone,
        }
    }
}

/// A sum of what does not change in the loop, 0 if absent, and so many times its index.
pub(super) type Linear = (Option<Expression>, i64);

impl<'e> Streams<'e> {
    /// Of the body of a loop over an index.
    pub(super) fn of(index: Variable, body: &'e [Command]) -> Self {
        let mut inner = BTreeMap::new();
        for command in body {
            if let Command::Declare { variable, value } = command {
                inner.insert(*variable, value.as_ref());
            }
        }
        Streams {
            index,
            inner,
            found: Vec::new(),
            scattered: false,
        }
    }

    fn look(&mut self, expression: &Expression) {
        if let Expression::Load { pointer, index } = expression {
            match &**pointer {
                Expression::Variable(pointer) => self.add(*pointer, index),
                _computed => self.scattered = true,
            }
        }
        for child in expression.children() {
            deep(|| self.look(child));
        }
    }

    /// Takes in that an array is read at an index.
    fn add(&mut self, pointer: Variable, index: &Expression) {
        match self.linear(index) {
            // What the loop makes itself stays in registers.
            _ if self.inner.contains_key(&pointer) => {}
            Some((before, stride)) if (1..=MOST_APART).contains(&stride) => {
                if self.found.iter().all(|known| known.pointer != pointer) {
                    self.found.push(Stream {
                        pointer,
                        before,
                        stride,
                        alone: false,
                    });
                }
            }
            Some((_, 0)) => {}
            Some(_) | None => self.scattered = true,
        }
    }

    /// The value that a variable of the loop is declared with, of other expressions themselves.
    pub(super) fn value<'v>(&'v self, expression: &'v Expression) -> &'v Expression
    where
        'e: 'v,
    {
        match expression {
            Expression::Variable(variable) => match self.inner.get(variable) {
                Some(Some(value)) => deep(|| self.value(value)),
                Some(None) | None => expression,
            },
            other => other,
        }
    }

    /// True if the loop does not declare a variable.
    pub(super) fn is_outside(&self, variable: Variable) -> bool {
        variable != self.index && !self.inner.contains_key(&variable)
    }

    /// True if an expression has the same value in every iteration, and reads no memory.
    pub(super) fn is_constant(&self, expression: &Expression) -> bool {
        let mut outside = !expression.reads_memory();
        expression.each_variable(&mut |v| outside &= self.is_outside(v));
        outside
    }

    /// An address as such a sum, if it is one.
    pub(super) fn linear(&self, address: &Expression) -> Option<Linear> {
        if let Expression::Variable(variable) = address {
            if *variable == self.index {
                return Some((None, 1));
            }
            if let Some(value) = self.inner.get(variable) {
                return value.and_then(|value| deep(|| self.linear(value)));
            }
        }
        if let Expression::Scalar {
            operation,
            arguments,
            ..
        } = address
            && let [left, right] = &arguments[..]
        {
            let linear = |e| deep(|| self.linear(e));
            match operation {
                ScalarOperation::Add => return Some(sum(linear(left)?, linear(right)?)),
                ScalarOperation::Multiply => {
                    if let Some(factor) = right.as_index() {
                        let (before, stride) = linear(left)?;
                        let times = |e: Expression| e.times(Expression::index(factor));
                        return Some((before.map(times), stride.checked_mul(factor)?));
                    }
                }
                _ => {}
            }
        }
        let mut outside = true;
        address.each_variable(&mut |v| outside &= v != self.index && !self.inner.contains_key(&v));
        outside.then(|| (Some(address.clone()), 0))
    }
}

fn sum(left: Linear, right: Linear) -> Linear {
    let before = match (left.0, right.0) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    };
    (before, left.1.saturating_add(right.1))
}
