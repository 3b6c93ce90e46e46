//! Operations whose reductions commute, as loops that C compilers turn into vector instructions.
//!
//! The innermost dimension is split into blocks of 1024 elements, and these into rows of 32. A row's
//! elements go to 32 lanes, so that the loop over a row has a constant length and independent
//! iterations. Elements that do not fill a row have a loop of their own. Lanes start as the identity of
//! their operator, so incomplete rows need no special treatment. This is the order of docs/order.md, with
//! longer blocks where it need not be strict. The whole space is one block where the order makes no
//! difference, and where a block is known to hold all elements.

use crate::env::Env;
use crate::fixed_blocks::short_or_long;
use crate::limits::STATEMENTS_OF_LANES;
use crate::loops::wrap;
use crate::output::Output;
use crate::outputs::{finish_output, start_outputs};
use crate::prefetch::Ahead;
use crate::row_loops::{RowLoops, fold, row_loop, start_lanes};
use crate::rows::end_rows;
use crate::space::{LaneSchedule, Rows, ShortRows, Space};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::ir::Bracketing;
use nova_flat::operators::by_component;
use nova_flat::visit::each_statement;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Variable, tree_reduces};
use nova_machine::{Machine, PROCESSOR, figures};

/// The size of a block where the order is free.
const FREE_BLOCK: usize = figures::ROWS.free_blocks * BLOCK;

/// Returns the schedule by which an operation fills lanes row by row, if it does.
pub(crate) fn lane_schedule(
    env: &Env<'_>,
    operation: &flat::ArrayOperation,
) -> Option<LaneSchedule> {
    if !operation.carries.is_empty() || !is_simple(&operation.body) {
        return None;
    }
    let most = match operation.shape[..] {
        [count] => env.facts.greatest.of(count),
        _ => None,
    };
    let one_block = most.is_some_and(|most| most <= block_size(env));
    let mut whole = true;
    let mut float = false;
    let mut all_exact = true;
    let mut only = true;
    let mut operations = Vec::new();
    for output in &operation.outputs {
        match output {
            flat::Output::Map => only = false,
            flat::Output::Reduce {
                lambda,
                start,
                commutes,
                bracketing,
            } => {
                // A lane schedule includes the start value, so it needs a whole reduction.
                if *bracketing != Bracketing::Whole {
                    return None;
                }
                let operators = by_component(lambda)?;
                let exact = operators.iter().all(|operator| operator.exact);
                if env.program.strict && !commutes && !exact {
                    return None;
                }
                let scalars = start.iter().filter_map(|s| env.source.scalar_of(*s));
                let scalars: Vec<Scalar> = scalars.collect();
                all_exact &= exact;
                let all = operators.iter().zip(&scalars);
                operations.extend(all.map(|(o, scalar)| (o.operation, *scalar)));
                float |= scalars.iter().any(|scalar| scalar.is_float());
                // Lanes of doubles are precise enough for any number of elements.
                let precise = scalars.iter().all(|scalar| *scalar != Scalar::F32);
                whole &= exact || (precise && !env.program.strict);
            }
            flat::Output::Scan { .. }
            | flat::Output::Filter { .. }
            | flat::Output::Scatter { .. }
            | flat::Output::Histogram { .. }
            | flat::Output::Collect { .. }
            | flat::Output::Join { .. } => return None,
        }
    }
    // Compilers vectorise integers by themselves. The order is that of numbers, not of dimensions.
    let ordered = !whole && operation.shape.len() > 1;
    let checks = has_checks(&operation.body);
    let on_device = env.machine == Machine::Device;
    let width = match env.program.strict {
        true => LANES as u32,
        false if checks || on_device => PROCESSOR.independent_sums(),
        false => LANES as u32,
    };
    let any_order = all_exact || !env.program.strict;
    let inside = env.loops > 0 && operation.shape.len() == 1;
    let short = match checks {
        _ if !inside || on_device => ShortRows::AsLong,
        true if any_order => ShortRows::Fold,
        true => ShortRows::AsLong,
        false if any_order && env.facts.has_steady_extents(operation) => ShortRows::Steady,
        false => one_operation(&operations)
            .filter(|_| only)
            .map_or(ShortRows::AsLong, ShortRows::FixedBlock),
    };
    (float && !ordered).then_some(LaneSchedule {
        whole: whole || one_block,
        width,
        short,
    })
}

