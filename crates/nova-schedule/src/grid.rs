//! A grid under construction: what its chunks begin with, the joins that make the whole, and the
//! reduction of the partial results of the chunks.

use crate::chunks::Bounds;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Lambda, Level, Output, Statement, Variable};

/// The values with which the chunks of an output begin, by chunk.
pub(crate) enum Begin {
    /// The output does not depend on other chunks.
    Alone,
    /// For a scan, the running result, for each component.
    Scan(Vec<Variable>),
    /// For a strict scan, the running result at the beginning of each block, for each component.
    Blocks(Vec<Variable>),
    /// For a filter, the index of the first survivor.
    Filter(Variable),
    /// For a histogram, the number of bins of all chunks together.
    Bins(Atom),
}

/// The values with which the chunks of an operation begin: the running result of each carry, by chunk,
/// and those of each output.
pub(crate) struct Begins {
    pub(crate) carries: Vec<Variable>,
    pub(crate) outputs: Vec<Begin>,
}

/// The two steps before the grid, under construction.
pub(crate) struct Steps {
    /// The number of chunks.
    pub(crate) count: Atom,
    /// Statements after the body of a chunk, which count survivors.
    pub(crate) flags: Vec<Statement>,
    /// The results of the body of a chunk, and their reductions.
    pub(crate) values: Vec<Atom>,
    pub(crate) reductions: Vec<Output>,
    /// The partial results of the chunks.
    pub(crate) partial: Vec<Variable>,
    /// The sequential pass over these: which of them each output consumes, the outputs, and the
    /// variables that they bind.
    pub(crate) consumed: Vec<usize>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) pattern: Vec<Variable>,
}

/// The bins of all chunks for one output.
pub(crate) struct Bins {
    pub(crate) lambda: Lambda,
    pub(crate) bins: Atom,
    /// For each component, the concatenated bins of the chunks.
    pub(crate) partial: Vec<Variable>,
    /// The variables of the combined bins.
    pub(crate) combined: Vec<Variable>,
}

/// A grid under construction.
pub(crate) struct Grid {
    /// The number of a chunk, and the number of chunks.
    pub(crate) chunk: Variable,
    pub(crate) count: Atom,
    /// The extents of the whole operation.
    pub(crate) shape: Vec<Atom>,
    /// The indices of the chunk.
    pub(crate) bounds: Bounds,
    /// The variables that the operation of a chunk binds, the results of the grid's body, the outputs
    /// of the grid, and the variables that it binds.
    pub(crate) made: Vec<Variable>,
    pub(crate) results: Vec<Atom>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) pattern: Vec<Variable>,
    /// The arrays of the partial results of the chunks, their reductions, and the variables that these
    /// bind.
    pub(crate) partial: Vec<Variable>,
    pub(crate) reductions: Vec<Output>,
    pub(crate) reduced: Vec<Variable>,
    /// The histograms of the chunks.
    pub(crate) bins: Vec<Bins>,
    /// The starts and ends of rows.
    pub(crate) shifted: Vec<Shifted>,
}

/// Indices that count from the start of a chunk, the position of each chunk's first element in the
/// whole, and the indices that count from the start of the whole.
pub(crate) struct Shifted {
    pub(crate) local: Variable,
    pub(crate) begins: Variable,
    pub(crate) whole: Variable,
}

impl Steps {
    pub(crate) fn new(count: Atom) -> Steps {
        Steps {
            count,
            flags: Vec::new(),
            values: Vec::new(),
            reductions: Vec::new(),
            partial: Vec::new(),
            consumed: Vec::new(),
            outputs: Vec::new(),
            pattern: Vec::new(),
        }
    }
}

impl Grid {
    /// Begins the grid of `count` chunks of an operation of this shape, with the chunk of this number
    /// and these bounds.
    pub(crate) fn new((chunk, count): (Variable, Atom), shape: Vec<Atom>, bounds: Bounds) -> Grid {
        Grid {
            chunk,
            count,
            shape,
            bounds,
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

/// Adds arrays over the whole space, which are joined from the chunks.
pub(crate) fn join_all(code: &mut Writer, arrays: Vec<Variable>, grid: &mut Grid) {
    for array in arrays {
        let mut extents = grid.shape.clone();
        if let Some(outermost) = extents.first_mut() {
            *outermost = grid.bounds.length;
        }
        let values = code.like(array, extents);
        grid.outputs.push(Output::Join {
            shape: grid.shape.clone(),
        });
        grid.pattern.push(array);
        grid.made.push(values);
        grid.results
            .extend([grid.bounds.first, Atom::Variable(values)]);
    }
}

/// Writes an operation that runs only over the `length` indices from `first` on, in its first
/// dimension.
pub(crate) fn restrict(
    code: &mut Writer,
    operation: ArrayOperation,
    bounds: &Bounds,
    pattern: Vec<Variable>,
) {
    restrict_in_steps(code, operation, bounds, None, pattern);
}

/// Writes an operation that runs only over the `length` indices `first`, `first + step`, … of its
/// first dimension. Without a step the indices are neighbours.
pub(crate) fn restrict_in_steps(
    code: &mut Writer,
    mut operation: ArrayOperation,
    bounds: &Bounds,
    step: Option<Atom>,
    pattern: Vec<Variable>,
) {
    let own = code.fresh("i", Scalar::I64);
    if let (Some(extent), Some(index)) =
        (operation.shape.first_mut(), operation.indices.first_mut())
    {
        *extent = bounds.length;
        let whole = std::mem::replace(index, own);
        let (mut statements, ()) = code.apart(|code| {
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
    code.push(pattern, Expression::Operation(operation));
}

/// Reduces the partial results of the chunks.
pub(crate) fn reduce_partial(code: &mut Writer, grid: Grid) {
    if grid.reductions.is_empty() {
        return;
    }
    let operation = reduction_of(code, &grid.partial, grid.count, grid.reductions);
    code.push(grid.reduced, Expression::Operation(operation));
}

/// Returns the operation that reduces the `count` elements of arrays by `reductions`, which consume
/// one array for each component.
pub(crate) fn reduction_of(
    code: &mut Writer,
    arrays: &[Variable],
    count: Atom,
    reductions: Vec<Output>,
) -> ArrayOperation {
    let index = code.fresh("chunk", Scalar::I64);
    let body = code.body(|code| {
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
        body,
        outputs: reductions,
    }
}

/// Gives an operation whose body is parallelised the outputs and start values of another one.
pub(crate) fn completed(
    code: &mut Writer,
    mut inside: ArrayOperation,
    operation: &ArrayOperation,
) -> ArrayOperation {
    inside.outputs = code.fresh_outputs(&operation.outputs);
    let starts = operation.carries.iter().map(|(_, start)| *start);
    let carries = inside.carries.iter_mut();
    carries
        .zip(starts)
        .for_each(|(carry, start)| carry.1 = start);
    inside
}
