//! The index space of an operation, as its outputs see it.

use crate::writer::{INDEX, Result, Writer};
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Expression, Variable};

/// The index space of an operation, as the outputs see it.
pub(crate) struct Space {
    /// The index in each dimension.
    pub(crate) indices: Vec<Expression>,
    /// The number of indices; simple if the operation has ordered outputs.
    pub(crate) count: Expression,
    /// The number of the index in row-major order; simple.
    pub(crate) number: Expression,
    /// True if threads run the indices in parallel.
    pub(crate) parallel: bool,
    /// The way in which rows of lanes are filled.
    pub(crate) rows: Rows,
    /// The place of the operation in the source.
    pub(crate) place: Place,
}

impl Space {
    /// Returns a space for outputs that need no number of an index.
    pub(crate) fn unordered(extents: &[Expression], rows: Rows, place: &Place) -> Space {
        Space {
            indices: Vec::new(),
            count: extents
                .iter()
                .cloned()
                .fold(Expression::index(1), Expression::times),
            number: Expression::index(0),
            parallel: false,
            rows,
            place: place.clone(),
        }
    }
}

/// The way in which an operation fills the lanes of its reductions ([`crate::lanes`]).
#[derive(Clone)]
pub(crate) enum Rows {
    /// Not row by row.
    None,
    /// Row by row.
    Of(LaneSchedule),
    /// Row by row, with the lane of the current element.
    At { lane: Expression },
    /// The current element is combined with the result, not with a lane.
    Alone,
    /// The current element is stored at this index of the fixed-size block.
    FixedBlock { lane: Expression },
}

/// The schedule by which lanes are filled row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneSchedule {
    /// True if the space is one block.
    pub(crate) whole: bool,
    /// The number of lanes, a power of two.
    pub(crate) width: u32,
    /// The path for short rows.
    pub(crate) short: ShortRows,
}

/// The path for short rows inside another loop ([`crate::fixed_blocks`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShortRows {
    /// The same as for long rows.
    AsLong,
    /// A fold from left to right.
    Fold,
    /// Rows of few lanes ([`crate::few_rows`]). All reductions have the same length, so that branches on it
    /// are predicted. What is left behind rows of any number of lanes is folded.
    Steady,
    /// A reduction of a fixed-size block by this operation, where elements allow it.
    FixedBlock(ScalarOperation),
}

/// Returns the first `count` elements of a list, and the others.
pub(crate) fn split<T>(list: &[T], count: usize) -> Result<(&[T], &[T])> {
    list.split_at_checked(count)
        .ok_or_else(|| internal("an operation with too few results"))
}

/// Returns the only variable of a pattern.
pub(crate) fn single(pattern: &[flat::Variable]) -> Result<flat::Variable> {
    match pattern {
        [variable] => Ok(*variable),
        _ => Err(internal("a pattern of the wrong length")),
    }
}

/// Returns the space of an operation. Several dimensions have a counter if an output needs the number of
/// an index.
pub(crate) fn space_of(
    out: &mut Writer,
    operation: &flat::ArrayOperation,
    extents: &[Expression],
    indices: &[Variable],
    place: &Place,
) -> Result<(Space, Option<Variable>)> {
    let mut space = Space::unordered(extents, Rows::None, place);
    space.parallel = operation.level == flat::Level::Grid;
    space.indices = indices.iter().map(|v| Expression::Variable(*v)).collect();
    if let [index] = indices {
        space.number = Expression::Variable(*index);
        return Ok((space, None));
    }
    let ordered = operation.outputs.iter().any(|o| match o {
        flat::Output::Reduce { .. } => true,
        flat::Output::Map => false,
        flat::Output::Scatter { positions, .. } => !positions.are_orderless(),
        flat::Output::Scan { .. }
        | flat::Output::Filter { .. }
        | flat::Output::Histogram { .. }
        | flat::Output::Collect { .. } => true,
        flat::Output::Join { .. } => false,
    });
    if !ordered {
        return Ok((space, None));
    }
    space.count = out.simplify(space.count, "count", INDEX);
    let counter = out.declare("number", INDEX, Expression::index(0));
    space.number = Expression::Variable(counter);
    Ok((space, Some(counter)))
}