/// Returns the operation of all components of all reductions, if they have the same one and tree
/// reductions support it.
pub(crate) fn operation_of_all(
    source: &flat::Program,
    operation: &flat::ArrayOperation,
) -> Option<ScalarOperation> {
    let mut operations = Vec::new();
    for output in &operation.outputs {
        let flat::Output::Reduce { lambda, start, .. } = output else {
            return None;
        };
        let scalars = start.iter().filter_map(|s| source.scalar_of(*s));
        operations.extend(
            by_component(lambda)?
                .iter()
                .map(|o| o.operation)
                .zip(scalars),
        );
    }
    one_operation(&operations)
}

/// Translates an operation that fills lanes row by row.
pub(crate) fn operation_in_rows<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    schedule: LaneSchedule,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    let extents = cx.simple_values(&operation.shape)?;
    let Some((inner, outer)) = extents.split_last() else {
        return Err(internal("an operation without dimensions"));
    };
    let Some((inner_index, outer_indices)) = operation.indices.split_last() else {
        return Err(internal("an operation without indices"));
    };
    let outer_variables = cx.bind_indices(outer_indices)?;
    let space = Space::unordered(&extents, Rows::Of(schedule), place);
    let outputs = start_outputs(cx, operation, pattern, &space)?;
    cx.flush_loads()?;
    let mut rows = RowLoops {
        operation,
        width: i64::from(schedule.width),
        steady: schedule.short == ShortRows::Steady,
        outputs,
        index: *inner_index,
        outer: outer_variables
            .iter()
            .map(|v| Expression::Variable(*v))
            .collect(),
        space,
    };
    short_or_long(cx, schedule, &mut rows, inner, |cx, rows| {
        if !schedule.whole {
            return loop_over_blocks(cx, rows, inner);
        }
        start_lanes(cx, rows)?;
        let (code, ()) =
            cx.nested(|cx| loop_over_rows(cx, rows, Expression::index(0), inner.clone()))?;
        wrap(cx, outer, &outer_variables, code, place);
        end_lanes(cx, rows, Expression::index(0))
    })?;
    for output in rows.outputs {
        finish_output(cx, output, place)?;
    }
    Ok(())
}

/// Returns the number of elements of a block.
fn block_size(out: &Writer) -> i64 {
    match out.program.strict {
        true => BLOCK as i64,
        false => FREE_BLOCK as i64,
    }
}

/// Writes the loop over the blocks of a one-dimensional space.
fn loop_over_blocks<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    count: &Expression,
) -> Result<()> {
    let block_size = block_size(cx);
    let size = Expression::index(block_size);
    let last = Expression::index(block_size - 1);
    let shift = Expression::index(i64::from(block_size.trailing_zeros()));
    let block = cx.add_variable("block", INDEX);
    let blocks = count
        .clone()
        .plus(last)
        .compare(ScalarOperation::ShiftRight, shift);
    let (code, ()) = cx.nested(|cx| {
        let number = Expression::Variable(block);
        let base = cx.declare("base", INDEX, number.clone().times(size.clone()));
        let base = Expression::Variable(base);
        let left = count.clone().minus(base.clone());
        let length = left.compare(ScalarOperation::Minimum, size);
        let length = cx.declare("length", INDEX, length);
        start_lanes(cx, rows)?;
        loop_over_rows(cx, rows, base, Expression::Variable(length))?;
        end_lanes(cx, rows, number)
    })?;
    let place = rows.space.place.clone();
    wrap(cx, &[blocks], &[block], code, &place);
    Ok(())
}

