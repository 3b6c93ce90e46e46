//! The lanes of a reduction that are filled row by row: their start values, the update of a lane by an
//! element, and the combination of lanes. [`crate::lanes`] has the loops.

use crate::accumulators::{Blocks, Kind, Reduction, RowLanes, at, firsts, zero};
use crate::loops::each_index;
use crate::operators::{apply_to, combine};
use crate::terms::{Term, variables_as_terms};
use crate::translator::Translator;
use crate::tree::push_subtree;
use crate::writer::{Result, Writer};
use nova_core::ScalarValue;
use nova_diag::Place;
use nova_flat::operators::{Bound, Operator};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Level, Type};
use nova_machine::figures;

/// The minimum number of lanes of a loop that is marked for vector instructions.
const FEWEST_VECTOR: i64 = figures::ROWS.fewest_vector;

/// Sets the lanes of a reduction that fills them row by row to the identities.
pub(crate) fn start_rows(out: &mut Writer, reduction: &Reduction<'_>, place: &Place) -> Result<()> {
    let Kind::Rows(rows) = &reduction.kind else {
        return Ok(());
    };
    let count = Expression::index(i64::from(rows.width));
    each_index(out, &[count], place, |out, indices| {
        start_lane(out, reduction, indices.first().unwrap_or(&zero()));
        Ok(())
    })
}

/// Sets one lane to the identities.
pub(crate) fn start_lane(out: &mut Writer, reduction: &Reduction<'_>, lane: &Expression) {
    if let Kind::Rows(rows) = &reduction.kind {
        for (pointer, identity) in rows.lanes.iter().zip(&rows.identities) {
            out.set_element(*pointer, lane.clone(), Expression::Constant(*identity));
        }
    }
}

/// `lane[index] := lane[index] ⊕ right`.
pub(crate) fn combine_lane<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    index: &Expression,
    right: Vec<Expression>,
) -> Result<()> {
    match &reduction.kind {
        Kind::Rows(rows) => combine_rows(cx, reduction, rows, index, right),
        Kind::Fold(_)
        | Kind::Lanes { .. }
        | Kind::Chunks { .. }
        | Kind::Pairs(_)
        | Kind::Left(_) => Err(internal("lanes that are not filled row by row")),
    }
}

/// Combines the lanes of a reduction that fills them row by row. The result is that of block number
/// `block`.
pub(crate) fn end_rows<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    block: Expression,
    place: &Place,
) -> Result<()> {
    let Kind::Rows(rows) = &reduction.kind else {
        return Ok(());
    };
    join_lanes(cx, reduction, rows, place)?;
    match &rows.blocks {
        Blocks::Tree(tree) => push_subtree(cx, reduction, tree, firsts(&rows.lanes), block, place),
        Blocks::Whole(_) => combine_alone(cx, reduction, rows, firsts(&rows.lanes)),
    }
}

/// Combines the lanes of a reduction, by halves. The result is in the first lane.
pub(crate) fn join_lanes<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    rows: &RowLanes,
    place: &Place,
) -> Result<()> {
    let join = |cx: &mut Translator<'a>, lane: Expression, half: i64| {
        let other = lane.clone().plus(Expression::index(half));
        let right = rows.lanes.iter().map(|p| at(*p, other.clone())).collect();
        combine_rows(cx, reduction, rows, &lane, right)
    };
    let mut half = i64::from(rows.width) / 2;
    while half > 1 {
        let pairs = Expression::index(half);
        each_index(cx, &[pairs], place, |cx, indices| {
            join(cx, indices.first().cloned().unwrap_or(zero()), half)
        })?;
        if half >= FEWEST_VECTOR
            && let Some(Command::For { level, .. }) = cx.commands.last_mut()
        {
            *level = Level::Vector;
        }
        half /= 2;
    }
    join(cx, zero(), half)
}

/// Combines a value with the result: the only value of all lanes and blocks, or one of several in order.
pub(crate) fn combine_alone<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    rows: &RowLanes,
    values: Vec<Expression>,
) -> Result<()> {
    match &rows.blocks {
        // The start value lies below all subtrees.
        Blocks::Tree(tree) => combine(cx, reduction, tree.results(), &zero(), values),
        Blocks::Whole(accumulators) => {
            let mut arguments = variables_as_terms(accumulators);
            arguments.extend(values.into_iter().map(Term::new));
            apply_to(cx, reduction.lambda, arguments, accumulators)
        }
    }
}

/// `lane[index] := lane[index] ⊕ right`, for lanes that are filled row by row.
pub(crate) fn combine_rows<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    rows: &RowLanes,
    index: &Expression,
    right: Vec<Expression>,
) -> Result<()> {
    let Some(bounds) = &rows.bounds else {
        return combine(cx, reduction, &rows.lanes, index, right);
    };
    let components = rows.lanes.iter().zip(&reduction.scalars);
    for ((lane, scalar), (bound, right)) in components.zip(bounds.iter().zip(right)) {
        let new = cx.simplify(right, "x", Type::Scalar(*scalar));
        let old = at(*lane, index.clone());
        let value = Expression::Select {
            condition: Box::new(Expression::Scalar {
                operation: bound.replaces,
                operand: *scalar,
                arguments: vec![new.clone(), old.clone()],
            }),
            then: Box::new(new),
            otherwise: Box::new(old),
        };
        cx.set_element(*lane, index.clone(), value);
    }
    Ok(())
}

/// Returns the comparisons of operators that are all minima and maxima of floats, with start values that are
/// numbers. Then the lanes hold nothing but numbers.
pub(crate) fn bounds_of(operators: &[Operator], numbers: &[bool]) -> Option<Vec<Bound>> {
    let numbers = numbers.iter().all(|number| *number);
    numbers.then(|| operators.iter().map(|o| o.bound).collect())?
}

/// True if an expression is a constant other than nan.
pub(crate) fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(ScalarValue::F32(x)) => !x.is_nan(),
        Expression::Constant(ScalarValue::F64(x)) => !x.is_nan(),
        _others => false,
    }
}
