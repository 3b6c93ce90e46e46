//! Strips of irregular rows: maps whose elements are reductions with checks over rows that are adjacent in
//! memory. The elements of a strip of rows are computed together into local arrays, across the ends of
//! rows, and the rows are reduced from there ([`crate::gathers`] computes the elements). An iteration
//! computes several elements, and all its checks come first, without a branch for each. If a check fails, or
//! if the rows of a strip are not adjacent or are long, they are computed one after the other, which finds
//! the first error.

use crate::accumulators::zero;
use crate::gathers::{full_iteration, last_iteration};
use crate::grouping::{
    BOOL, Grouping, Strip, StripFacts, bind_group_row, combine_group, component_buffers,
    results_of_rows, rows_alone,
};
use crate::loops::{each, groups_of};
use crate::nest::Nest;
use crate::output::Output;
use crate::outputs::start_outputs;
use crate::space::{Rows, Space};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::visit::used_variables;
use nova_loop::ir::{
    Command, Expression, FIXED_BLOCK, GATHER_WIDTH, PARTIAL_LANES, Type, Variable,
};
use nova_machine::{PROCESSOR, figures};
use std::collections::BTreeSet;

/// The number of rows of a strip, a multiple of [`PARTIAL_LANES`].
const ROWS: u32 = PROCESSOR.store_queue_rows;
/// The maximum number of elements of a strip: as many as the cache has room for, with eight bytes each.
const ELEMENTS: u32 = PROCESSOR.cached_elements(8) as u32;
/// The maximum number of components of the reductions.
const STRIP_COMPONENTS: usize = figures::ROWS.strip_components;

/// Returns the facts about a nest, if strips are possible. Its elements must depend on the row and on
/// their number in the row only through the sum of this number and the start of the row. The conditions
/// of its checks must be computable before any check.
pub(crate) fn strip_facts<'a>(
    out: &Writer,
    map: &'a flat::ArrayOperation,
    nest: &Nest<'a>,
    inner: flat::Variable,
) -> Option<StripFacts<'a>> {
    let statements = &nest.reduction.body.statements;
    let from = only_sums(statements, inner)?;
    let before = nest.before.iter().flat_map(|s| &s.pattern);
    let inside: BTreeSet<_> = before.chain(&map.indices).copied().collect();
    let mut apart = inside.contains(&from);
    for statement in statements {
        let is_sum = statement_uses(statement, inner);
        used_variables(&statement.expression, &mut |v| {
            apart &= !inside.contains(&v) || (is_sum && v == from);
        });
        // The body may use its own values, but must make no views.
        apart &= !matches!(statement.expression, flat::Expression::View { .. });
    }
    for result in &nest.reduction.body.results {
        apart &= !matches!(result, flat::Atom::Variable(v) if inside.contains(v) || *v == inner);
    }
    let components: usize = nest.reduction.outputs.iter().map(flat::Output::gives).sum();
    if !apart || out.program.strict || components > STRIP_COMPONENTS {
        return None;
    }
    let conditions = conditions(statements)?;
    let needed = needed_for(statements, &conditions)?;
    Some(StripFacts {
        from,
        needed,
        conditions,
    })
}

/// Prepares the outputs of the map of a nest, which bind the variables of `pattern`. Returns them after the
/// number of rows.
pub(crate) fn start_map<'a>(
    cx: &mut Translator<'a>,
    map: &'a flat::ArrayOperation,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<(Expression, Vec<Output<'a>>)> {
    let extents = cx.simple_values(&map.shape)?;
    let extent = extents.first().cloned().unwrap_or(zero());
    let space = Space::unordered(&extents, Rows::None, place);
    let outputs = start_outputs(cx, map, pattern, &space)?;
    cx.flush_loads()?;
    Ok((extent, outputs))
}

/// Translates a nest in strips.
pub(crate) fn operation_in_strips<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    facts: &StripFacts<'a>,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    let (extent, outputs) = start_map(cx, grouping.map, pattern, place)?;
    cx.loops += 1;
    let joins = cx.add_variable("joins", BOOL);
    cx.declare_later(joins);
    cx.emit(Command::PlanRows { joins });
    let rows = Expression::index(i64::from(ROWS));
    let count = groups_of(extent.clone(), i64::from(ROWS));
    each(cx, "strip", count, place, |cx, number| {
        let begin = cx.declare("begin", INDEX, number.times(rows.clone()));
        let begin = Expression::Variable(begin);
        let done = cx.declare("done", BOOL, Expression::bool(false));
        let end = begin.clone().plus(rows.clone());
        let is_full = end.compare(ScalarOperation::LessEqual, extent.clone());
        cx.when(Expression::Variable(joins).and(is_full), |cx| {
            full_strip(cx, grouping, facts, &outputs, (&begin, done), place)
        })?;
        let left = extent.clone().minus(begin.clone());
        let count = left.compare(ScalarOperation::Minimum, rows);
        cx.when(Expression::Variable(done).negated(), |cx| {
            rows_alone(cx, grouping, &outputs, (&begin, count), place)
        })
    })?;
    cx.loops -= 1;
    Ok(())
}

