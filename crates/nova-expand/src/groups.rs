//! Maps whose elements are reductions over rows of varying length, computed for [`PARTIAL_LANES`] rows at a
//! time. First the elements of each row, if it is short ([`crate::fixed_blocks`]), are combined down to
//! [`PARTIAL_LANES`] partial results. Then all rows are combined together, which vector instructions do with
//! one transposition instead of many sums across lanes. At last one loop computes for all rows what follows
//! the reductions. Rows at the end, and groups with a long row, are reduced like all others, with the same
//! values.

use crate::accumulators::{Kind, Reduction, zero};
use crate::env::Env;
use crate::fixed_blocks::{fill_block, tree_reduce};
use crate::grouping::{
    GroupMethod, Grouping, bind_group_row, combine_group, component_buffers, results_of_rows,
    rows_alone, start_scalars,
};
use crate::lanes::{lane_schedule, operation_of_all};
use crate::loops::{each, groups_of};
use crate::nest::Nest;
use crate::output::Output;

use crate::row_loops::RowLoops;
use crate::row_strips::{operation_in_strips, start_map, strip_facts};
use crate::space::{LaneSchedule, Rows, ShortRows, Space, split};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::operators::by_component;
use nova_loop::error::internal;
use nova_loop::ir::{Combined, Command, Expression, FIXED_BLOCK, PARTIAL_LANES, Type, Variable};

/// Returns an operation as a map of reductions over rows, if it is one.
pub(crate) fn grouping_of<'a>(
    cx: &mut Translator<'a>,
    map: &'a flat::ArrayOperation,
) -> Option<Grouping<'a>> {
    let nest = Nest::of(map)?;
    let ([index], [inner]) = (&map.indices[..], &nest.reduction.indices[..]) else {
        return None;
    };
    let [flat::Atom::Variable(length)] = nest.reduction.shape[..] else {
        return None;
    };
    let varies = nest.before.iter().any(|s| s.pattern.contains(&length));
    cx.loops += 1;
    let schedule = lane_schedule(cx, nest.reduction);
    cx.loops -= 1;
    let schedule = schedule?;
    let (method, operation) = match schedule.short {
        ShortRows::FixedBlock(operation) => (GroupMethod::Rows(schedule), operation),
        ShortRows::Fold => {
            let operation = operation_of_all(cx.source, nest.reduction)?;
            (
                GroupMethod::Strips(strip_facts(cx, map, &nest, *inner)?),
                operation,
            )
        }
        ShortRows::AsLong | ShortRows::Steady => return None,
    };
    (varies && !cx.recursive).then_some(Grouping {
        map,
        method,
        operation,
        index: *index,
        inner: *inner,
        length: flat::Atom::Variable(length),
        nest,
    })
}

/// Translates a map of reductions over rows in groups. Returns true if that is possible.
pub(crate) fn operation_in_groups<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<bool> {
    let schedule = match &grouping.method {
        GroupMethod::Rows(schedule) => *schedule,
        GroupMethod::Strips(facts) => {
            operation_in_strips(cx, grouping, facts, pattern, place)?;
            return Ok(true);
        }
    };
    cx.flush_loads()?;
    let begin = cx.add_variable("begin", INDEX);
    let first = Expression::Variable(begin);
    let longest = cx.add_variable("longest", INDEX);
    cx.loops += 1;
    let rows = (&first, &Expression::Variable(longest));
    let (mut together, partials) =
        cx.nested(|cx| partials_of_rows(cx, grouping, schedule, rows, place))?;
    cx.loops -= 1;
    let Some(partials) = partials else {
        return Ok(false);
    };
    let (extent, outputs) = start_map(cx, grouping.map, pattern, place)?;
    cx.loops += 1;
    let size = Expression::index(i64::from(PARTIAL_LANES));
    let count = groups_of(extent.clone(), i64::from(PARTIAL_LANES));
    each(cx, "group", count, place, |cx, number| {
        cx.emit(Command::declare(begin, number.times(size.clone())));
        let full = longest_row(cx, grouping, (&first, longest), &extent, place)?;
        let (code, ()) =
            cx.nested(|cx| results_of_rows(cx, grouping, &partials, &outputs, &first, place))?;
        together.extend(code);
        let left = extent.clone().minus(first.clone());
        let count = left.compare(ScalarOperation::Minimum, size);
        let (alone, ()) =
            cx.nested(|cx| rows_alone(cx, grouping, &outputs, (&first, count), place))?;
        let limit = Expression::index(i64::from(FIXED_BLOCK));
        let short = Expression::Variable(longest).compare(ScalarOperation::LessEqual, limit);
        cx.emit(Command::If {
            condition: Expression::Variable(full).and(short),
            then: together,
            otherwise: alone,
        });
        Ok(())
    })?;
    cx.loops -= 1;
    Ok(true)
}

