//! Chunking of scatters by threads of a processor: each thread takes a chunk of neighbouring indices. Flat
//! already chunks maps, where each chunk makes an array of its own; here all chunks write into one array.

use crate::env::Env;
use crate::writer::INDEX;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Level, Variable};
use nova_machine::{Machine, PROCESSOR};

/// True if threads of a processor run an operation in chunks of its indices: a one-dimensional operation
/// with a scatter.
pub(crate) fn stores_in_chunks(machine: Machine, operation: &flat::ArrayOperation) -> bool {
    let stores = |output: &flat::Output| matches!(output, flat::Output::Scatter { .. });
    machine == Machine::Processor
        && operation.shape.len() == 1
        && operation.outputs.iter().any(stores)
}

/// Writes code inside a loop that threads run in chunks of enough elements.
pub(crate) fn wrap_in_chunks(
    env: &mut Env<'_>,
    extents: &[Expression],
    indices: &[Variable],
    code: Vec<Command>,
    place: &Place,
) {
    let ([count], [index]) = (extents, indices) else {
        return;
    };
    let least = Expression::index(i64::from(env.tiles.stored));
    let even = quotient_up(count.clone(), Expression::index(PROCESSOR.chunks));
    let size = binary(ScalarOperation::Maximum, least, even);
    let size = Expression::Variable(env.declare("size", INDEX, size));
    let [chunk, first, own] = ["chunk", "first", "own"].map(|name| env.add_variable(name, INDEX));
    let begin = Expression::Variable(first);
    let left = count.clone().minus(begin.clone());
    let mut body = vec![Command::declare(
        *index,
        begin.plus(Expression::Variable(own)),
    )];
    body.extend(code);
    let row = Command::sequential(
        own,
        binary(ScalarOperation::Minimum, left, size.clone()),
        body,
        place,
    );
    let start = Expression::Variable(chunk).times(size.clone());
    env.emit(Command::For {
        variable: chunk,
        count: quotient_up(count.clone(), size),
        level: Level::Grid,
        body: vec![Command::declare(first, start), row],
        place: place.clone(),
    });
}

pub(crate) fn binary(
    operation: ScalarOperation,
    left: Expression,
    right: Expression,
) -> Expression {
    Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments: vec![left, right],
    }
}

/// `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
pub(crate) fn quotient_up(a: Expression, b: Expression) -> Expression {
    let sum = a.plus(b.clone()).minus(Expression::index(1));
    binary(ScalarOperation::Divide, sum, b)
}
