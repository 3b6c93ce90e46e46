//! Blocks of arrays, stored by threads of a device.
//!
//! An array of some size lies on the device; what one thread of the host stores into it would bring all
//! of it to the host and back. So the size of the array decides, not that of the block, which a thread for
//! each of its elements stores.

use super::Divider;
use super::parts::Code;
use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Level, Output, Positions, Statement, Variable,
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
        let mut code = Code::new(self.program, place.clone(), self.division);
        let mut elements = Atom::index(1);
        let shape = array.map(|array| code.program.ty(array).shape().to_vec());
        for extent in shape.unwrap_or_default() {
            elements = code.scalar(ScalarOperation::Multiply, elements, extent);
        }
        let condition = code.compare(ScalarOperation::GreaterEqual, elements, least);
        let whole = code.fresh_whole(&operation);
        let mut divided = operation;
        divided.level = Level::Grid;
        code.keep_apart(&mut divided);
        if let Atom::Constant(value) = condition {
            let chosen = match value {
                ScalarValue::Bool(true) => divided,
                _ => whole,
            };
            code.push(pattern, Expression::Operation(chosen));
            return out.append(&mut code.out);
        }
        let then = code.branch(&pattern, |code, own| {
            code.push(own, Expression::Operation(divided));
        });
        let otherwise = code.branch(&pattern, |code, own| {
            code.push(own, Expression::Operation(whole));
        });
        out.append(&mut code.out);
        out.push(Statement {
            pattern,
            expression: Expression::If {
                condition,
                then,
                otherwise,
            },
            place,
        });
    }
}

impl Code<'_> {
    /// Writes into the extents what checks before the operation have made sure: that a row of a block is no
    /// longer than the array's. Then threads are seen to store at places apart, wherever the block begins.
    fn keep_apart(&mut self, operation: &mut ArrayOperation) {
        let ArrayOperation { shape, outputs, .. } = operation;
        for output in outputs {
            let Output::Scatter { destinations, .. } = output else {
                continue;
            };
            let Some(array) = destinations.first() else {
                continue;
            };
            let whole = self.program.ty(*array).shape().to_vec();
            for (extent, all) in shape.iter_mut().zip(whole).skip(1) {
                *extent = self.scalar(ScalarOperation::Minimum, *extent, all);
            }
        }
    }
}
