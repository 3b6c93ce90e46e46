//! Rows and filter survivors whose number is only known when a chunk is done: chunks store what they
//! have made, and all of it is concatenated.

use crate::chunks::{Chunks, bounds};
use crate::grid::{Grid, Shifted, join_all, restrict};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Body, Level, Output, Variable};

/// Collects the survivors of a chunk, after those of the chunks before it.
pub(crate) fn collect_survivors(code: &mut Writer, own: &[Variable], grid: &mut Grid) {
    let Some((total, arrays)) = own.split_first() else {
        return;
    };
    let survivors = code.fresh("kept", Scalar::I64);
    grid.made.push(survivors);
    let [begins, ends] =
        ["begins", "ends"].map(|name| code.fresh_array(name, Scalar::I64, grid.count));
    grid.pattern.extend([begins, ends, *total]);
    collect(code, survivors, arrays, grid);
}

/// Collects the rows of a chunk, after those of the chunks before it.
pub(crate) fn collect_rows(code: &mut Writer, own: &[Variable], grid: &mut Grid) {
    let [starts, ends, total, arrays @ ..] = own else {
        return;
    };
    let sum = code.fresh("total", Scalar::I64);
    let [begins, chunk_ends] =
        ["begins", "ends"].map(|name| code.fresh_array(name, Scalar::I64, grid.count));
    let locals = [*starts, *ends].map(|whole| {
        let local = code.like(whole, grid.shape.clone());
        grid.shifted.push(Shifted {
            local,
            begins,
            whole,
        });
        local
    });
    join_all(code, locals.to_vec(), grid);
    grid.made.push(sum);
    grid.pattern.extend([begins, chunk_ends, *total]);
    collect(code, sum, arrays, grid);
}

/// Concatenates arrays of this length from each chunk.
fn collect(code: &mut Writer, length: Variable, arrays: &[Variable], grid: &mut Grid) {
    grid.outputs.push(Output::Collect {
        values: arrays.len(),
    });
    grid.results.push(Atom::Variable(length));
    for array in arrays {
        let values = code.like(*array, vec![Atom::Variable(length)]);
        grid.made.push(values);
        grid.results.push(Atom::Variable(values));
        grid.pattern.push(*array);
    }
}

/// Makes the starts and ends of rows count from the first element of all.
pub(crate) fn shift_rows(code: &mut Writer, shifted: Vec<Shifted>, chunks: &Chunks) {
    if shifted.is_empty() {
        return;
    }
    let chunk = code.fresh("chunk", Scalar::I64);
    let (statements, grid) = code.apart(|code| {
        let bounds = bounds(code, chunks, chunk);
        let mut grid = Grid::new((chunk, chunks.count), vec![chunks.n], bounds);
        let index = code.fresh("row", Scalar::I64);
        let mut outputs = Vec::new();
        let (inner, results) = code.apart(|code| {
            let row = Atom::Variable(index);
            let mut results = Vec::new();
            for Shifted { local, begins, .. } in &shifted {
                let local = code.element(*local, row);
                let begins = code.element(*begins, Atom::Variable(chunk));
                results.push(code.scalar(ScalarOperation::Add, local, begins));
                outputs.push(Output::Map);
            }
            results
        });
        let operation = ArrayOperation {
            shape: vec![chunks.n],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements: inner,
                results,
            },
            outputs,
        };
        let whole = shifted.iter().map(|s| s.whole).collect();
        join_all(code, whole, &mut grid);
        let made = std::mem::take(&mut grid.made);
        restrict(code, operation, &grid.bounds, made);
        grid
    });
    let body = Body {
        statements,
        results: grid.results,
    };
    code.operation(
        grid.pattern,
        chunks.count,
        chunk,
        Level::Grid,
        body,
        grid.outputs,
    );
}
