//! The grid of an operation: the operation of a chunk, the joins that make the whole, and the use of
//! the partial results of the chunks.

use crate::chunked_scans::{begin_chunks, continue_filter, continue_scan};
use crate::chunking::{are_few, chunks};
use crate::chunks::{Bounds, Chunks, bounds};
use crate::collect::{collect_rows, collect_survivors, shift_rows};
use crate::grid::{Begin, Grid, completed, join_all, reduce_partial, restrict};
use crate::histogram::{begin_bins, combine_bins, parallelise_histogram};
use crate::joined::{join_rows, rows_of_chunk};
use crate::ordered::{continue_blocks, parallelise_reduction};
use crate::way::Way;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Level, Output, Variable};
use nova_machine::PROCESSOR;

/// Writes an operation as a grid of chunks, and a reduction of their partial results.
pub(crate) fn grid(
    code: &mut Writer,
    mut operation: ArrayOperation,
    pattern: &[Variable],
    mut way: Way,
) {
    let chunks = &chunks(code, &operation);
    let chunk = code.fresh("chunk", Scalar::I64);
    let mut begins = begin_chunks(code, &operation, pattern, way.twice, chunks);
    begin_bins(code, &operation.outputs, chunks.count, &mut begins.outputs);
    if operation.outputs.is_empty() {
        // `begin_chunks` has bound all carries.
        return;
    }
    let (statements, mut grid) = code.apart(|code| {
        let bounds = bounds(code, chunks, chunk);
        let mut grid = Grid::new((chunk, chunks.count), operation.shape.clone(), bounds);
        let mut given = pattern.iter().copied();
        let carries = operation.carries.iter_mut().zip(&begins.carries);
        for (((_, start), begin), last) in carries.zip(given.by_ref()) {
            *start = code.element(*begin, Atom::Variable(chunk));
            grid.made.push(code.like_scalar(last));
        }
        let rows = rows_of_chunk(code, &mut operation, &grid.bounds);
        let outputs = operation.outputs.iter_mut().zip(rows);
        for ((output, row), begin) in outputs.zip(&begins.outputs) {
            let own: Vec<Variable> = given.by_ref().take(output.gives()).collect();
            match (&mut *output, row) {
                (Output::Join { shape }, Some(row)) => {
                    join_rows(code, shape, row, &own, &mut grid);
                }
                _others => parallelise_output(code, (output, begin), own, &mut grid),
            }
        }
        let made = std::mem::take(&mut grid.made);
        match way.inside.take() {
            Some(inside) => one_of(code, (operation, inside), chunks, &grid.bounds, made),
            None => restrict(code, operation, &grid.bounds, made),
        }
        grid
    });
    let body = Body {
        statements,
        results: std::mem::take(&mut grid.results),
    };
    let outputs = std::mem::take(&mut grid.outputs);
    let pattern = std::mem::take(&mut grid.pattern);
    code.operation(pattern, chunks.count, chunk, Level::Grid, body, outputs);
    shift_rows(code, std::mem::take(&mut grid.shifted), chunks);
    let bins = std::mem::take(&mut grid.bins);
    reduce_partial(code, grid);
    combine_bins(code, bins, chunks.count);
}

/// Writes the operation of a chunk. If there are few indices, or one has a long row, it is the one
/// whose body is parallelised.
fn one_of(
    code: &mut Writer,
    (operation, inside): (ArrayOperation, ArrayOperation),
    chunks: &Chunks,
    bounds: &Bounds,
    pattern: Vec<Variable>,
) {
    let mut inside = completed(code, inside, &operation);
    rows_of_chunk(code, &mut inside, bounds);
    let few = are_few(code, chunks, PROCESSOR.threads);
    let condition = match bounds.long_row {
        Some(long) => {
            let yes = Atom::Constant(ScalarValue::Bool(true));
            code.choose_one(few, Scalar::Bool, |_| yes, |_| long)
        }
        None => few,
    };
    code.choose_way(
        &pattern,
        condition,
        |code, own| restrict(code, inside, bounds, own),
        |code, own| restrict(code, operation, bounds, own),
    );
}

/// Adds an output of the operation, which gives `own`, in a chunk with these bounds.
pub(crate) fn parallelise_output(
    code: &mut Writer,
    (output, begin): (&mut Output, &Begin),
    own: Vec<Variable>,
    grid: &mut Grid,
) {
    match (output, begin) {
        (Output::Map, _) => join_all(code, own, grid),
        (Output::Scan { start, .. }, Begin::Scan(begin)) => {
            continue_scan(code, (start, begin), own, grid);
        }
        (Output::Filter { .. }, Begin::Filter(begin)) => {
            continue_filter(code, *begin, &own, grid);
        }
        (Output::Scan { start, .. }, Begin::Blocks(begin)) => {
            continue_blocks(code, (start, begin), own, grid);
        }
        (reduction @ Output::Reduce { .. }, _) => {
            grid.reductions
                .extend(parallelise_reduction(code, reduction));
            for result in own {
                let scalar = code.program.ty(result).element();
                let value = code.fresh("value", scalar);
                let partial = code.like(result, vec![grid.count]);
                grid.outputs.push(Output::Map);
                grid.pattern.push(partial);
                grid.partial.push(partial);
                grid.made.push(value);
                grid.results.push(Atom::Variable(value));
                grid.reduced.push(result);
            }
        }
        (
            Output::Histogram {
                lambda,
                start,
                bins,
                guarded: _,
            },
            Begin::Bins(total),
        ) => parallelise_histogram(code, (lambda, start, *bins), *total, own, grid),
        (Output::Filter { .. }, _) => collect_survivors(code, &own, grid),
        (Output::Collect { .. }, _) => collect_rows(code, &own, grid),
        // Operations with these combinations are not parallelised.
        (
            Output::Scan { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Join { .. },
            _,
        ) => {}
    }
}
