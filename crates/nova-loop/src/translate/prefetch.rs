//! Software prefetch: loops that read arrays from front to back ask for what they will read some
//! thousand bytes later, which processors do by themselves only where the arrays are long and have
//! no gaps.

use super::Translator;
use crate::ir::{Command, Expression, Type, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use nova_diag::deep;

/// How far ahead, in bytes.
const AHEAD: i64 = 8192;
/// Bytes that come from memory together.
const LINE: i64 = 64;
/// Loops that read more arrays than this leave it to the processor.
const MOST: usize = 4;

impl Translator<'_> {
    /// Asks for what the next rows will read: `row` is the body of a loop in which `index` runs over
    /// the `width` elements from `start`.
    pub(super) fn prefetch_row(
        &mut self,
        row: &[Command],
        index: Variable,
        start: &Expression,
        width: i64,
    ) {
        let mut streams = Streams {
            index,
            inner: Vec::new(),
            found: Vec::new(),
        };
        for command in row {
            if let Command::Declare { variable, .. } = command {
                streams.inner.push(*variable);
            }
        }
        for command in row {
            walk::reads(command, &mut |e| streams.look(e));
        }
        if self.loops > 0 {
            // What every iteration of the loop outside reads again stays in a cache.
            streams.found.retain(|(_, before)| before.is_some());
        }
        if width < LINE / 4 || streams.found.len() > MOST {
            return;
        }
        for (pointer, before) in streams.found {
            let Type::Pointer(element) = self.program.variable(pointer).ty else {
                continue;
            };
            let size = i64::from(element.bits().max(8) / 8);
            for line in 0..(width * size).div_euclid(LINE).max(1) {
                let ahead = Expression::index((AHEAD + line * LINE) / size);
                let at = start.clone().plus(ahead);
                let index = match &before {
                    Some(before) => before.clone().plus(at),
                    None => at,
                };
                self.emit(Command::Prefetch { pointer, index });
            }
        }
    }
}

/// The arrays of which a loop reads neighbouring elements.
struct Streams {
    /// The loop's index.
    index: Variable,
    /// What is declared in the loop.
    inner: Vec<Variable>,
    /// Pointers, and what is added to the index.
    found: Vec<(Variable, Option<Expression>)>,
}

impl Streams {
    fn look(&mut self, expression: &Expression) {
        if let Expression::Load { pointer, index } = expression
            && let Expression::Variable(pointer) = **pointer
            && !self.inner.contains(&pointer)
            && self.found.iter().all(|(known, _)| *known != pointer)
            && let Some(before) = self.before(index)
        {
            self.found.push((pointer, before));
        }
        for child in expression.children() {
            deep(|| self.look(child));
        }
    }

    /// What an address adds to the index, if it is such a sum.
    fn before(&self, address: &Expression) -> Option<Option<Expression>> {
        if matches!(address, Expression::Variable(v) if *v == self.index) {
            return Some(None);
        }
        let Expression::Scalar {
            operation: ScalarOperation::Add,
            arguments,
            ..
        } = address
        else {
            return None;
        };
        let [before, Expression::Variable(index)] = &arguments[..] else {
            return None;
        };
        let mut outside = *index == self.index;
        before.each_variable(&mut |v| outside &= v != self.index && !self.inner.contains(&v));
        outside.then(|| Some(before.clone()))
    }
}
