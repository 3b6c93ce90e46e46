//! The grid of an operation: the operation of a chunk, the joins that make the whole, and the use of
//! the partial results of the chunks.

use super::Parallelism;
use super::chunked_scans::Begin;
use super::chunking::{Bounds, Chunks, FEW};
use super::code::Code;
use super::histogram::Bins;
use super::stencil::Stencil;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Variable};
use nova_flat::operators::{Operator, by_component};

/// A grid under construction.
pub(super) struct Grid {
    /// The number of a chunk, and the number of chunks.
    pub(super) chunk: Variable,
    pub(super) count: Atom,
    /// The extents of the whole operation.
    pub(super) shape: Vec<Atom>,
    /// The variables that the operation of a chunk binds, the results of the grid's body, the outputs
    /// of the grid, and the variables that it binds.
    pub(super) made: Vec<Variable>,
    pub(super) results: Vec<Atom>,
    pub(super) outputs: Vec<Output>,
    pub(super) pattern: Vec<Variable>,
    /// The arrays of the partial results of the chunks, their reductions, and the variables that these
    /// bind.
    pub(super) partial: Vec<Variable>,
    pub(super) reductions: Vec<Output>,
    pub(super) reduced: Vec<Variable>,
    /// The histograms of the chunks.
    pub(super) bins: Vec<Bins>,
    /// The starts and ends of rows.
    pub(super) shifted: Vec<Shifted>,
}

/// The way in which an operation becomes a grid.
pub(super) struct Way {
    pub(super) parallelism: Parallelism,
    /// A copy of the operation, without outputs, whose inner operations are parallelised.
    pub(super) inside: Option<ArrayOperation>,
    /// True if the body is so cheap that it may be computed twice.
    pub(super) twice: bool,
    /// The stencil of the operation, on devices.
    pub(super) stencil: Option<Stencil>,
}

/// Indices that count from the start of a chunk, the position of each chunk's first element in the
/// whole, and the indices that count from the start of the whole.
pub(super) struct Shifted {
    pub(super) local: Variable,
    pub(super) begins: Variable,
    pub(super) whole: Variable,
}

impl Grid {
    pub(super) fn new(chunk: Variable, count: Atom, shape: Vec<Atom>) -> Grid {
        Grid {
            chunk,
            count,
            shape,
            made: Vec::new(),
            results: Vec::new(),
            outputs: Vec::new(),
            pattern: Vec::new(),
            partial: Vec::new(),
            reductions: Vec::new(),
            reduced: Vec::new(),
            bins: Vec::new(),
            shifted: Vec::new(),
        }
    }
}

/// Returns the start values of a chunk's reduction: the identity of each operator. If the whole starts
/// with a number, the chunks of a minimum or maximum of floats start with the farthest number. So later
/// stages know that they hold no nan.
pub(super) fn neutral(lambda: &Lambda, start: &[Atom]) -> Vec<Atom> {
    let is_number = |atom: &Atom| match atom {
        Atom::Constant(ScalarValue::F32(x)) => !x.is_nan(),
        Atom::Constant(ScalarValue::F64(x)) => !x.is_nan(),
        Atom::Constant(_) | Atom::Variable(_) => false,
    };
    let operators = by_component(lambda).unwrap_or_default();
    let value = |(operator, start): (&Operator, &Atom)| match operator.bound {
        Some(bound) if is_number(start) => bound.farthest,
        Some(_) | None => operator.identity,
    };
    let values = operators.iter().zip(start).map(value);
    values.map(Atom::Constant).collect()
}

/// True if an operation only makes arrays, with an element or a row of each at every index.
pub(super) fn makes_apart(operation: &ArrayOperation) -> bool {
    let apart = |output: &Output| matches!(output, Output::Map | Output::Join { .. });
    operation.carries.is_empty() && operation.outputs.iter().all(apart)
}

/// True if an operation only makes arrays, with an element of each at every index.
pub(super) fn is_map(operation: &ArrayOperation) -> bool {
    let maps = |output: &Output| matches!(output, Output::Map);
    operation.carries.is_empty() && operation.outputs.iter().all(maps)
}

