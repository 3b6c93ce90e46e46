//! The elements of the loops over rows of lanes.

use crate::output::Output;
use crate::outputs::consume_all;
use crate::space::{Rows, Space};
use crate::translator::Translator;
use crate::writer::Result;
use nova_flat::ir as flat;
use nova_loop::ir::{Expression, Variable};

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