/// Writes the loop over the rows of `length` elements from `base`, and that over the remaining elements.
fn loop_over_rows<'a>(
    cx: &mut Translator<'a>,
    rows: &mut RowLoops<'a>,
    base: Expression,
    length: Expression,
) -> Result<()> {
    let width = Expression::index(rows.width);
    let shift = Expression::index(i64::from(rows.width.trailing_zeros()));
    let count = length.clone().compare(ScalarOperation::ShiftRight, shift);
    let row = cx.add_variable("row", INDEX);
    let start = base
        .clone()
        .plus(Expression::Variable(row).times(width.clone()));
    let ahead = Ahead::of(rows.width);
    let (code, ()) = cx.nested(|cx| row_loop(cx, rows, start, width, Some(ahead)))?;
    let place = rows.space.place.clone();
    wrap(cx, &[count], &[row], code, &place);
    let mask = Expression::index(rows.width - 1);
    let rest = length.clone().compare(ScalarOperation::BitAnd, mask);
    let rest = cx.declare("rest", INDEX, rest);
    let start = base.plus(length.minus(Expression::Variable(rest)));
    if rows.steady {
        let ahead = Ahead::of(rows.width);
        return fold(cx, rows, (start, Expression::Variable(rest)), Some(ahead));
    }
    // Operations inside others often have only this row.
    let may_be_alone = cx.loops > 0 && !cx.program.strict && rows.width == LANES as i64;
    let ahead = may_be_alone.then(|| Ahead::of(rows.width));
    row_loop(cx, rows, start, Expression::Variable(rest), ahead)?;
    if may_be_alone {
        fill_last_row(cx, rows, rest);
    }
    Ok(())
}

/// Changes the loop just written over the first `rest` lanes to a loop over all lanes, where the other
/// lanes keep their values. The loop must do nothing but store to lanes. For short rows a loop of
/// constant length, which needs no branches, is faster.
fn fill_last_row(out: &mut Writer, rows: &RowLoops<'_>, rest: Variable) {
    let lanes: Vec<Variable> = rows.outputs.iter().flat_map(Output::lanes).collect();
    let Some(Command::For {
        variable,
        count,
        body,
        ..
    }) = out.commands.last_mut()
    else {
        return;
    };
    let lane = || Expression::Variable(*variable);
    let only_stores = body.iter().all(|command| match command {
        Command::Declare { value: Some(v), .. } => !v.reads_memory(),
        Command::Store { pointer, index, .. } => {
            let is_lane = matches!(index, Expression::Variable(v) if v == variable);
            // Lanes are arrays that this translation has made.
            is_lane && !index.reads_memory() && lanes.contains(pointer)
        }
        _ => false,
    });
    if !only_stores {
        return;
    }
    let filled = lane().compare(ScalarOperation::Less, Expression::Variable(rest));
    let lane = lane();
    for command in body {
        if let Command::Store { pointer, value, .. } = command {
            let new = std::mem::replace(value, Expression::NullBlock);
            *value = Expression::Select {
                condition: Box::new(filled.clone()),
                then: Box::new(new),
                otherwise: Box::new(Expression::load(*pointer, lane.clone())),
            };
        }
    }
    *count = Expression::index(rows.width);
}

fn end_lanes<'a>(cx: &mut Translator<'a>, rows: &RowLoops<'a>, block: Expression) -> Result<()> {
    for output in &rows.outputs {
        if let Output::Reduction(reduction) = output {
            end_rows(cx, reduction, block.clone(), &rows.space.place)?;
        }
    }
    Ok(())
}

/// Returns the operation of all components, if they have the same one and tree reductions support it.
fn one_operation(operations: &[(ScalarOperation, Scalar)]) -> Option<ScalarOperation> {
    let (first, _) = *operations.first()?;
    let combined =
        |(o, scalar): &(ScalarOperation, Scalar)| *o == first && tree_reduces(*o, *scalar);
    operations.iter().all(combined).then_some(first)
}

/// True if an element may stop the program, so that elements are computed one by one.
fn has_checks(body: &flat::Body) -> bool {
    let mut found = false;
    each_statement(body, &mut |statement| {
        found |= matches!(statement.expression, flat::Expression::Check { .. });
    });
    found
}

/// True if a body contains no loops, calls or arrays, and is short.
fn is_simple(body: &flat::Body) -> bool {
    let mut count = 0;
    let mut simple = true;
    each_statement(body, &mut |statement| {
        count += 1;
        simple &= matches!(
            statement.expression,
            flat::Expression::Atom(_)
                | flat::Expression::Scalar { .. }
                | flat::Expression::Check { .. }
                | flat::Expression::Index { .. }
                | flat::Expression::View { .. }
                | flat::Expression::If { .. }
                | flat::Expression::Switch { .. }
        );
    });
    simple && count <= STATEMENTS_OF_LANES
}
