//! Blocks of arrays, stored by threads of a device.
//!
//! An array of some size lies on the device; what one thread of the host stores into it would bring all
//! of it to the host and back. So the size of the array decides, not that of the block, which a thread for
//! each of its elements stores.

use super::Divider;
use super::parts::Code;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Positions, Statement, Type, Variable,
};

/// Whether an operation stores blocks of arrays, and does nothing else but map.
pub(super) fn stores_blocks(operation: &ArrayOperation) -> bool {
    let apart = |output: &Output| match output {
        Output::Map => true,
        Output::Scatter { positions, .. } => matches!(positions, Positions::Block(_)),
        Output::Reduce { .. }
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
    };
    let stores = |output: &Output| matches!(output, Output::Scatter { .. });
    operation.carries.is_empty()
        && operation.outputs.iter().all(apart)
        && operation.outputs.iter().any(stores)
}

impl Divider<'_> {
    /// Writes an array of one value as a map, where there are devices: else the host would fill it, and the
    /// device get all of it.
    pub(super) fn fill_by_threads(&mut self, statement: &mut Statement) {
        let Expression::Replicate { shape, value } = &statement.expression else {
            return;
        };
        if !self.division.kernels {
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

    /// Writes an operation that stores blocks as a choice by the size of the arrays: itself, or a thread
    /// for each index.
    pub(super) fn divide_blocks(
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
        let least = Atom::index(2 * self.division.grain);
        self.note_stores(&pattern, false);
        let mut code = Code::new(self.program, place, self.division);
        let mut elements = Atom::index(1);
        let shape = array.map(|array| code.program.ty(array).shape().to_vec());
        for extent in shape.unwrap_or_default() {
            elements = code.scalar(ScalarOperation::Multiply, elements, extent);
        }
        let condition = code.compare(ScalarOperation::GreaterEqual, elements, least);
        let whole = code.fresh_whole(&operation);
        code.store_or_leave(&pattern, condition, whole, |code| {
            let mut divided = operation;
            code.keep_apart(&mut divided);
            divided
        });
        out.append(&mut code.out);
    }
}

impl Code<'_> {
    /// Writes into the extents what checks before the operation have made sure: that a row of a block ends
    /// within the array's. Then threads are seen to store at places apart, wherever the block begins, and
    /// apart from rows that they read.
    pub(super) fn keep_apart(&mut self, operation: &mut ArrayOperation) {
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
            let whole = self.program.ty(*array).shape().to_vec();
            let rows = shape.iter_mut().zip(whole).zip(starts);
            for ((extent, all), start) in rows.skip(1) {
                let left = self.scalar(ScalarOperation::Subtract, all, *start);
                let bounds = [
                    (ScalarOperation::Minimum, left),
                    (ScalarOperation::Maximum, Atom::index(0)),
                    (ScalarOperation::Minimum, all),
                ];
                for (operation, bound) in bounds {
                    *extent = self.scalar(operation, *extent, bound);
                }
            }
        }
    }
}
