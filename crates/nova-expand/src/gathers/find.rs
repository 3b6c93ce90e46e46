//! Analysis of the loops of full iterations: finds strided reads, indexed reads and bounds checks of indices
//! in the body of a loop.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Expression, Gather, Program, Type, Variable};
use nova_loop::ir::{gathers_indexed, gathers_strided, indexes_gathers};
use nova_loop::streams::LinearReads;
use nova_machine::{PROCESSOR, figures};

/// The stride that vector instructions support.
const STRIDE: u32 = figures::STRIPS.gathered_stride;

/// Elements of an array that an iteration reads with a stride of one or more.
pub(super) struct Read {
    pointer: Variable,
    pub(super) element: Scalar,
    /// The index of the first element.
    first: Expression,
    pub(super) stride: u32,
}

impl Read {
    pub(super) fn address(&self) -> Expression {
        Expression::offset(self.pointer, self.first.clone())
    }
}

/// Elements of an array that an iteration reads at indices.
pub(super) struct IndexedRead {
    pointer: Variable,
    element: Scalar,
    indices: Read,
}

/// The source of a local array of an iteration.
pub(super) enum Source {
    Strided(Read),
    Indexed(IndexedRead),
}

impl Source {
    /// Returns the array that it reads, and the type of its elements.
    pub(super) fn array(&self) -> (Variable, Scalar) {
        match self {
            Source::Strided(read) => (read.pointer, read.element),
            Source::Indexed(read) => (read.pointer, read.element),
        }
    }

    /// Returns the command that fills a local array.
    pub(super) fn fill(self, to: Expression) -> Gather {
        match self {
            Source::Strided(read) => Gather::Strided {
                to,
                from: read.address(),
                element: read.element,
                stride: read.stride,
            },
            Source::Indexed(read) => Gather::Indexed {
                to,
                from: Expression::Variable(read.pointer),
                element: read.element,
                indices: read.indices.address(),
                index: read.indices.element,
                stride: read.indices.stride,
            },
        }
    }
}

/// Calls `see` for the loads through variables that an expression always executes, each before the loads
/// in its index.
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

/// Replaces the loads of [`each_load`] by loads of local arrays, where there is one.
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

/// Finds the source of a local array that replaces a load, if that is faster.
pub(super) type FindGather =
    fn(&Program, &LinearReads<'_>, Variable, &Expression) -> Option<Source>;

/// Finds a strided read.
pub(super) fn strided(
    program: &Program,
    reads: &LinearReads<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Source> {
    let read = read(program, reads, pointer, index)?;
    let fits = read.stride == STRIDE && gathers_strided(read.element);
    fits.then_some(Source::Strided(read))
}

/// Finds an indexed read.
pub(super) fn indexed(
    program: &Program,
    reads: &LinearReads<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Source> {
    let Type::Pointer(element) = program.variable(pointer).ty else {
        return None;
    };
    let fits = gathers_indexed(element) && reads.is_outside(pointer);
    fits.then_some(Source::Indexed(IndexedRead {
        pointer,
        element,
        indices: indices(program, reads, index)?,
    }))
}

/// Returns the elements that an iteration reads at an index, if they have a constant stride.
fn read(
    program: &Program,
    reads: &LinearReads<'_>,
    pointer: Variable,
    index: &Expression,
) -> Option<Read> {
    let Type::Pointer(element) = program.variable(pointer).ty else {
        return None;
    };
    let (first, stride) = reads.linear(index)?;
    let fits = reads.is_outside(pointer) && (1..=PROCESSOR.neighbour_stride()).contains(&stride);
    fits.then_some(Read {
        pointer,
        element,
        first: first.unwrap_or(Expression::index(0)),
        stride: stride as u32,
    })
}

/// Returns the integers that an expression loads and converts to 64 bits, if they lie in memory.
fn indices(program: &Program, reads: &LinearReads<'_>, expression: &Expression) -> Option<Read> {
    let expression = match reads.value(expression) {
        Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::I32,
            arguments,
        } => reads.value(arguments.first()?),
        other => other,
    };
    let Expression::Load { pointer, index } = expression else {
        return None;
    };
    let Expression::Variable(pointer) = **pointer else {
        return None;
    };
    read(program, reads, pointer, index).filter(|read| indexes_gathers(read.element))
}

/// Returns the indices and the limit of `fails or (index as a u64) >= limit`, if the indices lie in memory.
pub(super) fn bounds_test(
    program: &Program,
    reads: &LinearReads<'_>,
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
    let (test, is_negated) = match reads.value(otherwise) {
        Expression::Scalar {
            operation: ScalarOperation::Not,
            arguments,
            ..
        } => (reads.value(arguments.first()?), true),
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
    } = reads.value(index)
    else {
        return None;
    };
    let read = indices(program, reads, arguments.first()?)?;
    let limit = reads.value(limit);
    (fits && reads.is_constant(limit)).then(|| (read, limit.clone()))
}
