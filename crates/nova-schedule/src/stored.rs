//! Stores of threads into arrays from enclosing code: blocks, the scatters of [`crate::scattered`], and
//! arrays of one value.
//!
//! On a device the size of the array decides where stores run, not that of a block. A large array lies
//! on the device, and stores by a thread of the host would bring all of it to the host and back. So a
//! thread of the device stores each element. Threads of a processor share what is worth it: rows of
//! blocks that are long enough, or chunks of one dimension, which are made in Loop.

use crate::chunking::is_worth;
use crate::notes::{Notes, Parallelised};
use crate::paralleliser::Paralleliser;
use crate::stores::leave_order;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Positions, Statement, Type, Variable,
};
use nova_machine::PROCESSOR;

impl Paralleliser<'_> {
    /// Rewrites an array of one value as a map, if there are devices. Else the host would fill it, and
    /// all of it would be copied to the device.
    pub(crate) fn fill_by_threads(&mut self, statement: &mut Statement) {
        let Expression::Replicate { shape, value } = &statement.expression else {
            return;
        };
        if !self.parallelism.kernels {
            return;
        }
        let indices = shape.iter().map(|_| {
            let index = Type::Scalar(Scalar::I64);
            self.program.add_variable("i", index)
        });
        statement.expression = Expression::Operation(ArrayOperation {
            indices: indices.collect(),
            shape: shape.clone(),
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements: Vec::new(),
                results: vec![*value],
            },
            outputs: vec![Output::Map],
        });
    }

    /// Writes an operation that stores blocks as a choice by the size of the arrays: the operation
    /// itself, or a thread for each index.
    pub(crate) fn parallelise_blocks(
        &mut self,
        pattern: Vec<Variable>,
        operation: ArrayOperation,
        place: Place,
        out: &mut Vec<Statement>,
    ) {
        let mut destinations = operation.outputs.iter().filter_map(|output| match output {
            Output::Scatter { destinations, .. } => destinations.first().copied(),
            _makes_anew => None,
        });
        let array = destinations.next();
        drop(destinations);
        let least = Atom::index(2 * self.parallelism.grain);
        self.note_stores(&pattern, false);
        let mut code = Writer::new(self.program, place, self.parallelism);
        let mut elements = Atom::index(1);
        let shape = array.map(|array| code.program.ty(array).shape().to_vec());
        for extent in shape.unwrap_or_default() {
            elements = code.scalar(ScalarOperation::Multiply, elements, extent);
        }
        let condition = code.compare(ScalarOperation::GreaterEqual, elements, least);
        let whole = code.fresh_whole(&operation);
        let notes = &mut self.notes;
        store_or_leave(&mut code, &pattern, condition, whole, notes, |code| {
            let mut parallelised = operation;
            keep_apart(code, &mut parallelised);
            parallelised
        });
        out.append(&mut code.out);
    }

    /// Writes an operation whose stores have no order as a choice by its cost: the operation itself, or
    /// threads of a processor for chunks of its indices.
    pub(crate) fn store_in_chunks(
        &mut self,
        pattern: Vec<Variable>,
        operation: ArrayOperation,
        place: Place,
        out: &mut Vec<Statement>,
    ) {
        self.note_stores(&pattern, false);
        let mut code = Writer::new(self.program, place, self.parallelism);
        let worth = is_worth(&mut code, &operation, (false, false));
        let mut condition = worth.unwrap_or_else(|known| Atom::Constant(ScalarValue::Bool(known)));
        if let [_, inner @ ..] = operation.shape.as_slice()
            && !inner.is_empty()
        {
            let mut row = Atom::index(1);
            for extent in inner {
                row = code.scalar(ScalarOperation::Multiply, row, *extent);
            }
            let least = Atom::index(PROCESSOR.stored_row.min(self.parallelism.grain));
            let is_long = code.compare(ScalarOperation::GreaterEqual, row, least);
            condition = code.both(condition, is_long);
        }
        let whole = code.fresh_whole(&operation);
        let notes = &mut self.notes;
        store_or_leave(&mut code, &pattern, condition, whole, notes, |code| {
            let mut parallelised = operation;
            leave_order(&mut parallelised);
            keep_apart(code, &mut parallelised);
            parallelised
        });
        out.append(&mut code.out);
    }

    /// Records that threads share an operation that stores.
    pub(crate) fn note_stores(&mut self, pattern: &[Variable], claims: bool) {
        if let (Some(notes), Some(key)) = (&mut self.notes, pattern.first()) {
            notes.parallelise(*key, Parallelised::storing(self.parallelism, claims));
        }
    }
}

/// Writes an operation that stores: as it is or, if a condition holds, as threads share it.
pub(crate) fn store_or_leave(
    code: &mut Writer,
    pattern: &[Variable],
    condition: Atom,
    whole: ArrayOperation,
    notes: &mut Option<Notes>,
    parallelise: impl FnOnce(&mut Writer) -> ArrayOperation,
) {
    let shared = |code: &mut Writer, own: Vec<Variable>| {
        let mut parallelised = parallelise(code);
        parallelised.level = Level::Grid;
        code.push(own, Expression::Operation(parallelised));
    };
    match condition {
        Atom::Constant(ScalarValue::Bool(true)) => shared(code, pattern.to_vec()),
        Atom::Constant(_) => code.push(pattern.to_vec(), Expression::Operation(whole)),
        Atom::Variable(_) => code.choose_way(pattern, condition, shared, |code, own| {
            if let Some(notes) = notes {
                let both = own.iter().copied().zip(pattern.iter().copied());
                notes.copy(&both.collect::<Vec<_>>());
            }
            code.push(own, Expression::Operation(whole));
        }),
    }
}

/// Writes into the extents what checks before the operation have ensured: a row of a block ends
/// within that of the array. So later stages see that threads store at disjoint positions, wherever
/// the block begins, and apart from rows that they read.
pub(crate) fn keep_apart(code: &mut Writer, operation: &mut ArrayOperation) {
    let ArrayOperation { shape, outputs, .. } = operation;
    for output in outputs {
        let Output::Scatter {
            destinations,
            positions: Positions::Block(starts),
        } = output
        else {
            continue;
        };
        let Some(array) = destinations.first() else {
            continue;
        };
        let whole = code.program.ty(*array).shape().to_vec();
        let rows = shape.iter_mut().zip(whole).zip(starts);
        for ((extent, all), start) in rows.skip(1) {
            let left = code.scalar(ScalarOperation::Subtract, all, *start);
            let bounds = [
                (ScalarOperation::Minimum, left),
                (ScalarOperation::Maximum, Atom::index(0)),
                (ScalarOperation::Minimum, all),
            ];
            for (operation, bound) in bounds {
                *extent = code.scalar(operation, *extent, bound);
            }
        }
    }
}
