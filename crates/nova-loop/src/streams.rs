//! Streams: arrays that a loop reads from front to back, and their software prefetches.

use crate::ir::{Command, Expression, Program, Type, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use nova_diag::deep;
use nova_machine::PROCESSOR;
use std::collections::BTreeMap;

/// The maximum number of lines whose prefetches are unrolled. More are prefetched in a loop.
pub const UNROLLED_LINES: i64 = 4;

/// Returns the prefetch distance in bytes of each array, in a loop that only reads so many arrays: a whole
/// number of lines.
fn distance(arrays: usize) -> i64 {
    PROCESSOR.linear_prefetch_bytes / arrays.max(1) as i64 / PROCESSOR.line_bytes
        * PROCESSOR.line_bytes
}

/// Returns the arrays that a loop over `index` with this body reads from front to back.
pub fn streams(body: &[Command], index: Variable) -> Vec<Stream> {
    let mut reads = LinearReads::of(index, body);
    for command in body {
        walk::reads(command, &mut |e| reads.look(e));
    }
    let alone = !reads.scattered;
    let mut found = reads.found;
    found.iter_mut().for_each(|stream| stream.alone = alone);
    found
}

/// The arrays whose neighbouring elements a loop reads.
pub struct LinearReads<'e> {
    /// The loop's index.
    index: Variable,
    /// The variables that the loop declares, with their values.
    inner: BTreeMap<Variable, Option<&'e Expression>>,
    found: Vec<Stream>,
    /// True if the loop also reads other elements.
    scattered: bool,
}

/// An array that is read from front to back.
pub struct Stream {
    /// The pointer to it.
    pub pointer: Variable,
    /// The offset that is added to the index.
    pub before: Option<Expression>,
    /// The number of elements from one read to the next.
    stride: i64,
    /// True if the loop reads nothing but such arrays.
    alone: bool,
}

impl Stream {
    /// Returns the number of bytes of an element.
    pub fn element_size(&self, program: &Program) -> Option<i64> {
        match program.variable(self.pointer).ty {
            Type::Pointer(element) => Some(i64::from(element.bits().max(8) / 8)),
            Type::Scalar(_) | Type::Block => None,
        }
    }

    /// Returns its prefetch distance in bytes, as one of so many arrays.
    pub fn bytes(&self, arrays: usize) -> i64 {
        match self.alone {
            true => distance(arrays),
            false => PROCESSOR.prefetch_bytes,
        }
    }

    /// Returns the number of lines of a row of so many elements.
    pub fn lines(&self, width: i64, size: i64) -> i64 {
        (width * size * self.stride)
            .div_euclid(PROCESSOR.line_bytes)
            .max(1)
    }

    /// Returns the prefetches for a short row of `width` elements from `start` on, `bytes` bytes ahead.
    pub fn ahead_of_row(
        &self,
        program: &Program,
        start: &Expression,
        width: i64,
        bytes: i64,
    ) -> Vec<Command> {
        match self.element_size(program) {
            Some(size) if self.lines(width, size) <= UNROLLED_LINES => (0..self.lines(width, size))
                .map(|line| self.ahead(start, Expression::index(line), size, bytes))
                .collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns the prefetch of a line of a row from `start` on, `bytes` bytes ahead.
    pub fn ahead(&self, start: &Expression, line: Expression, size: i64, bytes: i64) -> Command {
        let first = start.clone().times(Expression::index(self.stride));
        let first = match &self.before {
            Some(before) => before.clone().plus(first),
            None => first,
        };
        let elements = line.times(Expression::index(PROCESSOR.line_bytes / size));
        Command::Prefetch {
            pointer: self.pointer,
            index: first.plus(elements.plus(Expression::index(bytes / size))),
            only_linear: self.alone,
        }
    }
}

/// A linear function of the loop's index: a loop-invariant offset, 0 if absent, and the index's factor.
pub type Linear = (Option<Expression>, i64);

impl<'e> LinearReads<'e> {
    /// Returns the analysis of the body of a loop over an index.
    pub fn of(index: Variable, body: &'e [Command]) -> Self {
        let mut inner = BTreeMap::new();
        for command in body {
            if let Command::Declare { variable, value } = command {
                inner.insert(*variable, value.as_ref());
            }
        }
        LinearReads {
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

    /// Records that an array is read at an index.
    fn add(&mut self, pointer: Variable, index: &Expression) {
        match self.linear(index) {
            // An array that the loop declares stays in registers.
            _ if self.inner.contains_key(&pointer) => {}
            Some((before, stride)) if (1..=PROCESSOR.neighbour_stride()).contains(&stride) => {
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

    /// Returns the value with which the loop declares a variable; other expressions are returned as they are.
    pub fn value<'v>(&'v self, expression: &'v Expression) -> &'v Expression
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
    pub fn is_outside(&self, variable: Variable) -> bool {
        variable != self.index && !self.inner.contains_key(&variable)
    }

    /// True if an expression has the same value in every iteration, and reads no memory.
    pub fn is_constant(&self, expression: &Expression) -> bool {
        let mut outside = !expression.reads_memory();
        expression.each_variable(&mut |v| outside &= self.is_outside(v));
        outside
    }

    /// Returns an address as a linear function of the index, if it is one.
    pub fn linear(&self, address: &Expression) -> Option<Linear> {
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
