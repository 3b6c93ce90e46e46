//! Maps over several dimensions of which the first is short, for threads of a processor: few pictures with many
//! lines, or the three coordinates of many points. Chunks of the first dimension would be fewer than threads. So
//! each of its indices is a chunk, which makes one row of the whole by a map over the other dimensions. That map
//! is in chunks in turn.

use crate::chunked::grid;
use crate::cost::cost_by_row;
use crate::costs::cost_of_index;
use crate::limits::DIMENSIONS_OF_ROWS;
use crate::policy::Parallelism;
use crate::way::Way;
use crate::writer::Writer;
use nova_core::{ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Output, Program, Variable, View};
use nova_flat::kinds::is_map;
use nova_machine::PROCESSOR;

/// Writes an operation in chunks. A map over several dimensions has rows if there are few, each of which is worth
/// chunks of its own.
pub(crate) fn rows_or_chunks(
    code: &mut Writer,
    operation: ArrayOperation,
    pattern: &[Variable],
    way: Way,
) {
    rows_or_chunks_in(0, code, operation, pattern, way);
}

/// Does the same as [`rows_or_chunks`] inside of `depth` grids of rows.
fn rows_or_chunks_in(
    depth: usize,
    code: &mut Writer,
    operation: ArrayOperation,
    pattern: &[Variable],
    mut way: Way,
) {
    let no = Atom::Constant(ScalarValue::Bool(false));
    let condition = match operation.shape.len() + 2 * depth <= DIMENSIONS_OF_ROWS {
        true => are_few_and_long(code, &operation),
        false => no,
    };
    if condition == no {
        return grid(code, operation, pattern, way);
    }
    let copy = code.fresh_whole(&operation);
    let of_rows = Way {
        inside: way.inside.take(),
        twice: way.twice,
    };
    code.choose_way(
        pattern,
        condition,
        |code, own| grid_of_rows(depth, code, copy, own, of_rows),
        |code, own| grid(code, operation, &own, way),
    );
}

/// True if an operation is a map over several dimensions, for which its first may be too short.
pub(crate) fn has_rows(
    program: &Program,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> bool {
    if parallelism.kernels || !is_map(operation) || operation.shape.len() < 2 {
        return false;
    }
    let (_, rows) = cost_by_row(program, operation, parallelism.strict);
    rows.is_none()
}

/// Computes whether an operation is a map of fewer rows than threads may want, each of which costs as much as two
/// chunks. Rows of a nested vector are in chunks by their elements.
fn are_few_and_long(code: &mut Writer, operation: &ArrayOperation) -> Atom {
    let n = match operation.shape[..] {
        [n, _, ..] if has_rows(code.program, operation, code.parallelism) => n,
        _ => return Atom::Constant(ScalarValue::Bool(false)),
    };
    let (cost, _) = cost_by_row(code.program, operation, code.parallelism.strict);
    let two = Atom::index(2 * code.parallelism.grain);
    let few = code.compare(ScalarOperation::Less, n, Atom::index(PROCESSOR.threads));
    let each = cost_of_index(code, operation, &cost);
    let long = code.compare(ScalarOperation::GreaterEqual, each, two);
    let condition = code.both(few, long);
    // Long rows have elements. The proof of freedom from races needs to see that.
    let others = operation.shape.iter().skip(1);
    others.fold(condition, |condition, extent| {
        let some = code.compare(ScalarOperation::Greater, *extent, Atom::index(0));
        code.both(some, condition)
    })
}

/// Writes a map as a grid of the indices of its first dimension, each of which makes a row in chunks.
fn grid_of_rows(
    depth: usize,
    code: &mut Writer,
    mut operation: ArrayOperation,
    pattern: Vec<Variable>,
    mut way: Way,
) {
    let shape = operation.shape.clone();
    let Some(row) = split(&mut operation) else {
        return;
    };
    let extents = operation.shape.clone();
    let one_row = [&[Atom::index(1)], extents.as_slice()].concat();
    let body = code.body(|code| {
        if let Some(inside) = &mut way.inside
            && let Some(own) = split(inside)
        {
            code.push(vec![own], Expression::Atom(Atom::Variable(row)));
        }
        let arrays = pattern.iter();
        let arrays: Vec<Variable> = arrays.map(|v| code.like(*v, extents.clone())).collect();
        rows_or_chunks_in(depth + 1, code, operation, &arrays, way);
        let mut results = Vec::new();
        for array in arrays {
            let seen = code.like(array, one_row.clone());
            let view = View::Reshape(one_row.clone());
            code.push(vec![seen], Expression::View { array, view });
            results.extend([Atom::Variable(row), Atom::Variable(seen)]);
        }
        results
    });
    let count = shape.first().copied().unwrap_or(Atom::index(0));
    let outputs = vec![Output::Join { shape }; pattern.len()];
    code.operation(pattern, count, row, Level::Grid, body, outputs);
}

/// Takes the first dimension from an operation, and returns its index.
fn split(operation: &mut ArrayOperation) -> Option<Variable> {
    let (shape, indices) = (&mut operation.shape, &mut operation.indices);
    if shape.is_empty() || indices.is_empty() {
        return None;
    }
    shape.remove(0);
    Some(indices.remove(0))
}
