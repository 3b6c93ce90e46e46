//! What full rounds read: elements with gaps between them, elements at indices, and checks of
//! indices, found in the body of a loop.

use super::super::prefetch::Streams;
use crate::ir::{Expression, Gather, Program, Type, Variable};
use crate::ir::{gathers_indexed, gathers_strided, indexes_gathers};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;

/// How far apart elements lie of which the others are left out by vector instructions.
const STRIDE: u32 = 2;
/// Indices further apart than this are no fields of neighbouring structures.
const MOST_APART: i64 = 8;

/// Elements of an array that a round reads, one behind the other or with gaps.
pub(super) struct Read {
    pointer: Variable,
    pub(super) element: Scalar,
    /// The first one.
    first: Expression,
    pub(super) stride: u32,
}

impl Read {
    pub(super) fn address(&self) -> Expression {
        Expression::offset(self.pointer, self.first.clone())
    }
}

/// Elements of an array that a round reads at indices.
pub(super) struct IndexedRead {
    pointer: Variable,
    element: Scalar,
    indices: Read,
}

/// What a local array of a round is filled with.
pub(super) enum Source {
    Stride(Read),
    Gather(IndexedRead),
}

impl Source {
    /// The array that it is filled from, and the type of its elements.
    pub(super) fn array(&self) -> (Variable, Scalar) {
        match self {
            Source::Stride(read) => (read.pointer, read.element),
            Source::Gather(gather) => (gather.pointer, gather.element),
        }
    }

    /// The command that fills a local array.
    pub(super) fn fill(self, to: Expression) -> Gather {
        match self {
            Source::Stride(read) => Gather::Strided {
                to,
                from: read.address(),
                element: read.element,
                stride: read.stride,
            },
            Source::Gather(gather) => Gather::Indexed {
                to,
                from: Expression::Variable(gather.pointer),
                element: gather.element,
                indices: gather.indices.address(),
                index: gather.indices.element,
                stride: gather.indices.stride,
            },
        }
    }
}

/// Calls `see` for the loads through variables that an expression always makes, each before those
/// that its index makes.
pub(super) fn each_load<'e>(
    expression: &'e Expression,
    see: &mut dyn FnMut(Variable, &'e Expression),
) {
    match expression {
        Expression::Load { pointer, index } => {
            if let Expression::Variable(pointer) = **pointer {
                see(pointer, index);
            }
            deep(|| each_load(index, see));
        }
        Expression::Select { condition, .. } => deep(|| each_load(condition, see)),
        other => {
            for child in other.children() {
                deep(|| each_load(child, see));
            }
        }
    }
}

/// Replaces the loads of [`each_load`] by those of local arrays, where there is one.
pub(super) fn replace_loads(
    expression: &mut Expression,
    offset: Variable,
    arrays: &mut dyn Iterator<Item = Option<Variable>>,
) {
    match expression {
        Expression::Load { pointer, index } => {
            let array = match &**pointer {
                Expression::Variable(_) => arrays.next().flatten(),
                _others => None,
            };
            deep(|| replace_loads(index, offset, arrays));
            if let Some(array) = array {
                *expression = Expression::load(array, Expression::Variable(offset));
            }
        }
        Expression::Select { condition, .. } => {
            deep(|| replace_loads(condition, offset, arrays));
        }
        other => {
            for child in other.children_mut() {
                deep(|| replace_loads(child, offset, arrays));
            }
        }
    }
}

/// Finds what a local array is filled with that replaces a load, if that is faster.
pub(super) type Find = fn(&Program, &Streams<'_>, Variable, &Expression) -> Option<Source>;

/// Elements with gaps between them.
pub(super) fn with_gaps(
    program: &Program,
    streams: &Streams<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Source> {
    let read = read(program, streams, pointer, index)?;
    let fits = read.stride == STRIDE && gathers_strided(read.element);
    fits.then_some(Source::Stride(read))
}

/// Elements at indices.
pub(super) fn gathered(
    program: &Program,
    streams: &Streams<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Source> {
    let Type::Pointer(element) = program.variable(pointer).ty else {
        return None;
    };
    let fits = gathers_indexed(element) && streams.is_outside(pointer);
    fits.then_some(Source::Gather(IndexedRead {
        pointer,
        element,
        indices: indices(program, streams, index)?,
    }))
}

/// The elements that a round reads at an index, if each lies as far behind the one before.
fn read(
    program: &Program,
    streams: &Streams<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Read> {
    let Type::Pointer(element) = program.variable(pointer).ty else {
        return None;
    };
    let (first, stride) = streams.linear(index)?;
    let fits = streams.is_outside(pointer) && (1..=MOST_APART).contains(&stride);
    fits.then_some(Read {
        pointer,
        element,
        first: first.unwrap_or(Expression::index(0)),
        stride: stride as u32,
    })
}

/// The integers that an expression is, as 64-bit numbers, if they lie in memory.
fn indices(program: &Program, streams: &Streams<'_>, expression: &Expression) -> Option<Read> {
    let expression = match streams.value(expression) {
        Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::I32,
            arguments,
        } => streams.value(arguments.first()?),
        other => other,
    };
    let Expression::Load { pointer, index } = expression else {
        return None;
    };
    let Expression::Variable(pointer) = **pointer else {
        return None;
    };
    read(program, streams, pointer, index).filter(|read| indexes_gathers(read.element))
}

/// The indices and the limit of `fails or (index as a u64) >= limit`, where the indices lie in memory.
pub(super) fn outside(
    program: &Program,
    streams: &Streams<'_>,
    value: &Expression,
) -> Option<(Read, Expression)> {
    let Expression::Select {
        then, otherwise, ..
    } = value
    else {
        return None;
    };
    let Expression::Constant(ScalarValue::Bool(true)) = **then else {
        return None;
    };
    let (test, is_negated) = match streams.value(otherwise) {
        Expression::Scalar {
            operation: ScalarOperation::Not,
            arguments,
            ..
        } => (streams.value(arguments.first()?), true),
        other => (other, false),
    };
    let Expression::Scalar {
        operation,
        operand: Scalar::U64,
        arguments,
    } = test
    else {
        return None;
    };
    let fits = match operation {
        ScalarOperation::Less => is_negated,
        ScalarOperation::GreaterEqual => !is_negated,
        _others => false,
    };
    let [index, limit] = &arguments[..] else {
        return None;
    };
    let Expression::Scalar {
        operation: ScalarOperation::Wrap(Scalar::U64),
        operand: Scalar::I64,
        arguments,
    } = streams.value(index)
    else {
        return None;
    };
    let read = indices(program, streams, arguments.first()?)?;
    let limit = streams.value(limit);
    (fits && streams.is_constant(limit)).then(|| (read, limit.clone()))
}
