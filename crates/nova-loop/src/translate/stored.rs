//! What threads of a processor store into arrays from around: each takes some neighbouring indices. Parts
//! of maps are cut on Flat, where each makes an array of its own; here all write into one.

use super::{INDEX, Translator};
use crate::Machine;
use crate::ir::{Command, Expression, Level, Variable};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;

/// How many parts threads share at most.
const MOST_PARTS: i64 = 256;

impl Translator<'_> {
    /// True if threads of a processor share an operation over one dimension that stores: each takes a part of
    /// its indices.
    pub(super) fn stores_in_parts(&self, operation: &flat::ArrayOperation) -> bool {
        let stores = |output: &flat::Output| matches!(output, flat::Output::Scatter { .. });
        self.machine == Machine::Processor
            && operation.shape.len() == 1
            && operation.outputs.iter().any(stores)
    }

    /// Writes a loop around code, of which threads take parts of enough elements.
    pub(super) fn wrap_in_parts(
        &mut self,
        extents: &[Expression],
        indices: &[Variable],
        code: Vec<Command>,
        place: &Place,
    ) {
        let ([count], [index]) = (extents, indices) else {
            return;
        };
        let least = Expression::index(i64::from(self.tiles.stored));
        let share = quotient_up(count.clone(), Expression::index(MOST_PARTS));
        let size = binary(ScalarOperation::Maximum, least, share);
        let size = Expression::Variable(self.declare("size", INDEX, size));
        let [part, first, own] =
            ["part", "first", "own"].map(|name| self.add_variable(name, INDEX));
        let begin = Expression::Variable(first);
        let left = count.clone().minus(begin.clone());
        let mut body = vec![Command::declare(
            *index,
            begin.plus(Expression::Variable(own)),
        )];
        body.extend(code);
        let row = Command::For {
            variable: own,
            count: binary(ScalarOperation::Minimum, left, size.clone()),
            level: Level::Sequential,
            body,
            place: place.clone(),
        };
        let start = Expression::Variable(part).times(size.clone());
        self.emit(Command::For {
            variable: part,
            count: quotient_up(count.clone(), size),
            level: Level::Grid,
            body: vec![Command::declare(first, start), row],
            place: place.clone(),
        });
    }
}

pub(super) fn binary(
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
pub(super) fn quotient_up(a: Expression, b: Expression) -> Expression {
    let sum = a.plus(b.clone()).minus(Expression::index(1));
    binary(ScalarOperation::Divide, sum, b)
}