/// Writes the path for a strip with all its rows, which computes them together if they are adjacent.
fn full_strip<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    facts: &StripFacts<'a>,
    outputs: &[Output<'a>],
    (begin, done): (&Expression, Variable),
    place: &Place,
) -> Result<()> {
    let origin = cx.declare("origin", INDEX, zero());
    in_row(cx, grouping, begin, zero(), place, |cx| {
        let from = cx.scalar(flat::Atom::Variable(facts.from))?;
        cx.assign(origin, from);
        Ok(())
    })?;
    let gaps = cx.declare("gaps", INDEX, zero());
    let others = i64::from(ROWS) - 1;
    each(cx, "k", Expression::index(others), place, |cx, k| {
        let end = end_of_row(cx, grouping, facts, begin, k.clone(), place)?;
        let next = k.plus(Expression::index(1));
        in_row(cx, grouping, begin, next, place, |cx| {
            let from = cx.scalar(flat::Atom::Variable(facts.from))?;
            let gap = from.compare(ScalarOperation::BitXor, end);
            let gap = Expression::Variable(gaps).compare(ScalarOperation::BitOr, gap);
            cx.assign(gaps, gap);
            Ok(())
        })
    })?;
    let end = end_of_row(cx, grouping, facts, begin, Expression::index(others), place)?;
    let total = end.minus(Expression::Variable(origin));
    let total = Expression::Variable(cx.declare("total", INDEX, total));
    let most = Expression::index(i64::from(ELEMENTS));
    let fits = total.clone().compare(ScalarOperation::LessEqual, most);
    let follow = Expression::Variable(gaps).compare(ScalarOperation::Equal, zero());
    cx.when(follow.and(fits), |cx| {
        let strip = Strip {
            grouping,
            facts,
            begin,
            origin: Expression::Variable(origin),
            total,
            buffers: component_buffers(cx, "elements", grouping, ELEMENTS)?,
            fails: cx.declare("failed", BOOL, Expression::bool(false)),
            place,
        };
        elements_of_strip(cx, &strip)?;
        cx.when(Expression::Variable(strip.fails).negated(), |cx| {
            rows_of_strip(cx, &strip, outputs)?;
            cx.assign(done, Expression::bool(true));
            Ok(())
        })
    })
}

/// Returns the index after the last element of a row.
fn end_of_row<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    facts: &StripFacts<'a>,
    begin: &Expression,
    k: Expression,
    place: &Place,
) -> Result<Expression> {
    in_row(cx, grouping, begin, k, place, |cx| {
        let from = cx.scalar(flat::Atom::Variable(facts.from))?;
        let end = from.plus(cx.scalar(grouping.length)?);
        Ok(cx.simplify(end, "end", INDEX))
    })
}

/// Computes the elements of a strip: full iterations, and a last one for the remaining elements.
fn elements_of_strip<'a>(cx: &mut Translator<'a>, strip: &Strip<'_, 'a>) -> Result<()> {
    cx.bind_simple(strip.facts.from, strip.origin.clone())?;
    let width = || Expression::index(i64::from(GATHER_WIDTH));
    let shift = Expression::index(i64::from(GATHER_WIDTH.trailing_zeros()));
    let iterations = strip.total.clone();
    let iterations = iterations.compare(ScalarOperation::ShiftRight, shift);
    let iterations = cx.simplify(iterations, "rounds", INDEX);
    let number = cx.declare("round", INDEX, zero());
    let now = || Expression::Variable(number);
    cx.endless_loop(strip.place, |cx| {
        let end = now().compare(ScalarOperation::GreaterEqual, iterations.clone());
        cx.break_if(end);
        let first = cx.declare("first", INDEX, now().times(width()));
        full_iteration(cx, strip, &Expression::Variable(first), |cx| {
            cx.emit(Command::Break);
        })?;
        cx.assign(number, now().plus(Expression::index(1)));
        Ok(())
    })?;
    let first = cx.simplify(iterations.times(width()), "first", INDEX);
    let rest = strip.total.clone().minus(first.clone());
    last_iteration(cx, strip, &first, rest)
}

/// Reduces the rows of a strip and computes what follows the reductions.
fn rows_of_strip<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    outputs: &[Output<'a>],
) -> Result<()> {
    let groups = Expression::index(i64::from(ROWS / PARTIAL_LANES));
    each(cx, "group", groups, strip.place, |cx, group| {
        let first = group.times(Expression::index(i64::from(PARTIAL_LANES)));
        let first = strip.begin.clone().plus(first);
        let first = Expression::Variable(cx.declare("top", INDEX, first));
        let partials = partials_of_strip(cx, strip, &first)?;
        results_of_rows(cx, strip.grouping, &partials, outputs, &first, strip.place)
    })
}

