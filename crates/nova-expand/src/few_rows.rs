//! Short reductions whose number of elements is the same in all iterations of the loop around them. They fill
//! rows of as many lanes as fit a vector register, and fold what is left.

use crate::accumulators::{Kind, firsts, zero};
use crate::loops::wrap;
use crate::output::Output;
use crate::row_loops::{RowLoops, fold, row_lanes, row_loop, start_lanes};
use crate::rows::{combine_alone, join_lanes};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Expression, Level, Variable};
use nova_machine::PROCESSOR;

/// Writes a reduction of few elements.
pub(crate) fn reduce_few<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    count: &Expression,
) -> Result<()> {
    let width = i64::from(PROCESSOR.few_lanes);
    let shift = Expression::index(i64::from(width.trailing_zeros()));
    let full = count.clone().compare(ScalarOperation::ShiftRight, shift);
    let full = Expression::Variable(cx.declare("full", INDEX, full));
    let some = full.clone().compare(ScalarOperation::Greater, zero());
    cx.when(some, |cx| {
        let outer: Vec<(Vec<Variable>, u32)> = exchange_lanes(rows, |scalars| {
            let own = cx.buffers("few", scalars, PROCESSOR.few_lanes);
            (own, PROCESSOR.few_lanes)
        });
        let filled = fill_rows(cx, rows, full.clone());
        let mut outer = outer.into_iter();
        exchange_lanes(rows, |_| outer.next().unwrap_or_default());
        filled
    })?;
    let start = full.times(Expression::index(width));
    let mask = Expression::index(width - 1);
    let rest = count.clone().compare(ScalarOperation::BitAnd, mask);
    fold(cx, rows, (start, rest), None)
}

/// Gives each reduction other lanes; returns those that it had, with their number.
fn exchange_lanes(
    rows: &mut RowLoops<'_>,
    mut other: impl FnMut(&[Scalar]) -> (Vec<Variable>, u32),
) -> Vec<(Vec<Variable>, u32)> {
    let mut before = Vec::with_capacity(rows.outputs.len());
    for output in &mut rows.outputs {
        if let Some((scalars, lanes)) = row_lanes(output) {
            let (pointers, width) = other(scalars);
            let pointers = std::mem::replace(&mut lanes.lanes, pointers);
            before.push((pointers, std::mem::replace(&mut lanes.width, width)));
        }
    }
    before
}

/// Fills so many rows of lanes and combines them with the results.
fn fill_rows<'a>(cx: &mut Translator<'a>, rows: &mut RowLoops<'a>, full: Expression) -> Result<()> {
    start_lanes(cx, rows)?;
    let place = rows.space.place.clone();
    let width = Expression::index(i64::from(PROCESSOR.few_lanes));
    let row = cx.add_variable("row", INDEX);
    let (code, ()) = cx.nested(|cx| {
        let start = Expression::Variable(row).times(width.clone());
        row_loop(cx, rows, start, width, None)?;
        if let Some(Command::For { level, .. }) = cx.commands.last_mut() {
            *level = Level::Vector;
        }
        Ok(())
    })?;
    wrap(cx, &[full], &[row], code, &place);
    for output in &rows.outputs {
        if let Output::Reduction(reduction) = output
            && let Kind::Rows(lanes) = &reduction.kind
        {
            join_lanes(cx, reduction, lanes, &place)?;
            combine_alone(cx, reduction, lanes, firsts(&lanes.lanes))?;
        }
    }
    Ok(())
}