impl Code<'_> {
    /// Writes an operation as a grid of chunks, and a reduction of their partial results.
    pub(super) fn grid(
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

    /// Writes an operation whose indices, or chunks, are threads of a kernel.
    ///
    /// A map has a thread for each index, so that neighbouring threads read and write neighbouring
    /// elements. The same holds of lanes ([`super::lanes`]), tiles ([`super::tiles`]) and groups with
    /// bins ([`super::privatised_histogram`]). Threads may bring to their group what all of them read
    /// ([`super::blocks`]), or what neighbours read ([`super::stencil`]). Rows that are reduced have
    /// several threads ([`super::segmented_reduction`]). If there are too few indices and operations in
    /// the body, these become kernels instead.
    pub(super) fn kernel(&mut self, operation: ArrayOperation, pattern: &[Variable], mut way: Way) {
        if let Some(stencil) = way.stencil.take() {
            return self.kernel_of_stencil((operation, &stencil), pattern, way);
        }
        if let Some(blocks) = self.blocking(&operation, way.parallelism) {
            return self.kernel_in_blocks((operation, &blocks), pattern, way);
        }
        match self.segmented_reduction(&operation, way.parallelism) {
            Some(rows) => self.kernel_of_segmented_reduction((operation, &rows), pattern, way),
            None => self.kernel_of_indices(operation, pattern, way),
        }
    }

    /// Writes such a kernel without blocks, halo tiles and segmented reductions.
    pub(super) fn kernel_of_indices(
        &mut self,
        mut operation: ArrayOperation,
        pattern: &[Variable],
        mut way: Way,
    ) {
        if let Some(inside) = way.inside.take() {
            let few = self.are_few_threads(&operation);
            let inside = self.completed(inside, &operation);
            return self.choose_way(
                pattern,
                few,
                |code, own| {
                    code.push(own, Expression::Operation(inside));
                },
                |code, own| code.kernel_of_indices(operation, &own, way),
            );
        }
        if makes_apart(&operation) {
            operation.level = Level::Grid;
            return self.push(pattern.to_vec(), Expression::Operation(operation));
        }
        if self.has_lanes(&operation, way.parallelism) {
            return self.reduce_in_lanes(operation, pattern, way.parallelism);
        }
        if self.has_tiles(&operation, way.parallelism) {
            return self.in_tiles(operation, pattern, way.parallelism);
        }
        if self.has_local_bins(&operation, way.parallelism) {
            return self.histogram_of_few_or_many(operation, pattern, way);
        }
        self.grid(operation, pattern, way);
    }

    /// Gives an operation whose body is parallelised the outputs and start values of another one.
    pub(super) fn completed(
        &mut self,
        mut inside: ArrayOperation,
        operation: &ArrayOperation,
    ) -> ArrayOperation {
        inside.outputs = self.fresh_outputs(&operation.outputs);
        let starts = operation.carries.iter().map(|(_, start)| *start);
        let carries = inside.carries.iter_mut();
        carries
            .zip(starts)
            .for_each(|(carry, start)| carry.1 = start);
        inside
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

    /// Adds arrays over the whole space, which are joined from the chunks.
    pub(super) fn join_all(&mut self, arrays: Vec<Variable>, bounds: &Bounds, grid: &mut Grid) {
        for array in arrays {
            let mut extents = grid.shape.clone();
            if let Some(outermost) = extents.first_mut() {
                *outermost = bounds.length;
            }
            let values = self.like(array, extents);
            grid.outputs.push(Output::Join {
                shape: grid.shape.clone(),
            });
            grid.pattern.push(array);
            grid.made.push(values);
            grid.results.extend([bounds.first, Atom::Variable(values)]);
        }
    }

    /// Adds an output of the operation, which gives `own`, in a chunk with these bounds.
    pub(super) fn parallelise_output(
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

    /// Writes an operation that runs only over the `length` indices from `first` on, in its first
    /// dimension.
    pub(super) fn restrict(
        &mut self,
        operation: ArrayOperation,
        bounds: &Bounds,
        pattern: Vec<Variable>,
    ) {
        self.restrict_in_steps(operation, bounds, None, pattern);
    }

    /// Writes an operation that runs only over the `length` indices `first`, `first + step`, … of its
    /// first dimension. Without a step the indices are neighbours.
    pub(super) fn restrict_in_steps(
        &mut self,
        mut operation: ArrayOperation,
        bounds: &Bounds,
        step: Option<Atom>,
        pattern: Vec<Variable>,
    ) {
        let own = self.fresh("i", Scalar::I64);
        if let (Some(extent), Some(index)) =
            (operation.shape.first_mut(), operation.indices.first_mut())
        {
            *extent = bounds.length;
            let whole = std::mem::replace(index, own);
            let (mut statements, ()) = self.apart(|code| {
                let distance = match step {
                    None => Atom::Variable(own),
                    Some(step) => code.scalar(ScalarOperation::Multiply, Atom::Variable(own), step),
                };
                let sum = Expression::Scalar {
                    operation: ScalarOperation::Add,
                    operand: Scalar::I64,
                    arguments: vec![bounds.first, distance],
                };
                code.push(vec![whole], sum);
            });
            statements.append(&mut operation.body.statements);
            operation.body.statements = statements;
        }
        self.push(pattern, Expression::Operation(operation));
    }

    /// Reduces the partial results of the chunks.
    pub(super) fn reduce_partial(&mut self, grid: Grid) {
        if grid.reductions.is_empty() {
            return;
        }
        let operation = self.reduction_of(&grid.partial, grid.count, grid.reductions);
        self.push(grid.reduced, Expression::Operation(operation));
    }

    /// Returns the operation that reduces the `count` elements of arrays by `reductions`, which consume
    /// one array for each component.
    pub(super) fn reduction_of(
        &mut self,
        arrays: &[Variable],
        count: Atom,
        reductions: Vec<Output>,
    ) -> ArrayOperation {
        let index = self.fresh("chunk", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let arrays = arrays.iter();
            let results: Vec<Atom> = arrays
                .map(|array| code.element(*array, Atom::Variable(index)))
                .collect();
            results
        });
        ArrayOperation {
            shape: vec![count],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements,
                results,
            },
            outputs: reductions,
        }
    }
}