/// Computes the number of elements of the longest row of a group, or a number that is too large if the
/// group is not full. Returns the variable that says whether it is full. It shows that all rows of the
/// group exist.
fn longest_row<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    (first, longest): (&Expression, Variable),
    extent: &Expression,
    place: &Place,
) -> Result<Variable> {
    let too_many = Expression::index(i64::from(FIXED_BLOCK) + 1);
    cx.emit(Command::declare(longest, too_many));
    let size = Expression::index(i64::from(PARTIAL_LANES));
    let end = first.clone().plus(size.clone());
    let is_full = end.compare(ScalarOperation::LessEqual, extent.clone());
    let full = cx.declare("full", Type::Scalar(Scalar::Bool), is_full);
    cx.when(Expression::Variable(full), |cx| {
        cx.assign(longest, zero());
        each(cx, "k", size, place, |cx, k| {
            bind_group_row(cx, grouping, first, k, place)?;
            cx.scope(|cx| {
                cx.statements(grouping.nest.before)?;
                let length = cx.scalar(grouping.length)?;
                let longer = Expression::Variable(longest);
                let longer = longer.compare(ScalarOperation::Maximum, length);
                cx.assign(longest, longer);
                Ok(())
            })
        })
    })?;
    Ok(full)
}

/// Combines the elements of the rows from `first` on to one for each row; the longest row has `longest`
/// elements. Returns the local arrays of the results, for each component of each reduction, or `None` if
/// the elements do not allow it. If all rows are empty there is nothing to combine.
fn partials_of_rows<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    schedule: LaneSchedule,
    (first, longest): (&Expression, &Expression),
    place: &Place,
) -> Result<Option<Vec<Vec<Variable>>>> {
    let partials = component_buffers(cx, "parts", grouping, FIXED_BLOCK)?;
    let size = Expression::index(i64::from(PARTIAL_LANES));
    let (otherwise, done) = cx.nested(|cx| {
        let mut done = true;
        each(cx, "k", size.clone(), place, |cx, k| {
            bind_group_row(cx, grouping, first, k.clone(), place)?;
            cx.scope(|cx| {
                cx.statements(grouping.nest.before)?;
                let to = k.times(size.clone());
                done = partials_of_row(cx, grouping, schedule, &partials, to, place)?;
                Ok(())
            })
        })?;
        combine_group(cx, grouping, &partials);
        Ok(done)
    })?;
    let (then, ()) = cx.nested(|cx| {
        each(cx, "k", size, place, |cx, k| {
            identities_of_empty_row(cx, grouping, &partials, &k)
        })
    })?;
    cx.emit(Command::If {
        condition: longest.clone().compare(ScalarOperation::Equal, zero()),
        then,
        otherwise,
    });
    Ok(done.then_some(partials))
}

/// Writes the identities of the operators as the results of an empty row, row `k` of a group.
fn identities_of_empty_row(
    out: &mut Writer,
    grouping: &Grouping<'_>,
    partials: &[Vec<Variable>],
    k: &Expression,
) -> Result<()> {
    for (output, partials) in grouping.nest.reduction.outputs.iter().zip(partials) {
        let flat::Output::Reduce { lambda, .. } = output else {
            return Err(internal("rows of what is no reduction"));
        };
        let Some(operators) = by_component(lambda) else {
            return Err(internal("an empty row of an operator without identity"));
        };
        for (operator, partial) in operators.iter().zip(partials) {
            out.set_element(*partial, k.clone(), Expression::Constant(operator.identity));
        }
    }
    Ok(())
}

/// Combines the elements of one row to partial results, from element `to` on of `partials`.
fn partials_of_row<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    schedule: LaneSchedule,
    partials: &[Vec<Variable>],
    to: Expression,
    place: &Place,
) -> Result<bool> {
    let reduction = grouping.nest.reduction;
    let length = cx.simple(grouping.length)?;
    let space = Space::unordered(std::slice::from_ref(&length), Rows::Of(schedule), place);
    let mut rows = RowLoops {
        operation: reduction,
        width: 0,
        steady: false,
        outputs: plain_reductions(cx, &grouping.nest)?,
        index: grouping.inner,
        outer: Vec::new(),
        space,
    };
    if !fill_block(cx, &mut rows, &length, grouping.operation)? {
        return Ok(false);
    }
    for (output, partials) in rows.outputs.iter().zip(partials) {
        let Output::Reduction(Reduction {
            kind: Kind::Rows(lanes),
            scalars,
            ..
        }) = output
        else {
            return Err(internal("rows of what is no reduction"));
        };
        tree_reduce(cx, &lanes.fixed_block, grouping.operation, Combined::Lanes);
        for ((block, partial), element) in lanes.fixed_block.iter().zip(partials).zip(scalars) {
            cx.emit(Command::Copy {
                to: Expression::offset(*partial, to.clone()),
                from: Expression::Variable(*block),
                element: *element,
                count: Expression::index(i64::from(PARTIAL_LANES)),
            });
        }
    }
    Ok(true)
}

/// Returns the reductions of a nest, without accumulators.
fn plain_reductions<'a>(env: &mut Env<'a>, nest: &Nest<'a>) -> Result<Vec<Output<'a>>> {
    let mut outputs = Vec::with_capacity(nest.reduction.outputs.len());
    let mut rest = nest.results;
    for output in &nest.reduction.outputs {
        let (pattern, others) = split(rest, output.gives())?;
        rest = others;
        let flat::Output::Reduce { lambda, .. } = output else {
            return Err(internal("rows of what is no reduction"));
        };
        let operators = by_component(lambda).unwrap_or_default();
        let scalars = start_scalars(env.source, output)?;
        outputs.push(Output::Reduction(Reduction::in_lanes(
            lambda,
            pattern,
            &scalars,
            Vec::new(),
            &operators,
        )));
    }
    Ok(outputs)
}
