//! The loops over rows of lanes: their elements, those of one row, and those that fill no row.

use crate::accumulators::{Kind, Reduction, RowLanes, zero};
use crate::output::Output;
use crate::outputs::consume_all;
use crate::prefetch::{Ahead, prefetch_row};
use crate::rows::start_rows;
use crate::source::name_of;
use crate::space::{Rows, Space};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Variable};

/// The parameters of the loops over rows.
pub(crate) struct RowLoops<'a> {
    pub(crate) operation: &'a flat::ArrayOperation,
    /// The number of lanes.
    pub(crate) width: i64,
    /// True if elements that fill no row are folded ([`crate::space::ShortRows::Steady`]).
    pub(crate) steady: bool,
    pub(crate) outputs: Vec<Output<'a>>,
    /// The index of the innermost dimension.
    pub(crate) index: flat::Variable,
    /// The indices of the other dimensions.
    pub(crate) outer: Vec<Expression>,
    pub(crate) space: Space,
}

/// Computes the element at an index and passes it to the outputs.
pub(crate) fn element_of_row<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    to: Rows,
    index: Variable,
) -> Result<()> {
    let index = Expression::Variable(index);
    cx.bind_simple(rows.index, index.clone())?;
    rows.space.indices = rows.outer.iter().cloned().chain([index]).collect();
    rows.space.rows = to;
    cx.body(&rows.operation.body, |cx, results| {
        consume_all(cx, rows.operation, &rows.outputs, results, &rows.space)
    })?;
    Ok(())
}

/// Writes the loop over a row of `count` elements from `start`. It prefetches elements of later rows.
pub(crate) fn row_loop<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    start: Expression,
    count: Expression,
    ahead: Option<Ahead>,
) -> Result<()> {
    let lane = cx.add_variable("lane", INDEX);
    let (code, index) = cx.nested(|cx| {
        let index = start.clone().plus(Expression::Variable(lane));
        let name = name_of(cx.source, rows.index);
        let index = cx.declare(name, INDEX, index);
        let lane = Expression::Variable(lane);
        element_of_row(cx, rows, Rows::At { lane }, index)?;
        Ok(index)
    })?;
    let place = rows.space.place.clone();
    if let Some(ahead) = ahead {
        prefetch_row(cx, &code, index, &start, ahead, &place);
    }
    cx.emit(Command::sequential(lane, count, code, &place));
    Ok(())
}

/// Sets the lanes of all reductions to the identities.
pub(crate) fn start_lanes(out: &mut Writer, rows: &RowLoops<'_>) -> Result<()> {
    for output in &rows.outputs {
        if let Output::Reduction(reduction) = output {
            start_rows(out, reduction, &rows.space.place)?;
        }
    }
    Ok(())
}

/// Folds so many elements from an index on from left to right, in one loop whose end is the only branch
/// that depends on their number. The additions of an iteration overlap with the loads of the next ones.
pub(crate) fn fold<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    (start, count): (Expression, Expression),
    ahead: Option<Ahead>,
) -> Result<()> {
    let name = name_of(cx.source, rows.index);
    let place = rows.space.place.clone();
    let number = cx.add_variable(name.clone(), INDEX);
    let (body, index) = cx.nested(|cx| {
        let index = match start == zero() {
            true => number,
            false => {
                let index = start.clone().plus(Expression::Variable(number));
                cx.declare(name, INDEX, index)
            }
        };
        element_of_row(cx, rows, Rows::Alone, index)?;
        Ok(index)
    })?;
    if let Some(ahead) = ahead {
        prefetch_row(cx, &body, index, &start, ahead, &place);
    }
    cx.emit(Command::sequential(number, count, body, &place));
    Ok(())
}

/// Returns the lanes of an output and their types, if it is a reduction with lanes.
pub(crate) fn row_lanes<'o>(
    output: &'o mut Output<'_>,
) -> Option<(&'o [Scalar], &'o mut RowLanes)> {
    match output {
        Output::Reduction(Reduction {
            scalars,
            kind: Kind::Rows(lanes),
            ..
        }) => Some((scalars, lanes)),
        _others => None,
    }
}