/// Reduces the rows from `first` on, from the elements of their strip. Returns the arrays of their
/// results.
fn partials_of_strip<'a>(
    cx: &mut Translator<'a>,
    strip: &Strip<'_, 'a>,
    first: &Expression,
) -> Result<Vec<Vec<Variable>>> {
    let grouping = strip.grouping;
    let partials = component_buffers(cx, "parts", grouping, FIXED_BLOCK)?;
    let size = Expression::index(i64::from(PARTIAL_LANES));
    each(cx, "k", size.clone(), strip.place, |cx, k| {
        let to = k.clone().times(size);
        in_row(cx, grouping, first, k, strip.place, |cx| {
            let from = cx.scalar(flat::Atom::Variable(strip.facts.from))?;
            let from = from.minus(strip.origin.clone());
            let from = cx.simplify(from, "from", INDEX);
            let count = cx.simple(grouping.length)?;
            for (buffer, partial) in strip
                .buffers
                .iter()
                .flatten()
                .zip(partials.iter().flatten())
            {
                lane_reduce(cx, grouping, (*partial, &to), (*buffer, &from), &count);
            }
            Ok(())
        })
    })?;
    combine_group(cx, grouping, &partials);
    Ok(partials)
}

fn lane_reduce(
    out: &mut Writer,
    grouping: &Grouping<'_>,
    (partial, to): (Variable, &Expression),
    (buffer, from): (Variable, &Expression),
    count: &Expression,
) {
    if let Type::Pointer(element) = out.program.variable(partial).ty {
        out.emit(Command::LaneReduce {
            to: Expression::offset(partial, to.clone()),
            from: Expression::offset(buffer, from.clone()),
            element,
            operation: grouping.operation,
            count: count.clone(),
        });
    }
}

/// Runs `write` after the statements that precede the reductions of a row.
fn in_row<'a, R>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    first: &Expression,
    k: Expression,
    place: &Place,
    write: impl FnOnce(&mut Translator<'a>) -> Result<R>,
) -> Result<R> {
    bind_group_row(cx, grouping, first, k, place)?;
    cx.scope(|cx| {
        cx.statements(grouping.nest.before)?;
        write(cx)
    })
}

/// Returns the variable that is added to `variable`, if statements use it only in sums with this one.
fn only_sums(statements: &[flat::Statement], variable: flat::Variable) -> Option<flat::Variable> {
    let mut found = None;
    for statement in statements.iter().filter(|s| statement_uses(s, variable)) {
        let flat::Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I64,
            arguments,
        } = &statement.expression
        else {
            return None;
        };
        let other = match arguments[..] {
            [flat::Atom::Variable(a), flat::Atom::Variable(b)] if a == variable => b,
            [flat::Atom::Variable(a), flat::Atom::Variable(b)] if b == variable => a,
            _ => return None,
        };
        if other == variable || found.is_some_and(|found| found != other) {
            return None;
        }
        found = Some(other);
    }
    found
}

fn statement_uses(statement: &flat::Statement, variable: flat::Variable) -> bool {
    let mut uses = false;
    used_variables(&statement.expression, &mut |v| uses |= v == variable);
    uses
}

/// Returns the conditions of all checks of a body that otherwise only computes scalars.
fn conditions(statements: &[flat::Statement]) -> Option<Vec<flat::Atom>> {
    let mut conditions = Vec::new();
    for statement in statements {
        match &statement.expression {
            flat::Expression::Check { condition, .. } => conditions.push(*condition),
            flat::Expression::Atom(_)
            | flat::Expression::Scalar { .. }
            | flat::Expression::Index { .. } => {}
            _ => return None,
        }
    }
    Some(conditions)
}

/// Returns the statements that compute conditions, if no check may guard any of them.
fn needed_for<'a>(
    statements: &'a [flat::Statement],
    conditions: &[flat::Atom],
) -> Option<Vec<&'a flat::Statement>> {
    let is_check = |s: &flat::Statement| matches!(s.expression, flat::Expression::Check { .. });
    let first_check = statements.iter().position(is_check)?;
    let mut chosen = BTreeSet::new();
    let mut left: Vec<flat::Variable> = Vec::new();
    for condition in conditions {
        if let flat::Atom::Variable(variable) = condition {
            left.push(*variable);
        }
    }
    while let Some(variable) = left.pop() {
        let defines = |s: &flat::Statement| s.pattern.contains(&variable);
        let Some(at) = statements.iter().position(defines) else {
            continue;
        };
        let statement = statements.get(at)?;
        if at > first_check && !is_total(&statement.expression) {
            return None;
        }
        if chosen.insert(at) {
            used_variables(&statement.expression, &mut |v| left.push(v));
        }
    }
    let chosen = chosen.into_iter();
    Some(chosen.filter_map(|at| statements.get(at)).collect())
}

/// True if an expression is defined for all operands.
fn is_total(expression: &flat::Expression) -> bool {
    use ScalarOperation as O;
    match expression {
        flat::Expression::Atom(_) => true,
        flat::Expression::Scalar {
            operation, operand, ..
        } => match operation {
            O::Add | O::Subtract | O::Multiply | O::Minimum | O::Maximum => true,
            O::Equal | O::NotEqual | O::Less | O::LessEqual | O::Greater => true,
            O::GreaterEqual | O::Not | O::BitAnd | O::BitOr | O::BitXor | O::BitNot => true,
            O::Convert(_) | O::Wrap(_) => !operand.is_float(),
            _ => false,
        },
        _ => false,
    }
}
