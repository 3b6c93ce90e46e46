//! Rows of one length that are joined, each at its own position ([`nova_opt::flatten_regular`]): a chunk
//! joins the rows of its own indices, and the whole is joined from the chunks.

use crate::chunks::Bounds;
use crate::grid::Grid;
use crate::writer::Writer;
use nova_core::ScalarOperation;
use nova_flat::ir::{ArrayOperation, Atom, Expression, Output, Statement, Variable};

/// Iterates over the outputs of an operation, each with the position of the first result of the body
/// that it consumes.
fn consumed(operation: &ArrayOperation) -> impl Iterator<Item = (&Output, usize)> {
    let mut next = operation.carries.len();
    operation.outputs.iter().map(move |output| {
        let at = next;
        next += output.consumes();
        (output, at)
    })
}

/// Returns the length of the rows that an operation joins at a position, if row i begins at i times
/// that length.
fn row_length(operation: &ArrayOperation, first: Atom) -> Option<Atom> {
    let Atom::Variable(first) = first else {
        return None;
    };
    let statements = &operation.body.statements;
    let binds = |v: Variable| move |s: &&Statement| s.pattern.contains(&v);
    let Expression::Scalar {
        operation: ScalarOperation::Multiply,
        arguments,
        ..
    } = &statements.iter().find(binds(first))?.expression
    else {
        return None;
    };
    match (arguments.as_slice(), operation.indices.as_slice()) {
        ([Atom::Variable(factor), length], [index]) if factor == index => {
            let is_inside = |v: &Variable| v == index || statements.iter().any(|s| binds(*v)(&s));
            let varies = matches!(length, Atom::Variable(v) if is_inside(v));
            (!varies).then_some(*length)
        }
        _elsewhere => None,
    }
}

/// True if an operation joins only rows of one length, each at its own position.
pub(crate) fn joins_equal_rows(operation: &ArrayOperation) -> bool {
    consumed(operation).all(|(output, at)| match output {
        Output::Join { .. } => {
            let first = operation.body.results.get(at);
            first.is_some_and(|first| row_length(operation, *first).is_some())
        }
        Output::Map
        | Output::Reduce { .. }
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. } => true,
    })
}

/// Makes the positions of joined rows count from the start of the chunk. Returns the length of the
/// rows for each output that joins such rows.
pub(crate) fn rows_of_chunk(
    code: &mut Writer,
    operation: &mut ArrayOperation,
    bounds: &Bounds,
) -> Vec<Option<Atom>> {
    let length = |(output, at): (&Output, usize)| match output {
        Output::Join { .. } => {
            let first = operation.body.results.get(at)?;
            Some((at, row_length(operation, *first)?))
        }
        _others => None,
    };
    let lengths: Vec<_> = consumed(operation).map(length).collect();
    let index = operation.indices.first().map(|v| Atom::Variable(*v));
    let results = &mut operation.body.results;
    let (mut statements, ()) = code.apart(|code| {
        let Some(index) = index.filter(|_| lengths.iter().any(Option::is_some)) else {
            return;
        };
        let local = code.scalar(ScalarOperation::Subtract, index, bounds.first);
        for (at, length) in lengths.iter().flatten() {
            if let Some(first) = results.get_mut(*at) {
                *first = code.scalar(ScalarOperation::Multiply, local, *length);
            }
        }
    });
    statements.append(&mut operation.body.statements);
    operation.body.statements = statements;
    lengths.into_iter().map(|l| Some(l?.1)).collect()
}

/// Adds an output that joins rows of this length, which gives `own`, in a chunk.
pub(crate) fn join_rows(
    code: &mut Writer,
    shape: &mut Vec<Atom>,
    length: Atom,
    own: &[Variable],
    grid: &mut Grid,
) {
    let total = code.scalar(ScalarOperation::Multiply, grid.bounds.length, length);
    let first = code.scalar(ScalarOperation::Multiply, grid.bounds.first, length);
    let whole = std::mem::replace(shape, vec![total]);
    for array in own {
        let values = code.like(*array, vec![total]);
        grid.outputs.push(Output::Join {
            shape: whole.clone(),
        });
        grid.pattern.push(*array);
        grid.made.push(values);
        grid.results.extend([first, Atom::Variable(values)]);
    }
}
