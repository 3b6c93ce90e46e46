//! Software prefetch: loops that read arrays from front to back ask for what they will read some
//! thousand bytes later, which processors do by themselves only where the arrays are long and have
//! no gaps.

use super::{INDEX, Translator};
use crate::ir::{Command, Expression, Program, Type, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use nova_diag::{Place, deep};

/// How far ahead, in bytes.
const AHEAD: i64 = 8192;
/// Bytes that come from memory together.
const LINE: i64 = 64;
/// Loops that read more arrays than this leave it to the processor.
const MOST: usize = 4;
/// Elements further apart than this are not neighbours.
const MOST_APART: i64 = 8;
/// More lines than this are asked for in a loop.
const WRITTEN_OUT: i64 = 4;

impl Translator<'_> {
    /// Asks for what the next rows will read: `row` is the body of a loop in which `index` runs over
    /// the `width` elements from `start`.
    pub(super) fn prefetch_row(
        &mut self,
        row: &[Command],
        index: Variable,
        start: &Expression,
        width: i64,
        place: &Place,
    ) {
        let mut streams = streams(row, index);
        if self.loops > 0 {
            // What every iteration of the loop outside reads again stays in a cache.
            streams.retain(|stream| stream.before.is_some());
        }
        if width < LINE / 4 || streams.len() > MOST {
            return;
        }
        let place = place.clone();
        for stream in streams {
            let Some(size) = stream.element_size(&self.program) else {
                continue;
            };
            let ahead = |line: Expression| stream.ahead(start, line, size);
            let lines = stream.lines(width, size);
            if lines <= WRITTEN_OUT {
                for line in 0..lines {
                    self.emit(ahead(Expression::index(line)));
                }
                continue;
            }
            let line = self.add_variable("line", INDEX);
            let body = vec![ahead(Expression::Variable(line))];
            self.wrap(&[Expression::index(lines)], &[line], body, &place);
        }
    }
}

/// The arrays that a loop over `index` with this body reads from front to back.
pub(crate) fn streams(body: &[Command], index: Variable) -> Vec<Stream> {
    let mut streams = Streams {
        index,
        inner: Vec::new(),
        found: Vec::new(),
    };
    for command in body {
        if let Command::Declare { variable, .. } = command {
            streams.inner.push(*variable);
        }
    }
    for command in body {
        walk::reads(command, &mut |e| streams.look(e));
    }
    streams.found
}

/// The arrays of which a loop reads neighbouring elements.
struct Streams {
    /// The loop's index.
    index: Variable,
    /// What is declared in the loop.
    inner: Vec<Variable>,
    found: Vec<Stream>,
}

/// An array that is read from front to back.
pub(crate) struct Stream {
    pointer: Variable,
    /// What is added to the index.
    pub(crate) before: Option<Expression>,
    /// How many elements lie between one read and the next.
    stride: i64,
}

impl Stream {
    /// How many bytes an element has.
    fn element_size(&self, program: &Program) -> Option<i64> {
        match program.variable(self.pointer).ty {
            Type::Pointer(element) => Some(i64::from(element.bits().max(8) / 8)),
            Type::Scalar(_) | Type::Block => None,
        }
    }

    /// How many lines a row of so many elements has.
    fn lines(&self, width: i64, size: i64) -> i64 {
        (width * size * self.stride).div_euclid(LINE).max(1)
    }

    /// Asks for what a short row of `width` elements from `start` on will read some rows later.
    pub(crate) fn ahead_of_row(
        &self,
        program: &Program,
        start: &Expression,
        width: i64,
    ) -> Vec<Command> {
        match self.element_size(program) {
            Some(size) if self.lines(width, size) <= WRITTEN_OUT => (0..self.lines(width, size))
                .map(|line| self.ahead(start, Expression::index(line), size))
                .collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Asks for a line of what a row from `start` on will read some rows later.
    fn ahead(&self, start: &Expression, line: Expression, size: i64) -> Command {
        let first = start.clone().times(Expression::index(self.stride));
        let first = match &self.before {
            Some(before) => before.clone().plus(first),
            None => first,
        };
        let elements = line.times(Expression::index(LINE / size));
        Command::Prefetch {
            pointer: self.pointer,
            index: first.plus(elements.plus(Expression::index(AHEAD / size))),
        }
    }
}

impl Streams {
    fn look(&mut self, expression: &Expression) {
        if let Expression::Load { pointer, index } = expression
            && let Expression::Variable(pointer) = **pointer
            && !self.inner.contains(&pointer)
            && self.found.iter().all(|known| known.pointer != pointer)
            && let Some((before, stride)) = self.address(index)
        {
            self.found.push(Stream {
                pointer,
                before,
                stride,
            });
        }
        for child in expression.children() {
            deep(|| self.look(child));
        }
    }

    /// An address as what is added to the index and how often the index is taken, if it is such a
    /// sum.
    fn address(&self, address: &Expression) -> Option<(Option<Expression>, i64)> {
        if let Some(stride) = self.stride(address) {
            return Some((None, stride));
        }
        let Expression::Scalar {
            operation: ScalarOperation::Add,
            arguments,
            ..
        } = address
        else {
            return None;
        };
        let [before, index] = &arguments[..] else {
            return None;
        };
        let stride = self.stride(index)?;
        let mut outside = true;
        before.each_variable(&mut |v| outside &= v != self.index && !self.inner.contains(&v));
        outside.then(|| (Some(before.clone()), stride))
    }

    /// How often an expression is the index.
    fn stride(&self, expression: &Expression) -> Option<i64> {
        let is_index = |e: &Expression| matches!(e, Expression::Variable(v) if *v == self.index);
        if is_index(expression) {
            return Some(1);
        }
        match expression {
            Expression::Scalar {
                operation: ScalarOperation::Multiply,
                arguments,
                ..
            } => match &arguments[..] {
                [index, factor] if is_index(index) => {
                    factor.as_index().filter(|f| (1..=MOST_APART).contains(f))
                }
                _ => None,
            },
            _ => None,
        }
    }
}
