//! The grid of an operation: the operation of a chunk, the joins that make the whole, and the use of
//! the partial results of the chunks.

use crate::chunking::{Bounds, Chunks, FEW};
use crate::code::Code;
use crate::grid::{Begin, Grid};
use crate::way::Way;
use nova_core::{Scalar, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Level, Output, Variable};

impl Code<'_> {
    /// Writes an operation as a grid of chunks, and a reduction of their partial results.
    pub(crate) fn grid(
        &mut self,
        mut operation: ArrayOperation,
        pattern: &[Variable],
        mut way: Way,
    ) {
        let chunks = &self.chunks(&operation, way.parallelism);
        let chunk = self.fresh("chunk", Scalar::I64);
        let mut begins = self.begin_chunks(&operation, pattern, way.twice, chunks);
        self.begin_bins(&operation.outputs, chunks.count, &mut begins.outputs);
        if operation.outputs.is_empty() {
            // `begin_chunks` has bound all carries.
            return;
        }
        let mut grid = Grid::new(chunk, chunks.count, operation.shape.clone());
        let (statements, ()) = self.apart(|code| {
            let bounds = code.bounds(chunks, chunk);
            let mut given = pattern.iter().copied();
            let carries = operation.carries.iter_mut().zip(&begins.carries);
            for (((_, start), begin), last) in carries.zip(given.by_ref()) {
                *start = code.element(*begin, Atom::Variable(chunk));
                grid.made.push(code.like_scalar(last));
            }
            let rows = code.rows_of_chunk(&mut operation, &bounds);
            let outputs = operation.outputs.iter_mut().zip(rows);
            for ((output, row), begin) in outputs.zip(&begins.outputs) {
                let own: Vec<Variable> = given.by_ref().take(output.gives()).collect();
                match (&mut *output, row) {
                    (Output::Join { shape }, Some(row)) => {
                        code.join_rows(shape, row, &own, &bounds, &mut grid);
                    }
                    _others => code.parallelise_output((output, begin), own, &bounds, &mut grid),
                }
            }
            let made = std::mem::take(&mut grid.made);
            match way.inside.take() {
                Some(inside) => code.one_of(operation, inside, chunks, &bounds, made),
                None => code.restrict(operation, &bounds, made),
            }
        });
        let body = Body {
            statements,
            results: std::mem::take(&mut grid.results),
        };
        let outputs = std::mem::take(&mut grid.outputs);
        let pattern = std::mem::take(&mut grid.pattern);
        self.operation(pattern, chunks.count, chunk, Level::Grid, body, outputs);
        self.shift_rows(std::mem::take(&mut grid.shifted), chunks);
        let bins = std::mem::take(&mut grid.bins);
        self.reduce_partial(grid);
        self.combine_bins(bins, chunks.count);
    }

    /// Writes the operation of a chunk. If there are few indices, or one has a long row, it is the one
    /// whose body is parallelised.
    fn one_of(
        &mut self,
        operation: ArrayOperation,
        inside: ArrayOperation,
        chunks: &Chunks,
        bounds: &Bounds,
        pattern: Vec<Variable>,
    ) {
        let mut inside = self.completed(inside, &operation);
        self.rows_of_chunk(&mut inside, bounds);
        let few = self.are_few(chunks, FEW);
        let condition = match bounds.long_row {
            Some(long) => {
                let yes = Atom::Constant(ScalarValue::Bool(true));
                self.choose_one(few, Scalar::Bool, |_| yes, |_| long)
            }
            None => few,
        };
        self.choose_way(
            &pattern,
            condition,
            |code, own| code.restrict(inside, bounds, own),
            |code, own| code.restrict(operation, bounds, own),
        );
    }

    /// Adds an output of the operation, which gives `own`, in a chunk with these bounds.
    pub(crate) fn parallelise_output(
        &mut self,
        (output, begin): (&mut Output, &Begin),
        own: Vec<Variable>,
        bounds: &Bounds,
        grid: &mut Grid,
    ) {
        match (output, begin) {
            (Output::Map, _) => self.join_all(own, bounds, grid),
            (Output::Scan { start, .. }, Begin::Scan(begin)) => {
                self.continue_scan((start, begin), own, bounds, grid);
            }
            (Output::Filter { .. }, Begin::Filter(begin)) => {
                self.continue_filter(*begin, &own, grid);
            }
            (Output::Scan { start, .. }, Begin::Blocks(begin)) => {
                self.continue_blocks((start, begin), own, bounds, grid);
            }
            (reduction @ Output::Reduce { .. }, _) => {
                grid.reductions
                    .extend(self.parallelise_reduction(reduction));
                for result in own {
                    let scalar = self.program.ty(result).element();
                    let value = self.fresh("value", scalar);
                    let partial = self.like(result, vec![grid.count]);
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
                },
                Begin::Bins(total),
            ) => self.parallelise_histogram((lambda, start, *bins), *total, own, grid),
            (Output::Filter { .. }, _) => self.collect_survivors(&own, grid),
            (Output::Collect { .. }, _) => self.collect_rows(&own, bounds, grid),
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
}
